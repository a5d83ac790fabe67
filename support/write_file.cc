#include "tenon/support/write_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kNewFile = 0666;  // less the user's mask
constexpr mode_t kPermissions = 07777;

Error CannotBeWritten(const std::string& path, int error) {
  return NotFound(StrCat("the file ", path, " cannot be written: ", std::strerror(error)));
}

// 0, or errno.
int WriteAll(int file, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts) {
    while (!part.empty()) {
      const ssize_t written = write(file, part.data(), part.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      part.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return 0;
}

int WriteAndClose(int file, std::initializer_list<std::string_view> parts) {
  const int failure = WriteAll(file, parts);
  const int closed = close(file) == 0 ? 0 : errno;
  return failure != 0 ? failure : closed;
}

std::string FolderOf(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

void WriteFile(const std::string& path, std::initializer_list<std::string_view> parts) {
  struct stat there {};
  const bool is_there = stat(path.c_str(), &there) == 0;
  if (is_there && S_ISDIR(there.st_mode)) throw CannotBeWritten(path, EISDIR);
  if (is_there && !S_ISREG(there.st_mode)) {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const int failure = file < 0 ? errno : WriteAndClose(file, parts);
    if (failure != 0) throw CannotBeWritten(path, failure);
    return;
  }
  std::error_code unresolved;
  const fs::path resolved = is_there ? fs::canonical(path, unresolved) : fs::path(path);
  const std::string target = unresolved ? path : resolved.string();
  static std::atomic<unsigned> next{0};
  std::string unfinished;
  int file = -1;
  // A file of that name belongs to somebody else; it may be a link that leads anywhere.
  do {
    unfinished = StrCat(target, ".", getpid(), ".", next++, ".tmp");
    file = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kNewFile);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) throw CannotBeWritten(path, errno);
  if (is_there) (void)fchmod(file, there.st_mode & kPermissions);
  int failure = WriteAndClose(file, parts);
  if (failure == 0 && rename(unfinished.c_str(), target.c_str()) != 0) failure = errno;
  if (failure == 0) return;
  unlink(unfinished.c_str());
  throw CannotBeWritten(path, failure);
}

void RequireWritable(const std::string& path) {
  struct stat there {};
  const bool is_there = stat(path.c_str(), &there) == 0;
  if (is_there && S_ISDIR(there.st_mode)) throw CannotBeWritten(path, EISDIR);
  const bool is_special = is_there && !S_ISREG(there.st_mode);
  if (access(is_special ? path.c_str() : FolderOf(path).c_str(), W_OK) != 0)
    throw CannotBeWritten(path, errno);
}

}  // namespace tenon
