#include "tenon/support/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

constexpr int kNoFile = -1;  // among values of errno

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::Open(const std::string& path) {
  const auto fail = [&](int error) {
    const char* why =
        error == kNoFile ? "it is a pipe or a device; a file is needed" : std::strerror(error);
    throw NotFound(StrCat("the file ", path, " cannot be opened: ", why));
  };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(errno);
  struct stat status {};
  void* data = nullptr;
  int error = fstat(file, &status) == 0 ? 0 : errno;
  if (error == 0 && !S_ISREG(status.st_mode)) error = S_ISDIR(status.st_mode) ? EISDIR : kNoFile;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (error == 0 && size > 0) {
    data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    if (data == MAP_FAILED) error = errno;
  }
  close(file);
  if (error != 0) fail(error);
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<char*>(data), size));
}

void MappedFile::Forget(std::string_view part) const {
  // Only whole pages: others are shared with what lies beside the part.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t begin =
      (static_cast<std::size_t>(part.data() - data_) + page - 1) / page * page;
  const std::size_t end =
      (static_cast<std::size_t>(part.data() - data_) + part.size()) / page * page;
  if (begin < end) madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

std::shared_ptr<const void> MappedFile::OwnerOf(std::shared_ptr<const MappedFile> file,
                                                std::string_view part) {
  const void* data = part.data();
  return std::shared_ptr<const void>(
      data, [file = std::move(file), part](const void*) { file->Forget(part); });
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace tenon
