// Quantised values, as QDQ models have them.
#include "tenon/onnx/write/exporters.h"
#include "tenon/ops/quantize/qnn_attrs.h"
#include "tenon/ops/registry.h"

namespace tenon::onnx_export {
namespace {

// Scale or zero point, argument `i`. ONNX takes both in one shape.
std::string Parameter(CallToWrite& call, std::size_t i) {
  const Shape other = call.shape(i == 1 ? 2 : 1);
  if (call.rank(i) >= other.size()) return call.input(i);
  return call.graph.AddNode("Expand", {call.input(i), call.graph.AddInts(other)});
}

// ONNX takes zero points in the type of the integers.
std::string ZeroPoint(CallToWrite& call, DataType integers) {
  call.Require(call.dtype(2) == integers, "a zero point of another type than the integers");
  return Parameter(call, 2);
}

// Channels need an axis only where there are several.
NodeAttributes AxisOf(CallToWrite& call, std::int64_t axis) {
  if (call.rank(1) == 0 && call.rank(2) == 0) return {};
  return {{"axis", call.Axis(axis)}};
}

Names Quantize(CallToWrite& call) {
  const DataType integers = call.attrs<ops::QuantizeAttrs>().out_dtype;
  call.Require(integers == Int8 || integers == UInt8, "integers of other than 8 bits");
  return {call.graph.AddNode("QuantizeLinear",
                             {call.input(0), Parameter(call, 1), ZeroPoint(call, integers)},
                             AxisOf(call, call.attrs<ops::QuantizeAttrs>().axis))};
}

Names Dequantize(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::DequantizeAttrs>();
  call.Require(attrs.out_dtype == Float32, "a result other than float32");
  return {call.graph.AddNode("DequantizeLinear",
                             {call.input(0), Parameter(call, 1), ZeroPoint(call, call.dtype(0))},
                             AxisOf(call, attrs.axis))};
}

}  // namespace

void AddQuantizeExporters(ExporterTable* table) {
  const ops::OpRegistry& registry = ops::OpRegistry::Global();
  (*table)[registry.Get("qnn.quantize")] = Quantize;
  (*table)[registry.Get("qnn.dequantize")] = Dequantize;
}

}  // namespace tenon::onnx_export
