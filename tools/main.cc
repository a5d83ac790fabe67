// The tenon program.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/commands.h"

namespace tenon::tools {
namespace {

struct Command {
  const char* name;
  const char* summary;
  void (*add_options)(CLI::App* command);
  bool describes_all = false;  // what it prints has the options of all commands
};
constexpr Command kCommands[] = {
    {"run", "Compile a model and run it on files, or run a saved executable", AddRunCommand},
    {"compile", "Show a model at a stage, or export it as C, machine code or ONNX",
     AddCompileCommand},
    {"explore", "Write a page of a model's kernels: times, reasons and code at every stage",
     AddExploreCommand},
    {"bench", "Measure how long a model takes, on random inputs", AddBenchCommand},
    {"opt", "Run passes over a module and print the result", AddOptCommand},
    {"ops", "List operators, or show one in full", AddOpsCommand},
    {"passes", "List the passes that compiling runs, in order, and others; opt --help lists all",
     AddPassesCommand},
    {"fuzz",
     "Check random schedules, loops, passes on random graphs, or random ONNX models, against the "
     "interpreter",
     AddFuzzCommand},
    {"tune", "Find faster kernels for a model by measuring, and keep them as records",
     AddTuneCommand},
    {"quantize", "Make a model of floats one that computes on bytes, and measure what it loses",
     AddQuantizeCommand},
    {"records", "Show, merge and prune what tune has measured", AddRecordsCommand},
    {"completion", "Print a shell's completion script", AddCompletionCommand, true},
    {"manual", "Print the manual page, for man -l -", AddManualCommand, true},
};

// Adds all commands. Only those that `first`, the first argument, may need get their options. To
// make all takes 3 ms, a sixth of the program's start: the list of passes asks for all operators,
// and the defaults of an export ask what the CPU has.
void AddCommands(const std::string& first, CLI::App* app) {
  app->require_subcommand(1);
  app->set_version_flag("--version", StrCat("tenon ", TENON_VERSION));
  app->footer("tenon COMMAND --help says more about each command.");
  const auto named = std::ranges::find(kCommands, first, &Command::name);
  const bool is_of_all = named != std::end(kCommands) && named->describes_all;
  for (const Command& command : kCommands) {
    CLI::App* added = app->add_subcommand(command.name, command.summary);
    if (is_of_all || first == command.name) command.add_options(added);
  }
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
  AddCommands(argc > 1 ? argv[1] : "", &app);
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
