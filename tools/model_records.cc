// The file of records that the commands read and write.
#include <filesystem>
#include <iostream>
#include <system_error>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/model.h"
#include "tenon/tune/best.h"

namespace tenon::tools {
namespace {

constexpr char kRecordsFile[] = "records.sqlite";

strategies::MeasuredChoices ChoicesOf(const std::string& file, const CompileOptions& options) {
  const tune::Records records = ValueOrThrow(tune::Records::Open(file, tune::Access::kRead));
  return ValueOrThrow(tune::ChoicesFor(records, options.target, options.threads));
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
  if (!records.empty()) return ChoicesOf(records, options);
  const std::filesystem::path folder = options.cache_dir;
  std::error_code failure;
  if (folder.empty() || !std::filesystem::exists(folder / kRecordsFile, failure)) return nullptr;
  try {
    return ChoicesOf(folder / kRecordsFile, options);
  } catch (const Error& error) {
    std::cerr << "tenon: records are left aside: " << error.message() << "\n";
    return nullptr;
  }
}

}  // namespace tenon::tools
