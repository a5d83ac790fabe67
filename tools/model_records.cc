// The file of records that the commands read and write.
#include <filesystem>
#include <iostream>
#include <system_error>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/model.h"
#include "tenon/tune/best.h"
#include "tenon/tune/shipped.h"

namespace tenon::tools {
namespace {

constexpr char kRecordsFile[] = "records.sqlite";

tune::Records OpenToRead(const std::string& file) {
  return ValueOrThrow(tune::Records::Open(file, tune::Access::kRead));
}

strategies::MeasuredChoices ChoicesOf(const std::vector<tune::Records>& files,
                                      const CompileOptions& options) {
  return ValueOrThrow(tune::ChoicesFor(files, options.target, options.threads));
}

}  // namespace

std::string CompileArguments::RecordsToWrite() const {
  if (!records.empty()) return records;
  const std::filesystem::path folder = CacheFolder();
  if (folder.empty())
    throw InvalidArgument("there is no cache folder to keep records in; name a file by --records");
  std::error_code ignored;  // of which opening the file will tell
  std::filesystem::create_directories(folder, ignored);
  return folder / kRecordsFile;
}

strategies::MeasuredChoices CompileArguments::Measured(const CompileOptions& options) const {
  if (no_records) return nullptr;
  std::vector<tune::Records> files;
  if (!records.empty()) {
    files.push_back(OpenToRead(records));
    return ChoicesOf(files, options);
  }
  try {
    const std::filesystem::path shipped = tune::ShippedRecords(), folder = options.cache_dir;
    std::error_code failure;
    if (!shipped.empty()) files.push_back(OpenToRead(shipped));
    if (!folder.empty() && std::filesystem::exists(folder / kRecordsFile, failure))
      files.push_back(OpenToRead(folder / kRecordsFile));
    return files.empty() ? nullptr : ChoicesOf(files, options);
  } catch (const Error& error) {
    std::cerr << "tenon: records are left aside: " << error.message() << "\n";
    return nullptr;
  }
}

}  // namespace tenon::tools
