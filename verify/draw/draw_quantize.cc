// The standard's quantised operators.
#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {
namespace {

NDArray Scales(Draft& d, const Shape& shape) {
  const NDArray scales = NDArray::Zeros(shape, Float32);
  for (std::int64_t i = 0; i < scales.size(); ++i)
    scales.data<float>()[i] = d.Of(std::vector<float>{0.5F, 0.25F, 0.125F, 0.03F, 1});
  return scales;
}

std::string Scale(Draft& d, const Shape& shape = {}) {
  return d.Chance(90) ? d.Constant(Scales(d, shape)).name : d.Input(Float32, shape).name;
}

std::string ZeroPoint(Draft& d, DataType type, const Shape& shape = {}) {
  return d.Chance(90) ? d.Weights(type, shape).name : d.Input(type, shape).name;
}

// A scale, and maybe a zero point, for each block of an axis.
NodeDraft Blocked(Draft& d, const Value& x, bool is_quantize, DataType narrow) {
  const std::int64_t axis = d.Axis(x), block = 1 + d.random().Below(4);
  Shape shape = x.shape;
  std::int64_t& extent = shape[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)];
  extent = (extent + block - 1) / block;
  NodeDraft node({x.name, Scale(d, shape)});
  if (d.Chance(70)) node.proto.add_input(ZeroPoint(d, is_quantize ? narrow : x.type, shape));
  return node.Int("axis", axis).Int("block_size", block);
}

Drawer Linear(bool is_quantize) {
  return [is_quantize](Draft& d) {
    const DataType narrow = d.Of(Types{UInt8, UInt8, Int8, Int8, UInt16, Int16});
    const Value x = d.Any(is_quantize ? Types{Float32, Float32, Float32, Float16, Int32}
                                      : Types{narrow, narrow, Int32},
                          0, 4);
    if (d.opset() >= 21 && x.rank() > 0 && d.Chance(30)) return Blocked(d, x, is_quantize, narrow);
    const bool per_axis = x.rank() > 0 && d.opset() >= 13 && d.Chance(40);
    const std::int64_t axis = per_axis ? d.Axis(x) : 1;
    const Shape shape =
        per_axis ? Shape{x.shape[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)]}
                 : d.Of(std::vector<Shape>{{}, {}, {1}});
    NodeDraft node({x.name, Scale(d, shape)});
    if (d.Chance(80)) node.proto.add_input(ZeroPoint(d, is_quantize ? narrow : x.type, shape));
    if (d.opset() >= 13 && (per_axis || d.Chance(30))) node.Int("axis", axis);
    return node;
  };
}

// Data and weights of 8-bit integers, some of them with zero points.
NodeDraft MatMulInteger(Draft& d) {
  const Value a = d.Any(kBytes, 1, 3);
  const DataType type = d.Of(kBytes);
  const std::int64_t columns = d.Extent();
  const Value b = d.Tensor(type, {a.shape.back(), columns});
  NodeDraft node({a.name, b.name});
  if (d.Chance(60)) node.proto.add_input(ZeroPoint(d, a.type));
  if (node.proto.input_size() == 3 && d.Chance(60))
    node.proto.add_input(ZeroPoint(d, type, d.Of(std::vector<Shape>{{}, {columns}})));
  return node;
}

NodeDraft QLinearMatMul(Draft& d) {
  const Value a = d.Any(kBytes, 2, 3);
  const DataType type = d.Of(kBytes);
  const std::int64_t columns = d.Extent();
  const Value b = d.Tensor(type, {a.shape.back(), columns});
  const Shape each = d.Chance(30) ? Shape{columns} : Shape{};
  return NodeDraft({a.name, Scale(d), ZeroPoint(d, a.type), b.name, Scale(d, each),
                    ZeroPoint(d, type, each), Scale(d), ZeroPoint(d, d.Of(kBytes))});
}

struct Convolution {
  Value x, weight;
  Ints kernel;
  std::int64_t results = 0, groups = 1;
};

Convolution AnyConvolution(Draft& d) {
  const std::int64_t channels = d.Of(Ints{1, 2, 3, 4, 16});
  Convolution c;
  c.groups = d.Chance(30) ? channels : 1;
  c.results = c.groups * (1 + d.random().Below(4));
  c.kernel = Ints(static_cast<std::size_t>(d.Of(Ints{1, 2, 2, 3})), d.Of(Ints{1, 3}));
  Shape data = {1 + d.random().Below(2), channels}, weights = {c.results, channels / c.groups};
  for (const std::int64_t extent : c.kernel) {
    data.push_back(extent + d.random().Below(7));
    weights.push_back(extent);
  }
  c.x = d.Tensor(d.Of(kBytes), data);
  c.weight = d.Chance(80) ? d.Weights(d.Of(kBytes), weights) : d.Input(d.Of(kBytes), weights);
  return c;
}

NodeDraft ConvInteger(Draft& d) {
  const Convolution c = AnyConvolution(d);
  NodeDraft node({c.x.name, c.weight.name});
  if (d.Chance(60)) node.proto.add_input(ZeroPoint(d, c.x.type));
  if (node.proto.input_size() == 3 && d.Chance(60))
    node.proto.add_input(ZeroPoint(d, c.weight.type, d.Of(std::vector<Shape>{{}, {c.results}})));
  if (c.groups > 1) node.Int("group", c.groups);
  DrawWindow(d, static_cast<std::int64_t>(c.kernel.size()), &node);
  return node;
}

NodeDraft QLinearConv(Draft& d) {
  const Convolution c = AnyConvolution(d);
  const Shape each = d.Chance(40) ? Shape{c.results} : Shape{};
  NodeDraft node({c.x.name, Scale(d), ZeroPoint(d, c.x.type), c.weight.name, Scale(d, each),
                  ZeroPoint(d, c.weight.type, each), Scale(d), ZeroPoint(d, d.Of(kBytes))});
  if (d.Chance(50)) node.proto.add_input(d.Weights(Int32, {c.results}).name);
  if (c.groups > 1) node.Int("group", c.groups);
  DrawWindow(d, static_cast<std::int64_t>(c.kernel.size()), &node);
  return node;
}

// --- of the domain com.microsoft

NodeDraft QLinearUnary(Draft& d) {
  const Value x = d.Any(kBytes, 0, 4);
  return NodeDraft({x.name, Scale(d), ZeroPoint(d, x.type), Scale(d), ZeroPoint(d, x.type)});
}

NodeDraft QLinearLeakyRelu(Draft& d) {
  NodeDraft node = QLinearUnary(d);
  return d.Chance(60) ? node.Float("alpha", 0.25) : node;
}

NodeDraft QLinearBinary(Draft& d) {
  const Value a = d.Any(kBytes, 0, 4);
  const Value b = d.Tensor(a.type, d.Broadcasting(a.shape));
  return NodeDraft({a.name, Scale(d), ZeroPoint(d, a.type), b.name, Scale(d), ZeroPoint(d, a.type),
                    Scale(d), ZeroPoint(d, a.type)});
}

NodeDraft QLinearConcat(Draft& d) {
  const Value a = d.Any(kBytes, 1, 4);
  const std::int64_t axis = d.Axis(a);
  Names inputs = {Scale(d), ZeroPoint(d, a.type)};
  for (std::int64_t i = 1 + d.random().Below(3); i > 0; --i) {
    Shape shape = a.shape;
    shape[static_cast<std::size_t>(axis < 0 ? axis + a.rank() : axis)] = d.Extent();
    for (const std::string& name : {d.Tensor(a.type, shape).name, Scale(d), ZeroPoint(d, a.type)})
      inputs.push_back(name);
  }
  return NodeDraft(inputs).Int("axis", axis);
}

NodeDraft QLinearAveragePool(Draft& d) {
  const Value x = d.Tensor(
      d.Of(kBytes), {1, d.Of(Ints{1, 3, 16}), 5 + d.random().Below(5), 5 + d.random().Below(5)});
  NodeDraft node({x.name, Scale(d), ZeroPoint(d, x.type), Scale(d), ZeroPoint(d, x.type)});
  node.IntList("kernel_shape", {1 + d.random().Below(4), 1 + d.random().Below(4)});
  DrawWindow(d, 2, &node);
  if (d.Chance(30)) node.Int("count_include_pad", 1);
  if (d.Chance(30)) node.Int("ceil_mode", 1);
  return node;
}

NodeDraft QLinearGlobalAveragePool(Draft& d) {
  const Value x = d.Any(kBytes, 3, 4);
  return NodeDraft({x.name, Scale(d), ZeroPoint(d, x.type), Scale(d), ZeroPoint(d, x.type)});
}

NodeDraft DynamicQuantizeMatMul(Draft& d) {
  const Value a = d.Any({Float32}, 2, 3);
  const DataType type = d.Of(kBytes);
  const std::int64_t columns = d.Extent();
  const Shape each = d.Chance(40) ? Shape{columns} : Shape{};
  NodeDraft node({a.name, d.Tensor(type, {a.shape.back(), columns}).name, Scale(d, each)});
  if (d.Chance(60)) node.proto.add_input(ZeroPoint(d, type, each));
  if (node.proto.input_size() == 4 && d.Chance(50))
    node.proto.add_input(d.Tensor(Float32, {columns}).name);
  return node;
}

NodeDraft MatMulIntegerToFloat(Draft& d) {
  const Value a = d.Any(kBytes, 2, 3);
  const DataType type = d.Of(kBytes);
  const std::int64_t columns = d.Extent();
  const Shape each = d.Chance(40) ? Shape{columns} : Shape{};
  NodeDraft node(
      {a.name, d.Tensor(type, {a.shape.back(), columns}).name, Scale(d), Scale(d, each)});
  if (d.Chance(60)) {
    node.proto.add_input(ZeroPoint(d, a.type));
    node.proto.add_input(ZeroPoint(d, type, each));
    if (d.Chance(50)) node.proto.add_input(d.Tensor(Float32, {columns}).name);
  }
  return node;
}

// The packed inputs: x, weights, bias, scales, mask, zero points.
NodeDraft QAttention(Draft& d) {
  const std::int64_t heads = d.Of(Ints{1, 2, 3}), size = heads * d.Of(Ints{1, 4, 5});
  const std::int64_t batch = d.Of(Ints{1, 2}), length = d.Of(Ints{1, 3, 8}),
                     from = d.Of(Ints{3, 8});
  const DataType type = d.Of(kBytes);
  const Shape each = d.Chance(30) ? Shape{3 * size} : Shape{};
  NodeDraft node({d.Tensor(UInt8, {batch, length, from}).name,
                  d.Tensor(type, {from, 3 * size}).name, d.Tensor(Float32, {3 * size}).name,
                  Scale(d), Scale(d, each),
                  d.Chance(40) ? d.Places({batch}, length + 1, Int32).name : "",
                  ZeroPoint(d, UInt8), ZeroPoint(d, type, each)});
  node.Int("num_heads", heads);
  if (d.Chance(40)) node.Int("unidirectional", d.random().Below(2));
  return node;
}

}  // namespace

void AddQuantizeDrawers(DrawerTable* table) {
  DrawerTable& t = *table;
  t["ConvInteger"] = ConvInteger;
  t["DequantizeLinear"] = t["com.microsoft.DequantizeLinear"] = Linear(false);
  t["DynamicQuantizeLinear"] = [](Draft& d) { return NodeDraft({d.Any({Float32}, 0, 4).name}, 3); };
  t["MatMulInteger"] = MatMulInteger;
  t["QLinearConv"] = QLinearConv;
  t["QLinearMatMul"] = QLinearMatMul;
  t["QuantizeLinear"] = t["com.microsoft.QuantizeLinear"] = Linear(true);
  t["com.microsoft.DynamicQuantizeMatMul"] = DynamicQuantizeMatMul;
  t["com.microsoft.MatMulIntegerToFloat"] = MatMulIntegerToFloat;
  t["com.microsoft.QAttention"] = QAttention;
  t["com.microsoft.QLinearAdd"] = t["com.microsoft.QLinearMul"] = QLinearBinary;
  t["com.microsoft.QLinearAveragePool"] = QLinearAveragePool;
  t["com.microsoft.QLinearConcat"] = QLinearConcat;
  t["com.microsoft.QLinearGlobalAveragePool"] = QLinearGlobalAveragePool;
  t["com.microsoft.QLinearLeakyRelu"] = QLinearLeakyRelu;
  t["com.microsoft.QLinearSigmoid"] = QLinearUnary;
}

}  // namespace tenon::verify
