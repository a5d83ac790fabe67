#include "tenon/tools/model_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::tools {
namespace {

std::string ReadAll(std::istream& in) {
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

bool IsText(std::string_view bytes) {
  constexpr std::string_view kBlanks = "\t\n\v\f\r";
  constexpr std::size_t kLooked = 4096;
  constexpr unsigned char kDelete = 0x7F;
  return std::all_of(bytes.begin(), bytes.begin() + std::min(kLooked, bytes.size()), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= ' ' && byte != kDelete) || kBlanks.find(c) != std::string_view::npos;
  });
}

// A model may be loaded a second time, without its control flow.
const std::string& StandardInput() {
  static const auto& text = *new std::string(ReadAll(std::cin));
  return text;
}

struct Format {
  std::string_view start;
  const char* name;
};
constexpr Format kOthers[] = {{"PK\x03\x04", "a ZIP archive, as PyTorch saves"},
                              {"\x80\x02", "a Python pickle"},
                              {"\x89HDF", "an HDF5 file, as Keras saves"},
                              {"\x1F\x8B", "compressed by gzip"},
                              {"\x93NUMPY", "a NumPy array"}};

}  // namespace

std::string ReadWhole(const std::string& path) {
  if (path == "-") return StandardInput();
  std::error_code ignored;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  if (!file || is_folder)
    throw NotFound(StrCat("the file ", path,
                          " cannot be opened: ", std::strerror(is_folder ? EISDIR : errno)));
  return ReadAll(file);
}

// The first field is the version of the format: all known frameworks write it first.
bool LooksLikeOnnx(std::string_view bytes) { return bytes.starts_with('\x08'); }

void RequireText(std::string_view bytes, const std::string& path) {
  if (IsText(bytes)) return;
  for (const Format& format : kOthers) {
    if (bytes.starts_with(format.start))
      throw InvalidArgument(
          StrCat(path, " is neither an ONNX model nor Relay text; it is ", format.name));
  }
  throw InvalidArgument(StrCat(path, " is neither an ONNX model nor Relay text"));
}

}  // namespace tenon::tools
