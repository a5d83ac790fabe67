// The bytes of a file without reading it: pages come into memory when they are accessed.
//
// Memory that is written to through a view becomes the process's own; the file never changes. The
// file must not be truncated while it is mapped: access to missing bytes ends the process, as in
// every program that maps files.
//
//   const auto file = MappedFile::Open("weights.bin");
//   NDArray w = NDArray::View({64, 3}, Float32, file->data() + 4096, file);
#ifndef TENON_SUPPORT_MAPPED_FILE_H_
#define TENON_SUPPORT_MAPPED_FILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tenon {

class MappedFile {
 public:
  // Throws NotFound when the file does not exist, cannot be read or is not a regular file.
  static std::shared_ptr<const MappedFile> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Starts at a page boundary; null when the file is empty.
  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::string_view bytes() const { return {data_, size_}; }
  // Returns the memory of `part`, a part of bytes(), to the system. The next access reads the file
  // again, so anything written there is lost.
  void Forget(std::string_view part) const;
  // An owner of a part of bytes(): it keeps the file mapped, and forgets the part when it dies.
  static std::shared_ptr<const void> OwnerOf(std::shared_ptr<const MappedFile> file,
                                             std::string_view part);

 private:
  MappedFile(char* data, std::size_t size) : data_(data), size_(size) {}
  char* data_;
  std::size_t size_;
};

}  // namespace tenon

#endif  // TENON_SUPPORT_MAPPED_FILE_H_
