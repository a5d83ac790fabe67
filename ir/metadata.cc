#include "tenon/ir/metadata.h"

#include <cstring>

#include "absl/strings/escaping.h"
#include "nlohmann/json.hpp"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

constexpr const char* kConstants = "relay.Constant";

NDArray ReadConstant(const nlohmann::json& entry, std::size_t index) {
  const std::string what = StrCat("constant ", index, " of the metadata section");
  const auto dtype = DataType::Parse(entry.at("dtype").get<std::string>());
  if (!dtype || dtype->is_void() || dtype->is_vector())
    throw InvalidArgument(StrCat(what, " has the unknown type ", entry.at("dtype").dump()));
  const auto shape = entry.at("shape").get<Shape>();
  std::string bytes;
  const std::string& text = entry.at("data").get_ref<const std::string&>();
  if (!absl::Base64Unescape(absl::string_view(text.data(), text.size()), &bytes))
    throw DataLoss(StrCat("the data of ", what, " is no base64"));
  const std::size_t wanted = static_cast<std::size_t>(NumElements(shape)) * dtype->bytes();
  if (bytes.size() != wanted)
    throw DataLoss(StrCat(what, " has ", bytes.size(), " bytes; its type ", dtype->ToString(), " ",
                          ShapeToString(shape), " needs ", wanted));
  NDArray array = NDArray::Empty(shape, *dtype);
  if (!bytes.empty()) std::memcpy(array.raw(), bytes.data(), bytes.size());
  return array;
}

}  // namespace

std::string WriteMetadata(const std::vector<NDArray>& constants) {
  nlohmann::json list = nlohmann::json::array();
  for (const NDArray& constant : constants) {
    std::string data;
    absl::Base64Escape(
        absl::string_view(static_cast<const char*>(constant.raw()), constant.bytes()), &data);
    list.push_back(
        {{"dtype", constant.dtype().ToString()}, {"shape", constant.shape()}, {"data", data}});
  }
  return nlohmann::json{{kConstants, list}}.dump();
}

std::vector<NDArray> ReadMetadata(std::string_view text) {
  std::vector<NDArray> constants;
  try {
    const nlohmann::json root = nlohmann::json::parse(text);
    for (const nlohmann::json& entry : root.at(kConstants))
      constants.push_back(ReadConstant(entry, constants.size()));
  } catch (const nlohmann::json::exception& e) {
    throw InvalidArgument(StrCat("the metadata section cannot be read: ", e.what()))
        .AddNote("it must be an object with a list \"relay.Constant\" of {dtype, shape, data}");
  }
  return constants;
}

}  // namespace tenon::ir
