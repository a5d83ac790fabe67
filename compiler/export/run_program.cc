#include "tenon/compiler/export/run_program.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {

void RunProgram(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& text : command) arguments.push_back(const_cast<char*>(text.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw NotFound(
        StrCat("the program ", command[0], " cannot be started: ", std::strerror(failure)));
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  // A host that ignores SIGCHLD never learns how its children end.
  if (ended < 0)
    throw FailedPrecondition(StrCat("how ", command[0], " ended is not known: ",
                                    std::strerror(errno), "; SIGCHLD must not be ignored"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::ifstream said(log, std::ios::binary);
  throw FailedPrecondition(
      StrCat(StrJoin(command, " "), " failed:\n",
             std::string(std::istreambuf_iterator<char>(said), std::istreambuf_iterator<char>())));
}

}  // namespace tenon::compiler
