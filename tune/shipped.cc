#include "tenon/tune/shipped.h"

#include <system_error>

namespace tenon::tune {

namespace fs = std::filesystem;

fs::path ShippedFile(std::string_view name, std::string_view installed) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& file : {program / name, program / installed / name}) {
    if (fs::exists(file, ignored)) return file;
  }
  return {};
}

fs::path ShippedRecords() {
  constexpr std::string_view kFile = "shipped_records.sqlite";
  const fs::path file = ShippedFile(kFile, TENON_DATA_FOLDER);
  // A program of somebody else finds those of the installed library.
  return file.empty() ? ShippedFile(kFile, TENON_INSTALLED_DATA_FOLDER) : file;
}

}  // namespace tenon::tune
