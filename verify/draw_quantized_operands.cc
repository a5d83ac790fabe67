// Quantised operators: data, scales above 0 and zero points, most of which the data's type holds.
#include <cmath>
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/verify/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Types = std::vector<DataType>;

const Types kBytes = {Int8, UInt8};
const Types kQuantized = {Int8, UInt8, Int8, UInt8, Int8, UInt8, Int16, UInt16, Int32};

Shape AnyShape(Random& random, std::int64_t least_rank = 0) {
  Shape shape;
  for (std::int64_t rank = least_rank + random.Below(5 - least_rank); rank > 0; --rank)
    shape.push_back(random.Of(Shape{1, 2, 3, 5, 7, 8, 16, 17, 0}));
  return shape;
}

// Any number of up to 16 bits; of 32 bits one that float32 nearly holds.
NDArray Numbers(const Shape& shape, DataType type, Random& random) {
  const int bits = std::min(type.bits(), 21);
  const auto low = type.is_int() ? -std::ldexp(1.0, bits - 1) : 0.0;
  const bool is_end = random.Chance(10);
  return ArrayOf(shape, type, [&](std::int64_t) {
    const std::int64_t count = std::int64_t{1} << bits;
    return low + static_cast<double>(is_end ? random.Below(2) * (count - 1) : random.Below(count));
  });
}

// How the scales of a call are drawn: powers of two give results that are known to the last bit.
struct Scales {
  Random& random;
  const bool are_powers = random.Chance(40);

  NDArray Make(const Shape& shape = {}) {
    static const std::vector<double>& powers =
        *new std::vector<double>{0.5, 0.25, 0.125, 1, 2, 0x1p-6};
    static const std::vector<double>& any =
        *new std::vector<double>{0.5, 0.03, 0.1, 0.0117, 1, 1.7, 0.3, 0.007};
    static const Types& rare = *new Types{Float64, Float16, BFloat16};
    const DataType type = random.Chance(85) ? Float32 : random.Of(rare);
    return ArrayOf(shape, type, [&](std::int64_t) { return random.Of(are_powers ? powers : any); });
  }
};

// Zero points of numbers of `type`.
NDArray ZeroPoints(const Shape& shape, DataType type, Random& random) {
  const DataType own = random.Chance(75) ? type : Int32;
  const bool is_zero = random.Chance(35);
  const bool is_beyond = own == Int32 && random.Chance(20);
  return ArrayOf(shape, own, [&](std::int64_t) -> double {
    if (is_zero) return 0;
    if (is_beyond) return static_cast<double>(random.Below(900) - 300);
    const std::int64_t count = type.bits() == 8 ? 256 : 1000;
    const std::int64_t low = !type.is_int() ? 0 : -count / 2;
    return static_cast<double>(low + random.Below(count));
  });
}

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

// --- conversions

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
  operands.Add(Numbers(shape, type, random));
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
  operands.Add(Numbers(shape, type, random));
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
    data.push_back(Numbers(own, type, random));
    all_scales.push_back(scales.Make());
    zero_points.push_back(ZeroPoints({}, type, random));
  }
  Operands operands;
  operands.AddTuple(data).AddTuple(all_scales).AddTuple(zero_points);
  AddParameters({}, type, &scales, &operands);
  operands.attributes["axis"] = Value(axis);
  return operands;
}

// --- functions of the numbers that integers stand for

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
  operands.Add(Numbers(shape, type, random)).Add(Numbers(other, type, random));
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
  operands.Add(Numbers(shape, type, random));
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

Ints Each(std::int64_t count, const Ints& of, Random& random) {
  Ints values;
  for (; count > 0; --count) values.push_back(random.Of(of));
  return values;
}

Operands AvgPool2D(Random& random) {
  const Ints size = Each(2, {1, 2, 3}, random);
  const bool channels_last = random.Chance(40);
  const std::int64_t channels = random.Of(Ints{1, 3, 16});
  const std::int64_t height = size[0] + random.Below(8), width = size[1] + random.Below(8);
  Operands operands =
      OfData(channels_last ? Shape{1, height, width, channels} : Shape{2, channels, height, width},
             random);
  attrs::FieldValues& a = operands.attributes;
  a["pool_size"] = ListOf(size);
  if (channels_last) a["layout"] = Value(std::string("NHWC"));
  if (random.Chance(60)) a["strides"] = ListOf(Each(2, {1, 2, 3}, random));
  if (random.Chance(50)) a["padding"] = ListOf(Each(random.Of(Ints{2, 4}), {0, 1, 2}, random));
  if (random.Chance(20)) a["dilation"] = ListOf(Each(2, {1, 2}, random));
  for (const char* flag : {"ceil_mode", "count_include_pad"}) a[flag] = Value(random.Chance(40));
  return operands;
}

// --- products

// Zero points and scales of both operands; those of the weight may be by channel.
void AddProductParameters(std::int64_t channels, Random& random, Operands* to) {
  const Shape each = channels > 0 && random.Chance(40) ? Shape{channels} : Shape{};
  Scales scales{random};
  to->Add(ZeroPoints({}, to->arguments[0].fields[0].dtype(), random));
  to->Add(
      ZeroPoints(random.Chance(80) ? each : Shape{}, to->arguments[1].fields[0].dtype(), random));
  to->Add(scales.Make()).Add(scales.Make(each));
}

Operands Dense(Random& random) {
  const std::int64_t depth = random.Of(Ints{1, 3, 4, 16, 33}),
                     units = random.Of(Ints{1, 5, 16, 17});
  Shape shape = AnyShape(random);
  if (shape.size() > 3) shape.resize(3);
  shape.push_back(depth);
  Operands operands;
  operands.Add(Numbers(shape, random.Of(kBytes), random));
  operands.Add(Numbers({units, depth}, random.Of(kBytes), random));
  AddProductParameters(units, random, &operands);
  if (random.Chance(50)) operands.attributes["units"] = Value(units);
  return operands;
}

Operands BatchMatmul(Random& random) {
  const std::int64_t rows = random.Of(Ints{1, 3, 8}), depth = random.Of(Ints{1, 4, 17}),
                     columns = random.Of(Ints{1, 5, 16}), batch = random.Of(Ints{1, 2, 3});
  const bool turns_left = random.Chance(40), turns_right = random.Chance(60);
  const auto batches = [&] { return random.Chance(20) ? 1 : batch; };
  const Shape left = turns_left ? Shape{batches(), depth, rows} : Shape{batches(), rows, depth};
  const Shape right =
      turns_right ? Shape{batches(), columns, depth} : Shape{batches(), depth, columns};
  Operands operands;
  operands.Add(Numbers(left, random.Of(kBytes), random));
  operands.Add(Numbers(right, random.Of(kBytes), random));
  AddProductParameters(0, random, &operands);
  operands.attributes = {{"transpose_a", Value(turns_left)}, {"transpose_b", Value(turns_right)}};
  return operands;
}

// A shape in the layout whose letters have these extents.
Shape InLayout(const std::string& layout, const std::map<char, std::int64_t>& extents) {
  Shape shape;
  for (const char axis : layout) shape.push_back(extents.at(axis));
  return shape;
}

OperandDrawer Convolution(bool is_transposed) {
  return [is_transposed](Random& random) {
    using Words = std::vector<std::string>;
    const std::int64_t groups = random.Of(Ints{1, 1, 1, 2, 4});
    const std::int64_t of_group = random.Of(Ints{1, 1, 3, 4, 16}),
                       filters = random.Of(Ints{1, 1, 2, 5, 16});
    const Ints kernel = Each(2, {1, 2, 3}, random);
    const bool channels_last = random.Chance(40);
    const std::string layout = channels_last ? "NHWC" : "NCHW";
    const std::string weights = is_transposed   ? random.Of(Words{"IOHW", "IOHW", "HWIO"})
                                : channels_last ? random.Of(Words{"HWIO", "OHWI"})
                                                : random.Of(Words{"OIHW", "OIHW", "HWIO"});
    const std::int64_t channels = groups * of_group, results = groups * filters;
    // Groups are an axis of the weight's inputs where it is transposed, else of its filters.
    const std::int64_t in = is_transposed ? channels : of_group,
                       out = is_transposed ? filters : results;
    Operands operands;
    operands.Add(Numbers(InLayout(layout, {{'N', random.Of(Ints{1, 2})},
                                           {'C', channels},
                                           {'H', kernel[0] + random.Below(7)},
                                           {'W', kernel[1] + random.Below(7)}}),
                         random.Of(kBytes), random));
    operands.Add(
        Numbers(InLayout(weights, {{'I', in}, {'O', out}, {'H', kernel[0]}, {'W', kernel[1]}}),
                random.Of(kBytes), random));
    AddProductParameters(is_transposed && groups != 1 ? 0 : out, random, &operands);
    attrs::FieldValues& a = operands.attributes;
    a["data_layout"] = Value(layout);
    a["kernel_layout"] = Value(weights);
    a["groups"] = Value(groups);
    if (random.Chance(50)) a["channels"] = Value(results);
    if (random.Chance(50)) a["kernel_size"] = ListOf(kernel);
    if (random.Chance(50)) a["strides"] = ListOf(Each(2, {1, 2, 3}, random));
    if (random.Chance(60)) a["padding"] = ListOf(Each(random.Of(Ints{2, 4}), {0, 1, 2}, random));
    if (random.Chance(20)) a["dilation"] = ListOf(Each(2, {1, 2}, random));
    if (is_transposed && random.Chance(30)) a["output_padding"] = ListOf(Each(2, {0, 1}, random));
    return operands;
  };
}

}  // namespace

void AddQuantizedOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["qnn.avg_pool2d"] = AvgPool2D;
  t["qnn.batch_matmul"] = BatchMatmul;
  t["qnn.concatenate"] = Concatenate;
  t["qnn.conv2d"] = Convolution(false);
  t["qnn.conv2d_transpose"] = Convolution(true);
  t["qnn.dense"] = Dense;
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
