// What the attributes of any convolution say about each spatial axis. Type relations and computes
// read them in this form.
//
//   const ConvRules rules = ConvRulesOf(call.attrs<Conv1DAttrs>());
#ifndef TENON_OPS_CONV_CONV_RULES_H_
#define TENON_OPS_CONV_CONV_RULES_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/ops/conv/conv_attrs.h"

namespace tenon::ops {

struct ConvRules {
  std::size_t dims = 0;  // spatial axes
  bool transposed = false;
  std::vector<std::size_t> data, out;  // positions of N, C and the spatial axes
  std::vector<std::size_t> kernel;     // positions of O, I and the spatial axes
  Ints strides, dilation, before, after, output_padding;
  std::int64_t groups = 1;
  std::optional<std::int64_t> channels;
  std::optional<Ints> kernel_size;
  DataType out_dtype = DataType::Void();
};

// Whether a layout of a convolution of any kind cuts an axis into blocks; NCHW16c does.
template <typename AttrsType>
bool HasBlocks(const AttrsType& attrs) {
  for (const std::string* layout : {&attrs.data_layout, &attrs.kernel_layout, &attrs.out_layout}) {
    if (layout->find_first_of("0123456789") != std::string::npos) return true;
  }
  return false;
}

// "height" for the first of two axes, ...
const char* SpatialName(std::size_t axis, std::size_t dims);
// One value per spatial axis. Throws InvalidArgument unless there is one value, or one per axis.
Ints SpatialValues(const Ints& values, std::size_t dims, const char* attribute);
// The leading sides, then the trailing sides; see conv_attrs.h.
Ints SidePaddings(const Ints& padding, std::size_t dims);

namespace conv_internal {

struct Layouts {
  const std::string &data, &kernel, &out;
};
void SetLayouts(const Layouts& layouts, ConvRules* rules);

}  // namespace conv_internal

template <typename AttrsType>
ConvRules ConvRulesOf(const AttrsType& attrs) {
  ConvRules rules;
  rules.dims = AttrsType{}.strides.size();
  const std::string& out = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  conv_internal::SetLayouts({attrs.data_layout, attrs.kernel_layout, out}, &rules);
  rules.strides = SpatialValues(attrs.strides, rules.dims, "strides");
  rules.dilation = SpatialValues(attrs.dilation, rules.dims, "dilation");
  const Ints sides = SidePaddings(attrs.padding, rules.dims);
  const auto half = sides.begin() + static_cast<std::ptrdiff_t>(rules.dims);
  rules.before.assign(sides.begin(), half);
  rules.after.assign(half, sides.end());
  rules.groups = attrs.groups;
  rules.channels = attrs.channels;
  if (attrs.kernel_size)
    rules.kernel_size = SpatialValues(*attrs.kernel_size, rules.dims, "kernel_size");
  rules.out_dtype = attrs.out_dtype;
  if constexpr (requires { attrs.output_padding; }) {
    rules.transposed = true;
    rules.output_padding = SpatialValues(attrs.output_padding, rules.dims, "output_padding");
  }
  return rules;
}

}  // namespace tenon::ops

#endif  // TENON_OPS_CONV_CONV_RULES_H_
