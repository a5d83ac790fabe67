// Products of quantised tensors.
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/verify/define/quantized_numbers.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;

const std::vector<DataType> kBytes = {Int8, UInt8};

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
  operands.Add(QuantizedNumbers(shape, random.Of(kBytes), random));
  operands.Add(QuantizedNumbers({units, depth}, random.Of(kBytes), random));
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
  operands.Add(QuantizedNumbers(left, random.Of(kBytes), random));
  operands.Add(QuantizedNumbers(right, random.Of(kBytes), random));
  AddProductParameters(0, random, &operands);
  operands.attributes = {{"transpose_a", Value(turns_left)}, {"transpose_b", Value(turns_right)}};
  return operands;
}

OperandDrawer Convolution(bool is_transposed) {
  return [is_transposed](Random& random) {
    using Words = std::vector<std::string>;
    const std::int64_t groups = random.Of(Ints{1, 1, 1, 2, 4});
    const std::int64_t of_group = random.Of(Ints{1, 1, 3, 4, 16}),
                       filters = random.Of(Ints{1, 1, 2, 5, 16});
    const Ints kernel = EachOf(2, {1, 2, 3}, random);
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
    operands.Add(QuantizedNumbers(ShapeInLayout(layout, {{'N', random.Of(Ints{1, 2})},
                                                         {'C', channels},
                                                         {'H', kernel[0] + random.Below(7)},
                                                         {'W', kernel[1] + random.Below(7)}}),
                                  random.Of(kBytes), random));
    operands.Add(QuantizedNumbers(
        ShapeInLayout(weights, {{'I', in}, {'O', out}, {'H', kernel[0]}, {'W', kernel[1]}}),
        random.Of(kBytes), random));
    AddProductParameters(is_transposed && groups != 1 ? 0 : out, random, &operands);
    attrs::FieldValues& a = operands.attributes;
    a["data_layout"] = Value(layout);
    a["kernel_layout"] = Value(weights);
    a["groups"] = Value(groups);
    if (random.Chance(50)) a["channels"] = Value(results);
    if (random.Chance(50)) a["kernel_size"] = ListOf(kernel);
    if (random.Chance(50)) a["strides"] = ListOf(EachOf(2, {1, 2, 3}, random));
    if (random.Chance(60)) a["padding"] = ListOf(EachOf(random.Of(Ints{2, 4}), {0, 1, 2}, random));
    if (random.Chance(20)) a["dilation"] = ListOf(EachOf(2, {1, 2}, random));
    if (is_transposed && random.Chance(30)) a["output_padding"] = ListOf(EachOf(2, {0, 1}, random));
    return operands;
  };
}

}  // namespace

void AddQuantizedProducts(OperandTable* table) {
  OperandTable& t = *table;
  t["qnn.batch_matmul"] = BatchMatmul;
  t["qnn.conv2d"] = Convolution(false);
  t["qnn.conv2d_transpose"] = Convolution(true);
  t["qnn.dense"] = Dense;
}

}  // namespace tenon::verify
