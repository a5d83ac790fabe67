// Runs another program, such as the system's C compiler, without a shell.
#ifndef TENON_COMPILER_EXPORT_RUN_PROGRAM_H_
#define TENON_COMPILER_EXPORT_RUN_PROGRAM_H_

#include <string>
#include <vector>

namespace tenon::compiler {

// Runs `command` (program, arguments) and waits for it. What it prints goes to the file `log`.
// Throws NotFound if the program cannot be started, and FailedPrecondition with what it printed if
// it fails.
void RunProgram(const std::vector<std::string>& command, const std::string& log);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_RUN_PROGRAM_H_
