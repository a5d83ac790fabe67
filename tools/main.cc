// The tenon program.
#include <cstdio>
#include <exception>
#include <new>

#include "tenon/tools/commands.h"

int main(int argc, char** argv) {
  CLI::App app("Tenon turns graphs of tensor operators into fused machine code.", "tenon");
  app.require_subcommand(1);
  app.footer("tenon COMMAND --help says more about each command.");
  tenon::tools::AddRunCommand(&app);
  tenon::tools::AddCompileCommand(&app);
  tenon::tools::AddExploreCommand(&app);
  tenon::tools::AddBenchCommand(&app);
  tenon::tools::AddOptCommand(&app);
  tenon::tools::AddOpsCommand(&app);
  tenon::tools::AddFuzzCommand(&app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help is no failure; every failure has exit code 1.
    return app.exit(error) == 0 ? 0 : 1;
  } catch (const std::bad_alloc&) {
    std::fputs("tenon: there is not enough memory for the model's values\n", stderr);
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon: %s\n", error.what());
    return 1;
  }
  return 0;
}
