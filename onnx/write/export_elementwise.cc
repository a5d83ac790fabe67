// Elementwise and broadcast operators.
#include <cmath>
#include <limits>

#include "tenon/onnx/tensor.h"
#include "tenon/onnx/write/exporters.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"

namespace tenon::onnx_export {
namespace {

// All arguments in order, without attributes.
Exporter Plain(const char* type) {
  return [type](CallToWrite& call) {
    Names inputs;
    for (std::size_t i = 0; i < call.num_args(); ++i) inputs.push_back(call.input(i));
    return Names{call.graph.AddNode(type, inputs)};
  };
}

// Equal, then negated: ONNX has no such operator.
Names NotEqual(CallToWrite& call) {
  return {call.graph.AddNode("Not", {call.graph.AddNode("Equal", {call.input(0), call.input(1)})})};
}

Names ReciprocalRoot(CallToWrite& call) {
  return {call.graph.AddNode("Reciprocal", {call.graph.AddNode("Sqrt", {call.input(0)})})};
}

std::string CastTo(CallToWrite& call, const std::string& value, DataType type) {
  return call.graph.AddNode("Cast", {value},
                            {{"to", static_cast<std::int64_t>(onnx_import::ToOnnxType(type))}});
}

// A bound of the type of the data. Constants of some types are cast: no number here has them.
std::string Bound(CallToWrite& call, double value) {
  const DataType type = call.dtype(0);
  const ir::Expr number = ops::Scalar(value, type);
  if (const auto* constant = number.As<ir::ConstantNode>())
    return call.graph.AddConstant(constant->data);
  return CastTo(call, call.graph.AddConstant(NDArray::Scalar(value)), type);
}

// A bound at the end of the type, or past it, is left out: infinity is no integer.
Names Clip(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::ClipAttrs>();
  const DataType type = call.dtype(0);
  double lowest = -std::numeric_limits<double>::infinity(), highest = -lowest;
  if (!type.is_float()) {
    const int bits = type.is_uint() ? type.bits() : type.bits() - 1;
    lowest = type.is_uint() ? 0 : -std::ldexp(1, bits);
    highest = std::ldexp(1, bits) - 1;  // of 64 bits, the double just above
  }
  call.Require(!(attrs.a_min > highest), "a lower bound above all values");
  call.Require(!(attrs.a_max < lowest), "an upper bound below all values");
  const std::string low = attrs.a_min <= lowest ? "" : Bound(call, attrs.a_min);
  const std::string high = attrs.a_max >= highest ? "" : Bound(call, attrs.a_max);
  return {call.graph.AddNode("Clip", {call.input(0), low, high})};
}

Names Where(CallToWrite& call) {
  const std::string condition =
      call.dtype(0).is_bool() ? call.input(0) : CastTo(call, call.input(0), Bool);
  return {call.graph.AddNode("Where", {condition, call.input(1), call.input(2)})};
}

// Truncated like fmod: the remainder has the sign of the dividend.
Names Mod(CallToWrite& call) {
  return {call.graph.AddNode("Mod", {call.input(0), call.input(1)}, {{"fmod", std::int64_t{1}}})};
}

Names FloorMod(CallToWrite& call) {
  call.Require(!call.dtype(0).is_float(), "the remainder of floating numbers");
  return {call.graph.AddNode("Mod", {call.input(0), call.input(1)})};
}

}  // namespace

void AddElementwiseExporters(ExporterTable* table) {
  const auto& known = ops::Known();
  ExporterTable& t = *table;
  t[known.abs] = Plain("Abs");
  t[known.acos] = Plain("Acos");
  t[known.acosh] = Plain("Acosh");
  t[known.asin] = Plain("Asin");
  t[known.asinh] = Plain("Asinh");
  t[known.atan] = Plain("Atan");
  t[known.atanh] = Plain("Atanh");
  t[known.ceil] = Plain("Ceil");
  t[known.copy] = Plain("Identity");
  t[known.cos] = Plain("Cos");
  t[known.cosh] = Plain("Cosh");
  t[known.erf] = Plain("Erf");
  t[known.exp] = Plain("Exp");
  t[known.floor] = Plain("Floor");
  t[known.isinf] = Plain("IsInf");
  t[known.isnan] = Plain("IsNaN");
  t[known.log] = Plain("Log");
  t[known.logical_not] = Plain("Not");
  t[known.nearbyint] = Plain("Round");
  t[known.negative] = Plain("Neg");
  t[known.relu] = Plain("Relu");
  t[known.rsqrt] = ReciprocalRoot;
  t[known.sigmoid] = Plain("Sigmoid");
  t[known.sign] = Plain("Sign");
  t[known.sin] = Plain("Sin");
  t[known.sinh] = Plain("Sinh");
  t[known.sqrt] = Plain("Sqrt");
  t[known.stop_fusion] = [](CallToWrite& call) { return Names{call.input(0)}; };
  t[known.tan] = Plain("Tan");
  t[known.tanh] = Plain("Tanh");
  t[known.cast] = [](CallToWrite& call) {
    return Names{CastTo(call, call.input(0), call.result_dtype())};
  };
  t[known.clip] = Clip;
  t[known.leaky_relu] = [](CallToWrite& call) {
    return Names{call.graph.AddNode("LeakyRelu", {call.input(0)},
                                    {{"alpha", call.attrs<ops::LeakyReluAttrs>().alpha}})};
  };

  t[known.add] = Plain("Add");
  t[known.divide] = Plain("Div");
  t[known.equal] = Plain("Equal");
  t[known.floor_mod] = FloorMod;
  t[known.greater] = Plain("Greater");
  t[known.greater_equal] = Plain("GreaterOrEqual");
  t[known.less] = Plain("Less");
  t[known.less_equal] = Plain("LessOrEqual");
  t[known.logical_and] = Plain("And");
  t[known.logical_or] = Plain("Or");
  t[known.logical_xor] = Plain("Xor");
  t[known.maximum] = Plain("Max");
  t[known.minimum] = Plain("Min");
  t[known.mod] = Mod;
  t[known.multiply] = Plain("Mul");
  t[known.not_equal] = NotEqual;
  t[known.power] = Plain("Pow");
  t[known.subtract] = Plain("Sub");
  t[known.where] = Where;
}

}  // namespace tenon::onnx_export
