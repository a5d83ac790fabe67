#include "tenon/onnx/external_data.h"

#include <algorithm>
#include <filesystem>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

std::optional<std::string> Entry(const onnx::TensorProto& tensor, const char* key) {
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == key) return entry.value();
  }
  return std::nullopt;
}

std::optional<std::size_t> NumberEntry(const onnx::TensorProto& tensor, const char* key,
                                       const std::string& what) {
  const std::optional<std::string> text = Entry(tensor, key);
  if (!text) return std::nullopt;
  const auto number = ParseNumber<std::size_t>(*text);
  if (!number)
    throw InvalidArgument(StrCat(what, ": the ", key, " ", *text, " of its data is not a number"));
  return number;
}

// The rule checks only the text of the location. Symbolic links, which only the owner of the folder
// can make, may lead elsewhere.
std::string LocationOf(const onnx::TensorProto& tensor, const std::string& what) {
  const std::string location = Entry(tensor, "location").value_or("");
  if (location.empty())
    throw InvalidArgument(StrCat(what, " keeps its data in another file without a location"));
  const std::filesystem::path path(location);
  if (path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end())
    throw InvalidArgument(StrCat(what, " keeps its data in ", location,
                                 "; only files in the model's folder are read"));
  return location;
}

}  // namespace

RawData ExternalData::Of(const onnx::TensorProto& tensor, const std::string& what) {
  if (!folder_)
    throw Unimplemented(
        StrCat(what, " keeps its data in another file; the model must be loaded from a file, too"));
  const std::string location = LocationOf(tensor, what);
  std::shared_ptr<const MappedFile>& file = files_[location];
  if (file == nullptr) {
    try {
      file = MappedFile::Open(std::filesystem::path(*folder_) / location);
    } catch (const Error& error) {
      throw Error(error.code(), StrCat(what, ": ", error.message()));
    }
  }
  const std::size_t offset = NumberEntry(tensor, "offset", what).value_or(0);
  const std::size_t rest = file->size() - std::min(offset, file->size());
  // Without a length there are as many bytes as the shape takes; others may follow.
  const std::optional<std::size_t> given = NumberEntry(tensor, "length", what);
  const std::size_t length = given ? *given : RawBytesOf(tensor, what);
  if (offset > file->size() || length > rest)
    throw InvalidArgument(StrCat(what, " keeps its data in ", length, " bytes of ", location,
                                 " from ", offset, " on; the file has ", file->size()));
  const std::string_view bytes = file->bytes().substr(offset, length);
  return {.bytes = bytes,
          .owner = MappedFile::OwnerOf(file, bytes),
          .forget = [file](std::string_view part) { file->Forget(part); }};
}

}  // namespace tenon::onnx_import
