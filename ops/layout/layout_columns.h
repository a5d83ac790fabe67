// What layout passes ask operators whose attributes name layouts or an axis: columns for their
// definitions.
//
//   op.Column(LayoutInference{LayoutsOfConvolution<Conv2DAttrs>})
//       .Column(ChoiceOfConvolution<Conv2DAttrs>());
#ifndef TENON_OPS_LAYOUT_LAYOUT_COLUMNS_H_
#define TENON_OPS_LAYOUT_LAYOUT_COLUMNS_H_

#include <string>

#include "tenon/ops/layout/layout.h"
#include "tenon/ops/layout/layout_choice.h"
#include "tenon/ops/layout/layout_rules.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::ops {

// Of a convolution, whose attributes name the layouts of data and weight.
template <typename AttrsType>
LayoutAnswer LayoutsOfConvolution(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  if (MayFollowLayout(q, attrs.data_layout) &&
      IsOrderOf(AttrsType{}.data_layout, WantedLayout(q, 0))) {
    attrs.data_layout = WantedLayout(q, 0);
    if constexpr (requires { attrs.out_layout; }) attrs.out_layout.clear();
  }
  std::string output = attrs.data_layout;
  if constexpr (requires { attrs.out_layout; }) {
    if (!attrs.out_layout.empty()) output = attrs.out_layout;
  }
  return {{attrs.data_layout, attrs.kernel_layout}, output, attrs::Attrs::Make(attrs)};
}

// Of a window over images.
template <typename AttrsType>
LayoutAnswer LayoutsOfPool(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  // Channels may be cut into blocks.
  if (MayFollowLayout(q, attrs.layout) && IsOrderOf("NCHW", q.old_inputs[0]) &&
      IsPooledLayout(WantedLayout(q, 0))) {
    attrs.layout = WantedLayout(q, 0);
    attrs.out_layout.clear();
  }
  return {{attrs.layout}, attrs.layout, attrs::Attrs::Make(attrs)};
}

// Of images whose axes stay whole.
template <typename AttrsType>
LayoutAnswer LayoutsOfWholeAxes(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  if (MayFollowLayout(q, attrs.layout) && IsOrderOf(AttrsType{}.layout, WantedLayout(q, 0))) {
    attrs.layout = WantedLayout(q, 0);
    if constexpr (requires { attrs.out_layout; }) attrs.out_layout.clear();
  }
  return {{attrs.layout}, attrs.layout, attrs::Attrs::Make(attrs)};
}

// Of an operator along the axis that its attribute names, which moves with its letter and stays
// whole.
template <typename AttrsType>
LayoutAnswer LayoutsAlongAxis(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  const std::string& from = q.old_inputs[0];
  LayoutAnswer answer{std::vector<std::string>(q.new_inputs.size()), from, q.attrs};
  answer.inputs[0] = from;
  if (!IsLayoutChanged(q, 0)) return answer;
  const Layout to = Layout::Parse(WantedLayout(q, 0), "layout");
  const char letter = from[static_cast<std::size_t>(NormalAxis(attrs.axis, from.size()))];
  if (to.IsCut(letter)) return answer;
  attrs.axis = static_cast<std::int64_t>(to.PositionOf(letter));
  answer.inputs[0] = WantedLayout(q, 0);
  answer.output = WantedLayout(q, 0);
  answer.attrs = attrs::Attrs::Make(attrs);
  return answer;
}

template <typename AttrsType>
LayoutChoice ChoiceOfConvolution() {
  return {.data = AttrsType{}.data_layout,
          .kernel = AttrsType{}.kernel_layout,
          .answer = [](const attrs::Attrs& given, const std::string& data,
                       const std::string& kernel) -> LayoutAnswer {
            auto attrs = given.As<AttrsType>();
            attrs.data_layout = data;
            attrs.kernel_layout = kernel;
            attrs.out_layout.clear();
            return {{data, kernel}, data, attrs::Attrs::Make(attrs)};
          }};
}

template <typename AttrsType>
LayoutChoice ChoiceOfImage() {
  return {.data = AttrsType{}.layout,
          .kernel = "",
          .answer = [](const attrs::Attrs& given, const std::string& data,
                       const std::string&) -> LayoutAnswer {
            auto attrs = given.As<AttrsType>();
            attrs.layout = data;
            if constexpr (requires { attrs.out_layout; }) attrs.out_layout.clear();
            return {{data}, data, attrs::Attrs::Make(attrs)};
          }};
}

}  // namespace tenon::ops

#endif  // TENON_OPS_LAYOUT_LAYOUT_COLUMNS_H_
