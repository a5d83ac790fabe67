#include "tenon/runtime/check_inputs.h"

#include <algorithm>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

bool Takes(const InputInfo& input, const NDArray& given) {
  return given.dtype() == input.dtype &&
         std::equal(given.shape().begin(), given.shape().end(), input.extents.begin(),
                    input.extents.end(), [](std::int64_t extent, const Dim& dim) {
                      return !dim.is_static() || dim.value() == extent;
                    });
}

}  // namespace

std::string Describe(const InputInfo& input) {
  const auto add = [](std::string* out, const Dim& dim) { *out += dim.ToString(); };
  return StrCat(input.dtype.ToString(), " (", StrJoin(input.extents, ", ", add),
                input.extents.size() == 1 ? ",)" : ")");
}

void RefuseUnknown(const std::vector<InputInfo>& wanted, const Inputs& inputs) {
  for (const auto& [name, value] : inputs) {
    if (std::ranges::find(wanted, name, &InputInfo::name) == wanted.end())
      throw InvalidArgument(StrCat(
          "there is no input '", name, "'; the inputs are: ",
          StrJoin(wanted, ", ", [](std::string* out, const auto& input) { *out += input.name; })));
  }
}

std::vector<const NDArray*> InOrder(const std::vector<InputInfo>& wanted, const Inputs& inputs) {
  std::vector<const NDArray*> arrays;
  for (const InputInfo& input : wanted) {
    const auto found = inputs.find(input.name);
    if (found == inputs.end())
      throw InvalidArgument(
          StrCat("input '", input.name, "' is missing; it must be ", Describe(input)));
    const NDArray& given = found->second;
    if (!Takes(input, given))
      throw InvalidArgument(StrCat("input '", input.name, "' is ", given.dtype().ToString(), " ",
                                   ShapeToString(given.shape()), "; it must be ", Describe(input)));
    arrays.push_back(&given);
  }
  if (inputs.size() != wanted.size()) RefuseUnknown(wanted, inputs);
  return arrays;
}

}  // namespace tenon::runtime
