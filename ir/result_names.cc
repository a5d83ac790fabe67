#include "tenon/ir/result_names.h"

#include <utility>

namespace tenon::ir {
namespace {

constexpr const char* kResultNames = "result_names";

}  // namespace

std::vector<std::string> ResultNamesOf(const Module& module) {
  const auto found = module.attrs().find(kResultNames);
  if (found == module.attrs().end()) return {};
  std::vector<std::string> names;
  // A text may have anything there.
  const auto* list = found->second.As<attrs::List>();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* name = (*list)[i].As<std::string>();
    if (name == nullptr) return {};
    names.push_back(*name);
  }
  return names;
}

Module WithResultNames(const Module& module, const std::vector<std::string>& names) {
  FunctionAttrs attrs = module.attrs();
  attrs.erase(kResultNames);
  if (!names.empty()) attrs.emplace(kResultNames, attrs::List(names.begin(), names.end()));
  return module.WithAttrs(std::move(attrs));
}

}  // namespace tenon::ir
