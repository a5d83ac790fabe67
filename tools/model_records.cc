#include "tenon/tools/model_records.h"

#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/best.h"
#include "tenon/tune/shipped.h"

namespace tenon::tools {
namespace {

constexpr char kRecordsFile[] = "records.sqlite";

tune::Records OpenToRead(const std::string& file) {
  return ValueOrThrow(tune::Records::Open(file, tune::Access::kRead));
}

// What `use` makes of the files that the arguments name, or nothing where there are none. Where
// they do not name a file, a damaged one is left aside with a warning.
template <typename Use>
auto OfFiles(const CompileArguments& arguments, const std::string& cache_dir, const Use& use)
    -> decltype(use(std::vector<tune::Records>())) {
  if (arguments.no_records) return {};
  std::vector<tune::Records> files;
  if (!arguments.records.empty()) {
    files.push_back(OpenToRead(arguments.records));
    return use(files);
  }
  try {
    const std::filesystem::path shipped = tune::ShippedRecords(), folder = cache_dir;
    std::error_code failure;
    if (!shipped.empty()) files.push_back(OpenToRead(shipped));
    if (!folder.empty() && std::filesystem::exists(folder / kRecordsFile, failure))
      files.push_back(OpenToRead(folder / kRecordsFile));
    if (files.empty()) return {};
    return use(files);
  } catch (const Error& error) {
    std::cerr << "tenon: records are left aside: " << error.message() << "\n";
    return {};
  }
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
  strategies::MeasuredChoices measured =
      OfFiles(*this, options.cache_dir, [&](const std::vector<tune::Records>& files) {
        return ValueOrThrow(tune::ChoicesFor(files, options.target, options.threads));
      });
  if (measured == nullptr || !records.empty()) return measured;
  return [measured = std::move(measured)](
             const std::string& content) -> std::optional<strategies::MeasuredChoice> {
    try {
      return measured(content);
    } catch (const Error& error) {
      std::cerr << StrCat("tenon: a record is left aside: ", error.message(), "\n");
      return std::nullopt;
    }
  };
}

std::vector<tune::Record> RecordsRead(const CompileArguments& arguments,
                                      const CompileOptions& options) {
  return OfFiles(arguments, options.cache_dir, [&](const std::vector<tune::Records>& files) {
    return ValueOrThrow(tune::RecordsFor(files, options.target, options.threads));
  });
}

}  // namespace tenon::tools
