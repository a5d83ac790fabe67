// A file's bytes without reading it: pages come into memory when they are looked at.
//
// Memory that is written to through a view becomes the process's own; the file never changes. The
// file must not be cut short while it is mapped: a look at bytes that are gone ends the process, as
// for every program that maps files.
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
  // Throws NotFound when there is no such file, when it cannot be read and for anything but a
  // regular file.
  static std::shared_ptr<const MappedFile> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Starts at a page; null when the file is empty.
  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::string_view bytes() const { return {data_, size_}; }
  // Gives the memory of `part`, a part of bytes(), back to the system. The next look reads the file
  // again: what was written there is lost.
  void Forget(std::string_view part) const;

 private:
  MappedFile(char* data, std::size_t size) : data_(data), size_(size) {}
  char* data_;
  std::size_t size_;
};

}  // namespace tenon

#endif  // TENON_SUPPORT_MAPPED_FILE_H_
