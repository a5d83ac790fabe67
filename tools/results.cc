#include "tenon/tools/results.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <system_error>

#include "tenon/support/bfloat16.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"
#include "tenon/tools/model.h"

namespace tenon::tools {

std::vector<ir::Type> ResultTypes(const ir::Module& typed) {
  std::vector<ir::Type> types;
  const std::function<void(const ir::Type&)> add = [&](const ir::Type& type) {
    if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
      for (const ir::Type& field : tuple->fields) add(field);
    } else {
      types.push_back(type);
    }
  };
  add(typed.Main().body.checked_type());
  return types;
}

std::string ElementText(const NDArray& array, std::int64_t place) {
  const auto as = [&]<typename T>(T) { return static_cast<const T*>(array.raw())[place]; };
  const int bits = array.dtype().bits();
  switch (array.dtype().code()) {
    case TypeCode::kBool:
      return as(std::uint8_t()) != 0 ? "true" : "false";
    case TypeCode::kInt:
      return StrCat(bits == 8    ? as(std::int8_t())
                    : bits == 16 ? as(std::int16_t())
                    : bits == 32 ? as(std::int32_t())
                                 : as(std::int64_t()));
    case TypeCode::kUInt:
      return StrCat(bits == 8    ? as(std::uint8_t())
                    : bits == 16 ? as(std::uint16_t())
                    : bits == 32 ? as(std::uint32_t())
                                 : as(std::uint64_t()));
    case TypeCode::kFloat:
      if (bits == 64) return FormatShortest(as(double()));
      return FormatShortest(bits == 32 ? as(float()) : static_cast<float>(as(_Float16())));
    case TypeCode::kBFloat:
      return FormatShortest(FromBFloat16(as(std::uint16_t())));
    case TypeCode::kHandle:
      break;  // of which there is no number to show
  }
  return "handle";
}

ResultNames::ResultNames(std::vector<std::string> names, std::size_t count)
    : names_(std::move(names)), count_(count) {
  // A text may give any number of names.
  if (names_.size() != count_) names_.clear();
}

std::size_t ResultNames::IndexOf(const std::string& name) const {
  const auto own = std::find(names_.begin(), names_.end(), name);
  if (own != names_.end()) return static_cast<std::size_t>(own - names_.begin());
  if (name == "y" && count_ == 1) return 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (name == StrCat("y", i)) return i;
  }
  const std::string numbered = count_ == 1 ? "y" : StrCat("y0 to y", count_ - 1);
  throw InvalidArgument(
      StrCat("--output: there is no result ", name, "; results are ",
             names_.empty() ? numbered : StrCat(StrJoin(names_, ", "), " (or ", numbered, ")"),
             DidYouMean("; ", name, names_)));
}

std::vector<std::pair<std::string, std::string>> Assignments(const std::vector<std::string>& texts,
                                                             const std::string& option) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::set<std::string> names;
  for (const std::string& text : texts) {
    pairs.push_back(SplitAssignment(text, option));
    if (!names.insert(pairs.back().first).second)
      throw InvalidArgument(StrCat(option, ": ", pairs.back().first, " is given twice"));
  }
  return pairs;
}

void RequireDistinct(const std::vector<WrittenFile>& files) {
  namespace fs = std::filesystem;
  std::map<fs::path, std::string> written;
  for (const WrittenFile& file : files) {
    std::error_code ignored;
    if (fs::exists(file.path, ignored) && !fs::is_regular_file(file.path, ignored)) continue;
    const fs::path place = fs::weakly_canonical(fs::absolute(file.path), ignored);
    const auto [found, is_new] = written.emplace(place, file.by);
    if (!is_new)
      throw InvalidArgument(
          StrCat(found->second, " and ", file.by, " name one file, ", file.path, "; name two"));
  }
}

std::vector<std::pair<std::size_t, std::string>> OutputFiles(const std::vector<std::string>& texts,
                                                             const ResultNames& names) {
  std::vector<std::pair<std::size_t, std::string>> files;
  std::set<std::size_t> asked;
  for (const auto& [name, path] : Assignments(texts, "--output")) {
    if (path == "-")
      throw InvalidArgument(
          StrCat("--output ", name,
                 "=-: standard output has the text; name a file, ./- for one of that name"));
    RequireWritable(path);
    files.emplace_back(names.IndexOf(name), path);
    if (!asked.insert(files.back().first).second)
      throw InvalidArgument(StrCat("--output: the result ", name, " is given twice"));
  }
  return files;
}

}  // namespace tenon::tools
