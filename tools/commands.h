// The commands of the tenon program. Each adds itself to the command line. Its work runs after the
// line has been parsed, and throws an Error that tells the user what is wrong.
#ifndef TENON_TOOLS_COMMANDS_H_
#define TENON_TOOLS_COMMANDS_H_

#include "CLI/CLI.hpp"

namespace tenon::tools {

void AddRunCommand(CLI::App* app);
void AddCompileCommand(CLI::App* app);
void AddExploreCommand(CLI::App* app);
void AddBenchCommand(CLI::App* app);
void AddOptCommand(CLI::App* app);
void AddOpsCommand(CLI::App* app);
void AddPassesCommand(CLI::App* app);
void AddFuzzCommand(CLI::App* app);
void AddTuneCommand(CLI::App* app);
void AddQuantizeCommand(CLI::App* app);
void AddRecordsCommand(CLI::App* app);
void AddCompletionCommand(CLI::App* app);
void AddManualCommand(CLI::App* app);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_COMMANDS_H_
