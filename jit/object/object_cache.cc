// An entry consists of kMagic, the key, the BLAKE3 hash of key and object, and the object.
//
// How much was stored since the last trim is the size of a file, which has one byte for each
// kCounted bytes: processes append to it without waiting for each other.
#include "tenon/jit/object/object_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "llvm/Support/BLAKE3.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "TenonObject1\n";
constexpr std::string_view kEnding = ".tenon-object";
constexpr std::string_view kUnfinished = ".tenon-unfinished-";
constexpr std::string_view kStoredCount = ".tenon-stored";
constexpr std::int64_t kCounted = 4096;
constexpr std::int64_t kParts = 16;  // of the folder; one is left empty for what is stored next
constexpr std::chrono::hours kMaxWrite{1};

std::string Checksum(const std::string& key, std::string_view object) {
  llvm::BLAKE3 hasher;
  hasher.update(llvm::StringRef(key));
  hasher.update(llvm::StringRef(object.data(), object.size()));
  const auto hash = hasher.final();
  return std::string(hash.begin(), hash.end());
}

std::string Header(const std::string& key, std::string_view object) {
  return StrCat(kMagic, key, Checksum(key, object));
}

fs::path EntryPath(const fs::path& folder, const std::string& key) {
  return folder / StrCat(key, kEnding);
}

// Whether nobody else can have put the file there, or changed it.
bool IsOwn(const struct stat& status) {
  return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The bytes of a regular file of this user. Links are not followed, and pipes are not waited for.
std::optional<std::string> ReadOwn(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::optional<std::string> bytes;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && IsOwn(status)) {
    bytes.emplace(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes->size()) {
      const ssize_t got = read(file, bytes->data() + done, bytes->size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    bytes->resize(done);
  }
  close(file);
  return bytes;
}

bool WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

ObjectCache::ObjectCache(fs::path folder, std::int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

std::string ObjectCache::Refusal() const {
  if (folder_.empty()) return "no folder is given";
  struct stat status {};
  if (stat(folder_.c_str(), &status) != 0) return errno == ENOENT ? "" : std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return "it is no folder";
  if (!IsOwn(status)) return "it must belong to this user, and nobody else may write to it";
  return "";
}

std::optional<std::string> ObjectCache::Load(const std::string& key) const {
  if (!Refusal().empty()) return std::nullopt;
  const fs::path path = EntryPath(folder_, key);
  const std::optional<std::string> bytes = ReadOwn(path);
  if (!bytes) return std::nullopt;
  const std::size_t header = kMagic.size() + key.size() + llvm::BLAKE3::hash({}).size();
  if (bytes->size() > header &&
      bytes->compare(0, header, Header(key, std::string_view(*bytes).substr(header))) == 0) {
    utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
    return bytes->substr(header);
  }
  std::error_code ignored;
  fs::remove(path, ignored);
  return std::nullopt;
}

void ObjectCache::Store(const std::string& key, std::string_view object) const {
  if (!Refusal().empty()) return;
  std::error_code error;
  if (!fs::is_directory(folder_, error)) {
    if (folder_.has_parent_path()) fs::create_directories(folder_.parent_path(), error);
    mkdir(folder_.c_str(), 0700);
  }
  std::string unfinished = folder_ / StrCat(kUnfinished, "XXXXXX");
  const int file = mkstemp(unfinished.data());
  if (file < 0) return;
  const bool written = WriteAll(file, Header(key, object)) && WriteAll(file, object);
  const bool closed = close(file) == 0;
  if (!written || !closed || rename(unfinished.c_str(), EntryPath(folder_, key).c_str()) != 0)
    unlink(unfinished.c_str());
}

void ObjectCache::TrimAfter(std::int64_t stored) const {
  if (!Refusal().empty()) return;
  const fs::path path = folder_ / kStoredCount;
  const auto bytes = static_cast<std::size_t>(CeilDiv(stored, kCounted));
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  struct stat status {};
  const bool is_counted = file >= 0 && fstat(file, &status) == 0;
  const bool is_due = !is_counted || (status.st_size + static_cast<std::int64_t>(bytes)) >=
                                         most_bytes_ / kParts / kCounted;
  if (!is_due) (void)WriteAll(file, std::string(bytes, '.'));
  if (file >= 0) close(file);
  if (!is_due) return;
  TrimTo(most_bytes_ - most_bytes_ / kParts);
  const int fresh = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fresh >= 0) close(fresh);
}

void ObjectCache::Trim() const { TrimTo(most_bytes_); }

void ObjectCache::TrimTo(std::int64_t most_bytes) const {
  if (folder_.empty()) return;
  struct Entry {
    fs::file_time_type used;
    std::int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  std::error_code error;
  // Other processes add and remove files meanwhile. A file that is gone does not count.
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const std::string name = at->path().filename();
    const fs::file_time_type used = at->last_write_time(gone);
    const auto bytes = gone ? 0 : static_cast<std::int64_t>(at->file_size(gone));
    if (gone) continue;
    if (name.starts_with(kUnfinished) && fs::file_time_type::clock::now() - used > kMaxWrite) {
      fs::remove(at->path(), gone);
    } else if (name.ends_with(kEnding)) {
      entries.push_back({used, bytes, at->path()});
      total += bytes;
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= most_bytes) return;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

}  // namespace tenon::jit
