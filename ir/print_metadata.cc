#include "tenon/ir/print_metadata.h"

#include <algorithm>
#include <optional>

#include "tenon/ir/metadata.h"
#include "tenon/ir/scalar_text.h"
#include "tenon/support/strings.h"

namespace tenon::ir {

std::string PrintMetadata::ConstantText(const NDArray& data) {
  if (const auto scalar = ScalarText(data)) return *scalar;
  constants_.push_back(data);
  return StrCat("meta[relay.Constant][", constants_.size() - 1, "]");
}

std::string PrintMetadata::DeviceReference(const attrs::Value& value) {
  const auto* text = value.As<std::string>();
  if (!options_.metadata || text == nullptr) return "";
  const std::optional<Device> device = Device::Parse(*text);
  if (!device || device->ToString() != *text) return "";
  const auto at = std::find(devices_.begin(), devices_.end(), *device);
  const auto index = at - devices_.begin();
  if (at == devices_.end()) devices_.push_back(*device);
  return StrCat("meta[VirtualDevice][", index, "]");
}

std::vector<std::string> PrintMetadata::ParameterDevices(const FunctionNode& function) {
  const auto found = function.attrs.find(kParamDevices);
  const auto* list = found == function.attrs.end() ? nullptr : found->second.As<attrs::List>();
  if (list == nullptr || list->size() != function.params.size()) return {};
  std::vector<std::string> references;
  bool any = false;
  for (const attrs::Value& value : *list) {
    references.push_back(DeviceReference(value));
    any = any || !references.back().empty();
    if (references.back().empty() && !(value == attrs::Value(std::string()))) return {};
  }
  return any ? references : std::vector<std::string>();
}

std::string PrintMetadata::AppendedTo(std::string text) const {
  if (options_.metadata && !(constants_.empty() && devices_.empty()))
    StrAppend(&text, "\n#[metadata]\n", WriteMetadata(constants_, devices_), "\n");
  return text;
}

}  // namespace tenon::ir
