// tenon tune with several processes, as a child of the test.
#ifndef TENON_TESTS_TUNE_CREW_COMMAND_TESTING_H_
#define TENON_TESTS_TUNE_CREW_COMMAND_TESTING_H_

#include <chrono>
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/tests/testing/cli_testing.h"
#include "tenon/tune/records.h"

namespace tenon::tools {

// The product of matrices whose schedule leaves many choices, and the operator with traps.
inline std::string MatmulArguments() {
  return StrCat("tune --op my.matmul --plugin ", TENON_MATMUL_PLUGIN,
                " --threads 1 --shape a=64,96 --shape b=96,80 --share-cores ");
}
inline std::string TrapArguments() {
  return StrCat("tune --op my.trap --plugin ", TENON_TRAP_PLUGIN,
                " --threads 1 --shape data=64,128 --share-cores ");
}

class CrewCommandTest : public CliTest {
 protected:
  // What identifies a record.
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::vector<tune::Record> RecordsOf(const std::string& name) const {
    const auto records = tune::Records::Open(Path(name), tune::Access::kRead);
    return records.ok() ? ValueOrThrow(records->Find()) : std::vector<tune::Record>();
  }
  std::set<Key> KeysOf(const std::string& name) const {
    std::set<Key> keys;
    for (const tune::Record& record : RecordsOf(name))
      keys.emplace(record.choice, record.date, tune::ToString(record.scope), record.run);
    return keys;
  }
  // Of the processes that measured.
  std::set<std::string> RunsOf(const std::string& name) const {
    std::set<std::string> runs;
    for (const tune::Record& record : RecordsOf(name)) runs.insert(record.run);
    return runs;
  }

  // Starts a command of the shell, in which % stands for the test's folder.
  pid_t Start(std::string command) const {
    for (std::size_t at = 0; (at = command.find('%', at)) != std::string::npos;)
      command.replace(at, 1, folder_.string());
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", StrCat("exec ", command).c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    return child;
  }
  static int CodeOf(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // Waits until it holds, two minutes at most.
  template <typename Condition>
  static bool Await(const Condition& condition) {
    for (int i = 0; i < 2400; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  // Children of a process, those of children after them.
  static std::vector<pid_t> DescendantsOf(pid_t process) {
    std::vector<pid_t> all = {process};
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::ifstream file(StrCat("/proc/", all[i], "/task/", all[i], "/children"));
      for (pid_t child = 0; file >> child;) all.push_back(child);
    }
    all.erase(all.begin());
    return all;
  }
  static std::string CommandOf(pid_t process) {
    std::string line = Contents(StrCat("/proc/", process, "/cmdline"));
    for (char& c : line) c = c == '\0' ? ' ' : c;
    return line;
  }
  // Those of its descendants that run tenon tune: with or without --serve.
  static std::vector<pid_t> TunersOf(pid_t process, bool serve) {
    std::vector<pid_t> tuners;
    for (const pid_t one : DescendantsOf(process)) {
      const std::string command = CommandOf(one);
      const bool serves = command.find("--serve") != std::string::npos;
      if (command.find("tune --op") != std::string::npos && serves == serve &&
          command.find("mpirun") == std::string::npos)
        tuners.push_back(one);
    }
    return tuners;
  }
};

}  // namespace tenon::tools

#endif  // TENON_TESTS_TUNE_CREW_COMMAND_TESTING_H_
