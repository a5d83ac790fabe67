// Object files of kernels on disk, from one run of a program to the next.
//
// An entry is a file named by its key, with a checksum over the key and the bytes: whatever a
// crash, a full disk or a changed bit has left is noticed, removed and made again. Entries appear
// whole, by renaming, so any number of processes and threads may use one folder. The cache never
// fails: if the folder cannot be made, read or written, it is as if it were empty. Whoever may
// write to the folder may run code in the programs that read it. So it is made for its owner alone,
// and a folder or an entry that another user owns, or that others may write, is not used.
//
//   ObjectCache cache("/home/me/.cache/tenon", 256 << 20);
//   if (std::optional<std::string> object = cache.Load(key)) ...
//   cache.Store(key, object);
#ifndef TENON_JIT_OBJECT_OBJECT_CACHE_H_
#define TENON_JIT_OBJECT_OBJECT_CACHE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::jit {

class ObjectCache {
 public:
  // Without a folder (empty) it holds nothing.
  ObjectCache(std::filesystem::path folder, std::int64_t most_bytes);

  // Why nothing is kept, or "". A folder that does not exist yet is not a reason.
  std::string Refusal() const;

  // `key` has the form that ObjectKey gives. A load makes the entry the youngest.
  std::optional<std::string> Load(const std::string& key) const;
  void Store(const std::string& key, std::string_view object) const;
  // Removes the oldest entries until the rest takes at most `most_bytes`, and what interrupted
  // writers left. Only files that have the form of entries count.
  void Trim() const;
  // Makes room once all processes together have stored a sixteenth of `most_bytes` since this was
  // done last, as it looks at every entry. `stored` bytes are new.
  void TrimAfter(std::int64_t stored) const;

 private:
  void TrimTo(std::int64_t most_bytes) const;

  std::filesystem::path folder_;
  std::int64_t most_bytes_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_OBJECT_OBJECT_CACHE_H_
