// What the attributes of pooling say about each spatial axis. Type relations and computes read them
// in this form. All functions throw InvalidArgument that says what is wrong.
//
//   const PoolRules rules = PoolRulesOf(call.attrs<MaxPool2DAttrs>());
#ifndef TENON_OPS_POOL_POOL_RULES_H_
#define TENON_OPS_POOL_POOL_RULES_H_

#include <string>
#include <vector>

#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/pool/pool_attrs.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::ops {

// The positions of the spatial axes in the layout. The channels of images (dims = 2) may be cut
// into blocks.
inline std::vector<std::size_t> PooledAxes(const std::string& layout, std::size_t dims) {
  std::vector<std::size_t> at = dims == 2 ? ImagePositions(layout, "layout")
                                          : LayoutPositions(layout, PooledLayout(dims), "layout");
  at.erase(at.begin(), at.begin() + 2);
  return at;
}

struct PoolRules {
  std::size_t dims = 0;         // spatial axes
  std::vector<std::size_t> at;  // their positions
  Ints size, strides, dilation, before, after;
};

template <typename AttrsType>
PoolRules PoolRulesOf(const AttrsType& attrs) {
  PoolRules rules;
  rules.dims = AttrsType{}.strides.size();
  rules.at = PooledAxes(attrs.layout, rules.dims);
  rules.size = SpatialValues(attrs.pool_size, rules.dims, "pool_size");
  rules.strides = SpatialValues(attrs.strides, rules.dims, "strides");
  rules.dilation = SpatialValues(attrs.dilation, rules.dims, "dilation");
  const Ints sides = SidePaddings(attrs.padding, rules.dims);
  const auto half = sides.begin() + static_cast<std::ptrdiff_t>(rules.dims);
  rules.before.assign(sides.begin(), half);
  rules.after.assign(half, sides.end());
  return rules;
}

}  // namespace tenon::ops

#endif  // TENON_OPS_POOL_POOL_RULES_H_
