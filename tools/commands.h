// The commands of the tenon program. Each adds its options. Its work runs after the line has been
// parsed, and throws an Error that tells the user what is wrong.
#ifndef TENON_TOOLS_COMMANDS_H_
#define TENON_TOOLS_COMMANDS_H_

#include "CLI/CLI.hpp"

namespace tenon::tools {

void AddRunCommand(CLI::App* command);
void AddCompileCommand(CLI::App* command);
void AddExploreCommand(CLI::App* command);
void AddBenchCommand(CLI::App* command);
void AddOptCommand(CLI::App* command);
void AddOpsCommand(CLI::App* command);
void AddPassesCommand(CLI::App* command);
void AddFuzzCommand(CLI::App* command);
void AddTuneCommand(CLI::App* command);
void AddQuantizeCommand(CLI::App* command);
void AddRecordsCommand(CLI::App* command);
void AddCompletionCommand(CLI::App* command);
void AddManualCommand(CLI::App* command);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_COMMANDS_H_
