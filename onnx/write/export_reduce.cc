// Reductions.
#include "tenon/onnx/tensor.h"
#include "tenon/onnx/write/exporters.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::onnx_export {
namespace {

template <typename AttrsType>
Ints AxesOf(const CallToWrite& call, const AttrsType& attrs) {
  const std::vector<bool> reduced = ops::ReducedAxes(attrs.axis, attrs.exclude, call.rank(0));
  Ints axes;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i]) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

Exporter Reduce(const char* type, bool axes_are_input) {
  return [type, axes_are_input](CallToWrite& call) {
    const auto& attrs = call.attrs<ops::ReduceAttrs>();
    const Ints axes = AxesOf(call, attrs);
    // An empty list means all axes in ONNX.
    if (axes.empty()) return Names{call.graph.AddNode("Identity", {call.input(0)})};
    NodeAttributes attributes = {{"keepdims", std::int64_t{attrs.keepdims}}};
    Names inputs = {call.input(0)};
    if (axes_are_input) {
      inputs.push_back(call.graph.AddInts(axes));
    } else {
      attributes.push_back({"axes", axes});
    }
    return Names{call.graph.AddNode(type, inputs, attributes)};
  };
}

Exporter ArgReduce(const char* type) {
  return [type](CallToWrite& call) {
    const auto& attrs = call.attrs<ops::ArgReduceAttrs>();
    const Ints axes = AxesOf(call, attrs);
    call.Require(axes.size() == 1, "a search along several axes");
    const std::string index =
        call.graph.AddNode(type, {call.input(0)},
                           {{"axis", axes[0]},
                            {"keepdims", std::int64_t{attrs.keepdims}},
                            {"select_last_index", std::int64_t{attrs.select_last_index}}});
    // ONNX gives int64.
    return Names{call.graph.AddNode(
        "Cast", {index},
        {{"to", static_cast<std::int64_t>(onnx_import::ToOnnxType(call.result_dtype()))}})};
  };
}

}  // namespace

void AddReduceExporters(ExporterTable* table) {
  const auto& known = ops::Known();
  ExporterTable& t = *table;
  t[known.sum] = Reduce("ReduceSum", true);
  t[known.prod] = Reduce("ReduceProd", false);
  t[known.max] = Reduce("ReduceMax", false);
  t[known.min] = Reduce("ReduceMin", false);
  t[known.mean] = Reduce("ReduceMean", false);
  t[known.argmax] = ArgReduce("ArgMax");
  t[known.argmin] = ArgReduce("ArgMin");
}

}  // namespace tenon::onnx_export
