#include "tenon/ops/conv/conv_rules.h"

#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

constexpr const char* kAxes = "DHW";

}  // namespace

const char* SpatialName(std::size_t axis, std::size_t dims) {
  constexpr const char* kNames[] = {"depth", "height", "width"};
  return kNames[3 - dims + axis];
}

Ints SpatialValues(const Ints& values, std::size_t dims, const char* attribute) {
  if (values.size() == dims) return values;
  if (values.size() == 1) return Ints(dims, values[0]);
  if (dims == 2) Pair(values, attribute);
  throw InvalidArgument(StrCat(attribute, " has ", values.size(), " values; it takes ",
                               dims == 1 ? "one" : "three, depth, height and width"));
}

Ints SidePaddings(const Ints& padding, std::size_t dims) {
  if (dims == 2) {
    const auto four = FourPaddings(padding);
    return {four.begin(), four.end()};
  }
  if (padding.size() == 2 * dims) return padding;
  if (padding.size() == 1) return Ints(2 * dims, padding[0]);
  if (padding.size() == dims) {
    Ints sides = padding;
    sides.insert(sides.end(), padding.begin(), padding.end());
    return sides;
  }
  throw InvalidArgument(StrCat("padding has ", padding.size(), " values; it takes one (all sides)",
                               dims == 1 ? " or two (left, right)"
                                         : ", three (both sides of depth, height and width) or six "
                                           "(front, top, left, back, bottom, right)"));
}

void conv_internal::SetLayouts(const Layouts& layouts, ConvRules* rules) {
  const std::string spatial = kAxes + (3 - rules->dims);
  rules->data = LayoutPositions(layouts.data, "NC" + spatial, "data_layout");
  rules->kernel = LayoutPositions(layouts.kernel, "OI" + spatial, "kernel_layout");
  rules->out = LayoutPositions(layouts.out, "NC" + spatial, "out_layout");
}

}  // namespace tenon::ops
