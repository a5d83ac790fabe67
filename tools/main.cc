// The tenon program.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/commands.h"

namespace tenon::tools {
namespace {

void AddCommands(CLI::App* app) {
  app->require_subcommand(1);
  app->set_version_flag("--version", StrCat("tenon ", TENON_VERSION));
  app->footer("tenon COMMAND --help says more about each command.");
  AddRunCommand(app);
  AddCompileCommand(app);
  AddExploreCommand(app);
  AddBenchCommand(app);
  AddOptCommand(app);
  AddOpsCommand(app);
  AddPassesCommand(app);
  AddFuzzCommand(app);
  AddTuneCommand(app);
  AddQuantizeCommand(app);
  AddRecordsCommand(app);
  AddCompletionCommand(app);
  AddManualCommand(app);
}

void CheckCommand(const CLI::App& app, const std::string& command) {
  std::vector<std::string> names;
  for (const CLI::App* known : app.get_subcommands(nullptr)) names.push_back(known->get_name());
  for (const std::string& name : names) {
    if (name == command) return;
  }
  throw NotFound(StrCat("there is no command ", command, "; commands are ", StrJoin(names, ", "),
                        DidYouMean("; ", command, names)));
}

// Text in buffers may fail to be written, for example to a full disk.
void FinishOutput() {
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout)
    throw NotFound(StrCat("standard output cannot be written whole",
                          errno != 0 ? StrCat(": ", std::strerror(errno)) : std::string()));
}

void Run(int argc, char** argv) {
  CLI::App app("Tenon turns graphs of tensor operators into fused machine code.", "tenon");
  AddCommands(&app);
  if (argc > 1 && argv[1][0] != '-') CheckCommand(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help is not a failure. Every failure has exit code 1.
    if (app.exit(error) != 0) std::exit(1);
  }
  FinishOutput();
}

}  // namespace
}  // namespace tenon::tools

int main(int argc, char** argv) {
  try {
    tenon::tools::Run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("tenon: there is not enough memory for the model's values\n", stderr);
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon: %s\n", error.what());
    return 1;
  } catch (...) {
    std::fputs("tenon: a plug-in threw something that is not a std::exception\n", stderr);
    return 1;
  }
  return 0;
}
