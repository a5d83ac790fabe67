// Operators of windows: convolutions over blocks of channels and morphology, whose layouts must fit
// each other, and local response normalisation.
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Words = std::vector<std::string>;

const std::vector<DataType> kNumbers = {Float32, Float32, Float32, Float64, Float16,
                                        Int8,    UInt8,   Int32,   BFloat16};

// Of a window of `kernel` elements: mostly larger than it, sometimes with padding beyond it.
std::int64_t ExtentFor(std::int64_t kernel, Random& random) {
  return random.Chance(90) ? kernel + random.Below(8) : 1 + random.Below(3);
}

void AddWindow(const char* dilation, Random& random, attrs::FieldValues* to) {
  attrs::FieldValues& a = *to;
  if (random.Chance(50)) a["strides"] = ListOf(EachOf(2, {1, 2, 3}, random));
  if (random.Chance(60)) a["padding"] = ListOf(EachOf(random.Of(Ints{1, 2, 4}), {0, 1, 2}, random));
  if (random.Chance(25)) a[dilation] = ListOf(EachOf(2, {1, 2, 3}, random));
}

OperandDrawer BlockedConvolution(bool is_depthwise) {
  return [is_depthwise](Random& random) {
    const Ints blocks = {1, 2, 3, 4, 8, 16};
    const std::int64_t block = random.Of(blocks),
                       out_block = is_depthwise ? block : random.Of(blocks);
    const std::int64_t groups = is_depthwise ? 1 : random.Of(Ints{1, 1, 2, 3});
    const std::int64_t inputs = random.Of(Ints{1, 1, 2, 3}), filters = random.Of(Ints{1, 1, 2, 3});
    const Ints kernel = EachOf(2, {1, 2, 3, 5}, random);
    const DataType type = random.Of(kNumbers);
    const std::int64_t in_block = is_depthwise ? 1 : block;
    Operands operands;
    operands.Add(RandomArray({random.Of(Ints{1, 2, 0}), groups * inputs,
                              ExtentFor(kernel[0], random), ExtentFor(kernel[1], random), block},
                             type, random));
    operands.Add(RandomArray({is_depthwise ? inputs : groups * filters, is_depthwise ? 1 : inputs,
                              kernel[0], kernel[1], in_block, out_block},
                             type, random));
    attrs::FieldValues& a = operands.attributes;
    a["data_layout"] = Value(StrCat("NCHW", block, "c"));
    a["kernel_layout"] = Value(StrCat("OIHW", in_block, "i", out_block, "o"));
    if (random.Chance(50)) a["out_layout"] = Value(StrCat("NCHW", out_block, "c"));
    a["groups"] = Value(is_depthwise ? inputs * block : groups);
    if (type.bits() == 8 && random.Chance(70)) a["out_dtype"] = Value(Int32);
    AddWindow("dilation", random, &a);
    return operands;
  };
}

Operands Dilation2D(Random& random) {
  const Ints kernel = EachOf(2, {1, 2, 3}, random);
  const std::int64_t channels = random.Of(Ints{1, 2, 3, 16});
  const DataType type = random.Of(kNumbers);
  const std::string layout = random.Of(Words{"NCHW", "NHWC"}),
                    weights = random.Of(Words{"IHW", "HWI"});
  Operands operands;
  operands.Add(RandomArray(ShapeInLayout(layout, {{'N', random.Of(Ints{1, 2, 0})},
                                                  {'C', channels},
                                                  {'H', ExtentFor(kernel[0], random)},
                                                  {'W', ExtentFor(kernel[1], random)}}),
                           type, random));
  operands.Add(RandomArray(
      ShapeInLayout(weights, {{'I', channels}, {'H', kernel[0]}, {'W', kernel[1]}}), type, random));
  operands.attributes = {{"data_layout", Value(layout)}, {"kernel_layout", Value(weights)}};
  AddWindow("dilations", random, &operands.attributes);
  return operands;
}

// Without poles, at which rounding decides between large numbers and infinities.
Operands LocalResponse(Random& random) {
  const Shape shape = AnyShape(random, 1);
  const auto rank = static_cast<std::int64_t>(shape.size());
  using Reals = std::vector<double>;
  Operands operands;
  // Squares of the large ones are beyond float16.
  const double step = random.Of(Reals{0.25, 0.25, 0.25, 64});
  operands.Add(
      ArrayOf(shape, random.Of(std::vector<DataType>{Float32, Float32, Float64, Float16, BFloat16}),
              [&](std::int64_t) { return step * static_cast<double>(random.Below(17) - 8); }));
  operands.attributes = {{"size", Value(random.Of(Ints{1, 2, 3, 4, 5, 7, 33}))},
                         {"axis", Value(random.Below(2 * rank) - rank)},
                         {"bias", Value(random.Of(Reals{1, 2, 0.5}))},
                         {"alpha", Value(random.Of(Reals{0, 1e-4, 0.5, 3}))},
                         {"beta", Value(random.Of(Reals{0.75, 0.5, 1, 0, -1, 2}))}};
  return operands;
}

}  // namespace

void AddWindowOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["image.dilation2d"] = Dilation2D;
  t["nn.lrn"] = LocalResponse;
  t["nn.contrib_conv2d_NCHWc"] = BlockedConvolution(false);
  t["nn.contrib_depthwise_conv2d_NCHWc"] = BlockedConvolution(true);
}

}  // namespace tenon::verify
