#include <iostream>

#include "tenon/passes/pipeline.h"
#include "tenon/tools/commands.h"

namespace tenon::tools {

void AddPassesCommand(CLI::App* app) {
  app->add_subcommand("passes", "List the passes that compiling runs, in order, and all others")
      ->callback([] { std::cout << passes::PassesMarkdown() << std::flush; });
}

}  // namespace tenon::tools
