// A folder of its own in the system's temporary folder; it goes with all that is in it.
//
//   TemporaryFolder folder;  // throws FailedPrecondition where none can be made
//   std::ofstream file(folder.path() / "model.onnx");
#ifndef TENON_VERIFY_CHECK_TEMPORARY_FOLDER_H_
#define TENON_VERIFY_CHECK_TEMPORARY_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "tenon/support/error.h"

namespace tenon::verify {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "tenon_fuzz_XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw FailedPrecondition("fuzz: no folder can be made");
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_TEMPORARY_FOLDER_H_
