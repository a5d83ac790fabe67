// Files that come with Tenon: beside the program, as in a build folder, or where it is installed.
//
//   const std::filesystem::path file = ShippedRecords();
//   if (!file.empty()) records = Records::Open(file, Access::kRead);
#ifndef TENON_TUNE_SHIPPED_H_
#define TENON_TUNE_SHIPPED_H_

#include <filesystem>
#include <string_view>

namespace tenon::tune {

// `name` in the program's folder, or in `installed`, which is relative to it or absolute. Empty
// where there is none.
std::filesystem::path ShippedFile(std::string_view name, std::string_view installed);

// The records of the CPUs that Tenon was measured on (docs/tuning.md). Empty where they were not
// built.
std::filesystem::path ShippedRecords();

}  // namespace tenon::tune

#endif  // TENON_TUNE_SHIPPED_H_
