// Conversions of quantised tensors and functions of the numbers that they stand for: data, scales
// above 0 and zero points.
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/verify/define/quantized_numbers.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Types = std::vector<DataType>;

const Types kQuantized = {Int8, UInt8, Int8, UInt8, Int8, UInt8, Int16, UInt16, Int32};

// An axis, from either end, and the shape of parameters along it; of rank 0 mostly.
struct Channels {
  std::int64_t axis = -1;
  Shape shape;
};
Channels AnyChannels(const Shape& data, Random& random) {
  Channels channels;
  if (data.empty() || random.Chance(60)) return channels;
  const auto rank = static_cast<std::int64_t>(data.size());
  channels.axis = random.Below(rank);
  channels.shape = {data[static_cast<std::size_t>(channels.axis)]};
  if (random.Chance(50)) channels.axis -= rank;
  return channels;
}
// Both of one tensor; each may still be one for all channels.
void AddParameters(const Channels& channels, DataType type, Scales* scales, Operands* to) {
  Random& random = scales->random;
  to->Add(scales->Make(random.Chance(80) ? channels.shape : Shape{}));
  to->Add(ZeroPoints(random.Chance(80) ? channels.shape : Shape{}, type, random));
}

Operands Quantize(Random& random) {
  const DataType type = random.Of(Types{Float32, Float32, Float32, Float16, Float64, BFloat16});
  const DataType to = random.Of(kQuantized);
  const Shape shape = AnyShape(random);
  const double factor = type.is_half() ? 1 : random.Of(std::vector<double>{1, 4, 64});
  const Channels channels = AnyChannels(shape, random);
  Scales scales{random};
  Operands operands;
  operands.Add(ArrayOf(shape, type, [&](std::int64_t) {
    return factor * static_cast<double>(random.Below(65) - 32) / 8;
  }));
  AddParameters(channels, to, &scales, &operands);
  operands.attributes = {{"out_dtype", Value(to)}, {"axis", Value(channels.axis)}};
  return operands;
}

Operands Dequantize(Random& random) {
  const DataType type = random.Of(kQuantized);
  const Shape shape = AnyShape(random);
  const Channels channels = AnyChannels(shape, random);
  Scales scales{random};
  Operands operands;
  operands.Add(QuantizedNumbers(shape, type, random));
  AddParameters(channels, type, &scales, &operands);
  operands.attributes["axis"] = Value(channels.axis);
  if (random.Chance(30)) operands.attributes["out_dtype"] = Value(Float16);
  return operands;
}

Operands Requantize(Random& random) {
  const DataType type = random.Of(kQuantized), to = random.Of(kQuantized);
  const Shape shape = AnyShape(random);
  const Channels channels = AnyChannels(shape, random);
  Scales scales{random};
  Operands operands;
  operands.Add(QuantizedNumbers(shape, type, random));
  AddParameters(channels, type, &scales, &operands);
  AddParameters({}, to, &scales, &operands);
  operands.attributes = {{"axis", Value(channels.axis)}, {"out_dtype", Value(to)}};
  using Words = std::vector<std::string>;
  if (random.Chance(60))
    operands.attributes["rounding"] = Value(random.Of(Words{"UPWARD", "TONEAREST"}));
  if (random.Chance(40))
    operands.attributes["compute_dtype"] = Value(random.Of(Words{"float32", "float64"}));
  return operands;
}

Operands Concatenate(Random& random) {
  const DataType type = random.Of(kQuantized);
  const Shape shape = AnyShape(random, 1);
  const std::int64_t axis = random.Below(static_cast<std::int64_t>(shape.size()));
  Scales scales{random};
  std::vector<NDArray> data, all_scales, zero_points;
  for (std::int64_t i = 1 + random.Below(3); i > 0; --i) {
    Shape own = shape;
    own[static_cast<std::size_t>(axis)] = 1 + random.Below(5);
    data.push_back(QuantizedNumbers(own, type, random));
    all_scales.push_back(scales.Make());
    zero_points.push_back(ZeroPoints({}, type, random));
  }
  Operands operands;
  operands.AddTuple(data).AddTuple(all_scales).AddTuple(zero_points);
  AddParameters({}, type, &scales, &operands);
  operands.attributes["axis"] = Value(axis);
  return operands;
}

Operands Binary(Random& random) {
  const DataType type = random.Of(kQuantized);
  const Shape shape = AnyShape(random);
  Shape other = shape;
  for (std::int64_t& extent : other) {
    if (random.Chance(15)) extent = 1;
  }
  other.erase(other.begin(), other.begin() + random.Below(static_cast<std::int64_t>(
                                                 random.Chance(30) ? other.size() + 1 : 1)));
  const Channels of_left = AnyChannels(shape, random), of_right = AnyChannels(other, random);
  Scales scales{random};
  Operands operands;
  operands.Add(QuantizedNumbers(shape, type, random)).Add(QuantizedNumbers(other, type, random));
  AddParameters(of_left, type, &scales, &operands);
  AddParameters(of_right, type, &scales, &operands);
  AddParameters({}, type, &scales, &operands);
  operands.attributes = {{"lhs_axis", Value(of_left.axis)}, {"rhs_axis", Value(of_right.axis)}};
  return operands;
}

Operands OfData(const Shape& shape, Random& random) {
  const DataType type = random.Of(kQuantized);
  Scales scales{random};
  Operands operands;
  operands.Add(QuantizedNumbers(shape, type, random));
  AddParameters({}, type, &scales, &operands);
  AddParameters({}, type, &scales, &operands);
  // Where both are the same, integers need no conversion.
  if (random.Chance(20)) {
    operands.arguments[3] = operands.arguments[1];
    operands.arguments[4] = operands.arguments[2];
  }
  return operands;
}

Operands Unary(Random& random) { return OfData(AnyShape(random), random); }
Operands LeakyRelu(Random& random) {
  Operands operands = Unary(random);
  if (random.Chance(60)) operands.attributes["alpha"] = Value(0.25);
  return operands;
}
Operands Softmax(Random& random) {
  const Shape shape = AnyShape(random, 1);
  Operands operands = OfData(shape, random);
  const auto rank = static_cast<std::int64_t>(shape.size());
  operands.attributes["axis"] = Value(random.Below(2 * rank) - rank);
  return operands;
}

Operands AvgPool2D(Random& random) {
  const Ints size = EachOf(2, {1, 2, 3}, random);
  const bool channels_last = random.Chance(40);
  const std::int64_t channels = random.Of(Ints{1, 3, 16});
  const std::int64_t height = size[0] + random.Below(8), width = size[1] + random.Below(8);
  Operands operands =
      OfData(channels_last ? Shape{1, height, width, channels} : Shape{2, channels, height, width},
             random);
  attrs::FieldValues& a = operands.attributes;
  a["pool_size"] = ListOf(size);
  if (channels_last) a["layout"] = Value(std::string("NHWC"));
  if (random.Chance(60)) a["strides"] = ListOf(EachOf(2, {1, 2, 3}, random));
  if (random.Chance(50)) a["padding"] = ListOf(EachOf(random.Of(Ints{2, 4}), {0, 1, 2}, random));
  if (random.Chance(20)) a["dilation"] = ListOf(EachOf(2, {1, 2}, random));
  for (const char* flag : {"ceil_mode", "count_include_pad"}) a[flag] = Value(random.Chance(40));
  return operands;
}

}  // namespace

void AddQuantizedOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["qnn.avg_pool2d"] = AvgPool2D;
  t["qnn.concatenate"] = Concatenate;
  t["qnn.dequantize"] = Dequantize;
  t["qnn.leaky_relu"] = LeakyRelu;
  t["qnn.quantize"] = Quantize;
  t["qnn.requantize"] = Requantize;
  t["qnn.softmax"] = Softmax;
  for (const char* name : {"add", "mul", "subtract"}) t[std::string("qnn.") + name] = Binary;
  for (const char* name :
       {"abs", "erf", "exp", "hardswish", "log", "rsqrt", "sigmoid", "sqrt", "tanh"})
    t[std::string("qnn.") + name] = Unary;
}

}  // namespace tenon::verify
