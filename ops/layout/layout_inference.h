// Layout inference: which layouts an operator takes and gives when the layouts of its inputs
// change. It is a column of the registry entry that layout passes read.
//
// A layout names the axes in order, one letter each ("NCHW"). A new one may cut them into blocks
// ("NCHW16c", whose blocks divide the channels). An empty layout is not known. An operator without
// the column keeps its layouts.
//
// Asked with the old layouts as the new ones, an operator says how it names the axes itself.
//
//   const LayoutInference* column = OpOf(call)->Column<LayoutInference>();
//   LayoutAnswer answer = column->infer({call.attrs, {"NHWC", ""}, {"NCHW", "OIHW"}, types});
#ifndef TENON_OPS_LAYOUT_LAYOUT_INFERENCE_H_
#define TENON_OPS_LAYOUT_LAYOUT_INFERENCE_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/type.h"
#include "tenon/ops/registry.h"

namespace tenon::ops {

struct LayoutQuestion {
  const attrs::Attrs& attrs;
  // The fields of a tuple stand in its place.
  std::vector<std::string> new_inputs;  // as the producers give them
  std::vector<std::string> old_inputs;
  std::vector<ir::Type> old_types;
};

struct LayoutAnswer {
  // What the operator wants; the results of producers are transformed to it. An input of lower rank
  // than its layout gets axes of extent 1 in front. An input without a layout keeps its old one.
  std::vector<std::string> inputs;
  std::string output;  // of the result, or of each field of a tuple that has this rank
  attrs::Attrs attrs;  // changed where they name layouts or axes
  // The result is the first input in memory, seen as a tensor of the layout `output`.
  bool is_input = false;
};

struct LayoutInference {
  std::function<LayoutAnswer(const LayoutQuestion& question)> infer;
};

// Attaches the column to elementwise and broadcast operators whose definitions have none: the
// others say what they cannot do over a blocked axis, for which they ask for the old layout.
void AttachLayoutInference(OpRegistry& registry);

}  // namespace tenon::ops

#endif  // TENON_OPS_LAYOUT_LAYOUT_INFERENCE_H_
