// The format is described in Linux, tools/perf/Documentation/jit-interface.txt.
#include "tenon/jit/object/perf_map.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

std::string Hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return std::string(digits.data(), end);
}

bool IsWanted() {
  const char* value = std::getenv("TENON_PERF_MAP");
  return value != nullptr && std::string_view(value) != "" && std::string_view(value) != "0";
}

}  // namespace

void AppendToPerfMap(const std::vector<PerfMapEntry>& entries) {
  if (!IsWanted()) return;
  std::string lines;
  for (const PerfMapEntry& entry : entries)
    StrAppend(&lines, Hex(entry.address), " ", Hex(entry.size), " ", entry.name, "\n");
  // Others may write to /tmp, too. Their links are not followed, their pipes are not waited for,
  // and no addresses are written to their files.
  const int file = open(StrCat("/tmp/perf-", getpid(), ".map").c_str(),
                        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (file < 0) return;
  struct stat status {};
  const bool is_ours = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_uid == geteuid() && status.st_nlink == 1;
  // One call, so that the lines of threads do not mix. Half a line harms only the profile.
  if (is_ours) {
    [[maybe_unused]] const ssize_t written = write(file, lines.data(), lines.size());
  }
  close(file);
}

}  // namespace tenon::jit
