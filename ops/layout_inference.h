// Layout inference: which layouts an operator takes and gives when its inputs change theirs. A
// column of the registry entry that layout passes read.
//
// A layout names the axes in order, one letter each ("NCHW"); an empty one is not known. An
// operator without the column keeps the layouts that it has.
//
//   const LayoutInference* column = OpOf(call)->Column<LayoutInference>();
//   LayoutAnswer answer = column->infer({call.attrs, {"NHWC", ""}, {"NCHW", "OIHW"}, types});
#ifndef TENON_OPS_LAYOUT_INFERENCE_H_
#define TENON_OPS_LAYOUT_INFERENCE_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/type.h"
#include "tenon/ops/registry.h"

namespace tenon::ops {

struct LayoutQuestion {
  const attrs::Attrs& attrs;
  std::vector<std::string> new_inputs;  // as the producers give them
  std::vector<std::string> old_inputs;
  std::vector<ir::Type> old_types;
};

struct LayoutAnswer {
  std::vector<std::string> inputs;  // what the operator wants; producers are transformed to it
  std::string output;
  attrs::Attrs attrs;  // changed where they name layouts or axes
};

struct LayoutInference {
  std::function<LayoutAnswer(const LayoutQuestion& question)> infer;
};

// Attaches the column to elementwise and broadcast operators (any layout; a lower rank is aligned
// at the last axis of the old layout, so it forces the old one), convolution, pooling, bias_add and
// batch_norm.
void AttachLayoutInference(OpRegistry& registry);

}  // namespace tenon::ops

#endif  // TENON_OPS_LAYOUT_INFERENCE_H_
