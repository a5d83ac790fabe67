// Quantised operators. CanonicalizeQnn rewrites them to operators on integers and floats, so they
// have no compute of their own.
#include <algorithm>

#include "tenon/ops/builtin.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_attrs.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/pool/pool_attrs.h"
#include "tenon/ops/quantize/qnn_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;
using ir::TensorTypeNode;

bool IsOneOf(DataType type, std::initializer_list<DataType> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}
bool Is8Bit(DataType type) { return IsOneOf(type, {Int8, UInt8}); }
bool IsQuantized(DataType type) { return IsOneOf(type, {Int8, UInt8, Int16, UInt16, Int32}); }

void RequireQuantized(const TypeCall& call, DataType type, const char* what) {
  if (!IsQuantized(type))
    call.Refuse(
        StrCat(what, " is ", type.ToString(), "; it may be int8, uint8, int16, uint16 or int32"));
}

// A scale or zero point: one number, or one for each of `channels` when that is given.
void CheckParameter(TypeCall& call, const TensorTypeNode& type, const char* what,
                    const std::optional<Dim>& channels) {
  if (type.shape.empty()) return;
  if (!channels) call.Refuse(StrCat("the ", what, " must have rank 0"));
  if (type.shape.size() > 1)
    call.Refuse(StrCat("the ", what, " has rank ", type.shape.size(),
                       "; it may have rank 0, or 1 for channels"));
  const Dim& count = type.shape[0];
  if (call.Differ(count, *channels))
    call.Refuse(StrCat("the ", what, " has ", count.ToString(), " elements for ",
                       channels->ToString(), " channels"));
}
void CheckScale(TypeCall& call, const TensorTypeNode* type, const char* what,
                const std::optional<Dim>& channels = std::nullopt) {
  if (type == nullptr) return;
  if (!type->dtype.is_float())
    call.Refuse(StrCat("the ", what, " is ", type->dtype.ToString(), "; it must be a float"));
  CheckParameter(call, *type, what, channels);
}
void CheckZeroPoint(TypeCall& call, const TensorTypeNode* type, const char* what,
                    const std::optional<Dim>& channels = std::nullopt) {
  if (type == nullptr) return;
  RequireQuantized(call, type->dtype, StrCat("the ", what).c_str());
  CheckParameter(call, *type, what, channels);
}

// The extent of the axis along which per-channel parameters run; nothing for a tensor without axes.
std::optional<Dim> Channels(const TypeCall& call, const TensorTypeNode& data, std::int64_t axis,
                            const char* attribute = "axis") {
  if (data.shape.empty()) return std::nullopt;
  return data
      .shape[static_cast<std::size_t>(NormalizeAxis(call, axis, data.shape.size(), attribute))];
}
// The same, except that the axis may keep its default when the parameters have rank 0.
std::optional<Dim> ChannelsOf(const TypeCall& call, std::size_t scale, std::size_t zero_point,
                              const TensorTypeNode& data, std::int64_t axis,
                              const char* attribute = "axis") {
  const auto* s = call.tensor(scale);
  const auto* z = call.tensor(zero_point);
  const bool scalar = (s == nullptr || s->shape.empty()) && (z == nullptr || z->shape.empty());
  return scalar ? std::nullopt : Channels(call, data, axis, attribute);
}

void Quantize(TypeCall& call) {
  const auto& attrs = call.attrs<QuantizeAttrs>();
  RequireQuantized(call, attrs.out_dtype, "out_dtype");
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (!x->dtype.is_float())
    call.Refuse(StrCat("the data is ", x->dtype.ToString(), "; it must be a float"));
  const auto channels = ChannelsOf(call, 1, 2, *x, attrs.axis);
  CheckScale(call, call.tensor(1), "output_scale", channels);
  CheckZeroPoint(call, call.tensor(2), "output_zero_point", channels);
  call.LearnResult(ir::TensorType(x->shape, attrs.out_dtype));
}

void Dequantize(TypeCall& call) {
  const auto& attrs = call.attrs<DequantizeAttrs>();
  if (!IsOneOf(attrs.out_dtype, {Float32, Float16}))
    call.Refuse(
        StrCat("out_dtype is ", attrs.out_dtype.ToString(), "; it may be float32 or float16"));
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  RequireQuantized(call, x->dtype, "the data");
  const auto channels = ChannelsOf(call, 1, 2, *x, attrs.axis);
  CheckScale(call, call.tensor(1), "input_scale", channels);
  CheckZeroPoint(call, call.tensor(2), "input_zero_point", channels);
  call.LearnResult(ir::TensorType(x->shape, attrs.out_dtype));
}

void Requantize(TypeCall& call) {
  const auto& attrs = call.attrs<RequantizeAttrs>();
  const DataType result = attrs.out_dtype.is_void() ? Int8 : attrs.out_dtype;
  RequireQuantized(call, result, "out_dtype");
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  RequireQuantized(call, x->dtype, "the data");
  const auto channels = ChannelsOf(call, 1, 2, *x, attrs.axis);
  CheckScale(call, call.tensor(1), "input_scale", channels);
  CheckZeroPoint(call, call.tensor(2), "input_zero_point", channels);
  CheckScale(call, call.tensor(3), "output_scale");
  CheckZeroPoint(call, call.tensor(4), "output_zero_point");
  call.LearnResult(ir::TensorType(x->shape, result));
}

// --- operators with the shapes of those on real numbers

// Learns what the relation of the operator on int32 says about the shapes of operands 0 and 1.
void LearnFromPlain(TypeCall& call, const TypeRelation& plain, const attrs::Attrs& attrs,
                    DataType result) {
  const auto as_int32 = [](const TensorTypeNode* type) {
    return type == nullptr ? ir::Type() : ir::TensorType(type->shape, Int32);
  };
  TypeCall shapes(call.op(), attrs, {as_int32(call.tensor(0)), as_int32(call.tensor(1))},
                  ir::Type());
  plain(shapes);
  call.AddNeedsOf(shapes);
  if (const auto* weight = shapes.learned_input(1).As<TensorTypeNode>())
    call.LearnInput(
        1, ir::TensorType(weight->shape, call.tensor(1) != nullptr ? call.tensor(1)->dtype : Int8));
  if (const auto* learned = shapes.learned_result().As<TensorTypeNode>())
    call.LearnResult(ir::TensorType(learned->shape, result));
}

void CheckProduct(TypeCall& call, DataType out_dtype) {
  if (!out_dtype.is_void() && out_dtype != Int32)
    call.Refuse(StrCat("out_dtype is ", out_dtype.ToString(), "; products are summed in int32"));
  for (std::size_t i = 0; i < 2; ++i) {
    if (const auto* t = call.tensor(i); t != nullptr && !Is8Bit(t->dtype))
      call.Refuse(StrCat(i == 0 ? "the data" : "the weight", " is ", t->dtype.ToString(),
                         "; it may be int8 or uint8"));
  }
}
// Arguments 2 to 5: zero points of both operands, then their scales.
void CheckProductParameters(TypeCall& call, const std::optional<Dim>& channels) {
  CheckZeroPoint(call, call.tensor(2), "input_zero_point");
  CheckZeroPoint(call, call.tensor(3), "kernel_zero_point", channels);
  CheckScale(call, call.tensor(4), "input_scale");
  CheckScale(call, call.tensor(5), "kernel_scale", channels);
}

template <typename T>
TypeRelation ProductRelation(const TypeRelation& plain,
                             std::function<std::optional<Dim>(const T&, const TypeCall&)> outputs) {
  return [plain, outputs](TypeCall& call) {
    const T& attrs = call.attrs<T>();
    CheckProduct(call, attrs.out_dtype);
    if (call.tensor(0) == nullptr) return;
    LearnFromPlain(call, plain, attrs::Attrs::Make(attrs), Int32);
    CheckProductParameters(call, outputs(attrs, call));
  };
}

std::optional<Dim> FiltersOf(const Conv2DAttrs& attrs, const TypeCall& call) {
  const auto* weight = call.tensor(1);
  if (weight == nullptr || weight->shape.size() != 4) return Dim();
  const std::size_t o = attrs.kernel_layout.find('O');
  return o < 4 ? weight->shape[o] : Dim();
}
std::optional<Dim> UnitsOf(const DenseAttrs&, const TypeCall& call) {
  const auto* weight = call.tensor(1);
  return weight == nullptr || weight->shape.empty() ? Dim() : weight->shape[0];
}

// Kernels with several groups have fewer filters than the result has channels.
std::optional<Dim> TransposedFiltersOf(const Conv2DTransposeAttrs& attrs, const TypeCall& call) {
  if (attrs.groups != 1) return std::nullopt;
  const auto* weight = call.tensor(1);
  if (weight == nullptr || weight->shape.size() != 4) return Dim();
  const std::size_t o = attrs.kernel_layout.find('O');
  return o < 4 ? weight->shape[o] : Dim();
}

// Arguments: data, scale, zero point, then scale and zero point of the result.
void CheckUnary(TypeCall& call, const TensorTypeNode& x) {
  RequireQuantized(call, x.dtype, "the data");
  CheckScale(call, call.tensor(1), "scale");
  CheckZeroPoint(call, call.tensor(2), "zero_point");
  CheckScale(call, call.tensor(3), "output_scale");
  CheckZeroPoint(call, call.tensor(4), "output_zero_point");
}

TypeRelation AvgPool(const TypeRelation& plain) {
  return [plain](TypeCall& call) {
    const auto* x = call.tensor(0);
    if (x == nullptr) return;
    CheckUnary(call, *x);
    const attrs::Attrs attrs = attrs::Attrs::Make(call.attrs<AvgPool2DAttrs>());
    TypeCall pooled(call.op(), attrs, {call.input(0)}, ir::Type());
    plain(pooled);
    call.AddNeedsOf(pooled);
    if (pooled.learned_result()) call.LearnResult(pooled.learned_result());
  };
}

// Arguments: lhs, rhs, then scale and zero point of each and of the result.
void Binary(TypeCall& call) {
  const auto& attrs = call.attrs<QnnBinaryAttrs>();
  const auto* a = call.tensor(0);
  const auto* b = call.tensor(1);
  if (a == nullptr || b == nullptr) return;
  RequireQuantized(call, a->dtype, "the first operand");
  const auto lhs = ChannelsOf(call, 2, 3, *a, attrs.lhs_axis, "lhs_axis");
  CheckScale(call, call.tensor(2), "lhs_scale", lhs);
  CheckZeroPoint(call, call.tensor(3), "lhs_zero_point", lhs);
  const auto rhs = ChannelsOf(call, 4, 5, *b, attrs.rhs_axis, "rhs_axis");
  CheckScale(call, call.tensor(4), "rhs_scale", rhs);
  CheckZeroPoint(call, call.tensor(5), "rhs_zero_point", rhs);
  CheckScale(call, call.tensor(6), "output_scale");
  CheckZeroPoint(call, call.tensor(7), "output_zero_point");
  Broadcast(call);
}

void Unary(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  CheckUnary(call, *x);
  call.LearnResult(call.input(0));
}

TypeRelation Concatenate(const TypeRelation& plain) {
  return [plain](TypeCall& call) {
    const auto fields = call.tensors(0);
    const auto scales = call.tensors(1);
    const auto zero_points = call.tensors(2);
    if (!fields || !scales || !zero_points) return;
    if (scales->size() != fields->size() || zero_points->size() != fields->size())
      call.Refuse(StrCat(fields->size(), " tensors need as many scales and zero points; ",
                         scales->size(), " and ", zero_points->size(), " are given"));
    for (const auto* field : *fields) RequireQuantized(call, field->dtype, "the data");
    for (const auto* scale : *scales) CheckScale(call, scale, "input_scale");
    for (const auto* zero_point : *zero_points)
      CheckZeroPoint(call, zero_point, "input_zero_point");
    CheckScale(call, call.tensor(3), "output_scale");
    CheckZeroPoint(call, call.tensor(4), "output_zero_point");
    const attrs::Attrs attrs = attrs::Attrs::Make(call.attrs<ConcatenateAttrs>());
    TypeCall joined(call.op(), attrs, {call.input(0)}, ir::Type());
    plain(joined);
    call.AddNeedsOf(joined);
    if (joined.learned_result()) call.LearnResult(joined.learned_result());
  };
}

OpBuilder Qnn(OpRegistry& registry, const std::string& name, const char* help, OpPattern pattern) {
  OpBuilder op = registry.Register(name);
  op.Describe(help).Level(11).Pattern(pattern);
  return op;
}
OpBuilder& Parameter(OpBuilder& op, const std::string& name, const char* help) {
  return op.Argument(StrCat(name, "scale"), "Tensor", StrCat("scale of ", help))
      .Argument(StrCat(name, "zero_point"), "Tensor", StrCat("zero point of ", help));
}
OpBuilder& ProductArguments(OpBuilder& op, const char* data, const char* weight) {
  return op.Argument("data", "Tensor", data)
      .Argument("weight", "Tensor", weight)
      .Argument("input_zero_point", "Tensor", "zero point of the data")
      .Argument("kernel_zero_point", "Tensor", "zero point of the weight")
      .Argument("input_scale", "Tensor",
                "scale of the data; the result's is its product with "
                "kernel_scale")
      .Argument("kernel_scale", "Tensor", "scale of the weight");
}

void RegisterConversions(OpRegistry& registry) {
  OpBuilder quantize =
      Qnn(registry, "qnn.quantize", "saturate(round_half_even(data / scale) + zero_point)",
          OpPattern::kElemWise);
  Parameter(quantize.Argument("data", "Tensor", "floating-point input"), "output_", "the result")
      .Attrs<QuantizeAttrs>()
      .TypeRelation(Quantize, "Quantize");
  OpBuilder dequantize =
      Qnn(registry, "qnn.dequantize", "(data - zero_point) * scale", OpPattern::kElemWise);
  Parameter(dequantize.Argument("data", "Tensor", "quantised input"), "input_", "the data")
      .Attrs<DequantizeAttrs>()
      .TypeRelation(Dequantize, "Dequantize");
  OpBuilder requantize =
      Qnn(registry, "qnn.requantize",
          "saturate(round_half_even((data - input_zero_point) * (input_scale / output_scale) + "
          "output_zero_point))",
          OpPattern::kElemWise);
  Parameter(
      Parameter(requantize.Argument("data", "Tensor", "quantised input"), "input_", "the data"),
      "output_", "the result")
      .Attrs<RequantizeAttrs>()
      .TypeRelation(Requantize, "Requantize");
}

void RegisterProducts(OpRegistry& registry) {
  // "nn.conv2d" of "qnn.conv2d".
  const auto plain = [&](OpBuilder& op) {
    return registry.Definition(op.op().name.substr(1)).type_relation;
  };
  OpBuilder conv = Qnn(registry, "qnn.conv2d",
                       "2-D convolution of (data - input_zero_point) and (weight - "
                       "kernel_zero_point), summed in int32; padding stands for zero",
                       OpPattern::kOutEWiseFusable);
  ProductArguments(conv, "batch of images, in data_layout", "kernels, in kernel_layout")
      .Attrs<Conv2DAttrs>()
      .TypeRelation(ProductRelation<Conv2DAttrs>(plain(conv), FiltersOf), "QnnConv2D");
  OpBuilder transpose = Qnn(registry, "qnn.conv2d_transpose",
                            "transposed 2-D convolution of (data - input_zero_point) and (weight - "
                            "kernel_zero_point), summed in int32",
                            OpPattern::kOutEWiseFusable);
  ProductArguments(transpose, "batch of images, in data_layout", "kernels, in kernel_layout")
      .Attrs<Conv2DTransposeAttrs>()
      .TypeRelation(ProductRelation<Conv2DTransposeAttrs>(plain(transpose), TransposedFiltersOf),
                    "QnnConv2DTranspose");
  OpBuilder dense = Qnn(registry, "qnn.dense",
                        "(data - input_zero_point) times the transposed (weight - "
                        "kernel_zero_point), summed in int32",
                        OpPattern::kOutEWiseFusable);
  ProductArguments(dense, "(..., k)", "(units, k)")
      .Attrs<DenseAttrs>()
      .TypeRelation(ProductRelation<DenseAttrs>(plain(dense), UnitsOf), "QnnDense");
  OpBuilder batch = Qnn(registry, "qnn.batch_matmul",
                        "products of the matrices of a batch without their zero points, summed in "
                        "int32",
                        OpPattern::kOutEWiseFusable);
  ProductArguments(batch, "(batch, m, k)", "(batch, k, n)")
      .Attrs<BatchMatmulAttrs>()
      .TypeRelation(ProductRelation<BatchMatmulAttrs>(
                        plain(batch),
                        [](const BatchMatmulAttrs&, const TypeCall&) -> std::optional<Dim> {
                          return std::nullopt;
                        }),
                    "QnnBatchMatmul");
}

}  // namespace

void RegisterQnnOps(OpRegistry& registry) {
  RegisterConversions(registry);
  RegisterProducts(registry);
  for (const auto& [name, help] :
       {std::pair("qnn.add", "the sum of two quantised tensors, rounded once"),
        {"qnn.subtract", "the difference of two quantised tensors, rounded once"},
        {"qnn.mul", "the product of two quantised tensors, rounded once"}}) {
    OpBuilder op = Qnn(registry, name, help, OpPattern::kBroadcast);
    op.Argument("lhs", "Tensor", "first operand").Argument("rhs", "Tensor", "second operand");
    Parameter(Parameter(Parameter(op, "lhs_", "lhs"), "rhs_", "rhs"), "output_", "the result")
        .Attrs<QnnBinaryAttrs>()
        .TypeRelation(Binary, "QnnBroadcast");
  }
  for (const char* name : {"abs", "erf", "exp", "hardswish", "leaky_relu", "log", "rsqrt",
                           "sigmoid", "softmax", "sqrt", "tanh"}) {
    OpBuilder op = Qnn(registry, StrCat("qnn.", name),
                       "the function of the real numbers that a quantised tensor stands for",
                       OpPattern::kOpaque);
    Parameter(Parameter(op.Argument("data", "Tensor", "quantised input"), "", "the data"),
              "output_", "the result")
        .TypeRelation(Unary, "QnnElementwiseUnary");
  }
  const auto schema = [&](const char* to, const char* from) {
    registry.Definition(to).schema = registry.Definition(from).schema;
  };
  schema("qnn.leaky_relu", "nn.leaky_relu");
  schema("qnn.softmax", "nn.softmax");
  OpBuilder pool =
      Qnn(registry, "qnn.avg_pool2d",
          "mean of each window, computed from the stored integers in int32 and converted to the "
          "scale and zero point of the result; padding that counts is a stored 0",
          OpPattern::kOutEWiseFusable);
  Parameter(Parameter(pool.Argument("data", "Tensor", "quantised input"), "input_", "the data"),
            "output_", "the result")
      .Attrs<AvgPool2DAttrs>()
      .TypeRelation(AvgPool(registry.Definition("nn.avg_pool2d").type_relation), "QnnAvgPool2D");
  OpBuilder join = Qnn(registry, "qnn.concatenate",
                       "tensors of several scales and zero points, concatenated and converted to "
                       "those of the result",
                       OpPattern::kInjective);
  join.Argument("data", "Tuple", "tensors to concatenate")
      .Argument("input_scales", "Tuple", "a scale for each")
      .Argument("input_zero_points", "Tuple", "a zero point for each");
  Parameter(join, "output_", "the result")
      .Attrs<ConcatenateAttrs>()
      .TypeRelation(Concatenate(registry.Definition("concatenate").type_relation),
                    "QnnConcatenate");
}

}  // namespace tenon::ops
