#include <iostream>

#include "tenon/passes/pipeline.h"
#include "tenon/tools/commands.h"

namespace tenon::tools {

void AddPassesCommand(CLI::App* command) {
  command->callback([] { std::cout << passes::PassesMarkdown() << std::flush; });
}

}  // namespace tenon::tools
