// Convolutions over one to three axes, transposed ones, and correlation: groups, layouts of both
// operands, windows that begin and end in the padding.
#include <numeric>
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;

const std::vector<DataType> kNumbers = {Float32, Float32, Float32, Float32, Float64, Float16,
                                        Int8,    UInt8,   Int32,   Int64,   BFloat16};

// An order of the letters: the usual one in half of the draws.
std::string AnyLayout(const std::string& usual, Random& random) {
  std::string letters = usual;
  if (random.Chance(50)) return letters;
  for (std::size_t i = letters.size(); i > 1; --i)
    std::swap(letters[i - 1], letters[At(random.Below(static_cast<std::int64_t>(i)))]);
  return letters;
}
std::string DataLayout(const std::string& spatial, Random& random) {
  const std::string last = StrCat("N", spatial, "C");
  return random.Chance(35) ? last : AnyLayout(StrCat("NC", spatial), random);
}

// A value for all axes, or for each.
Ints ForAxes(std::size_t dims, const Ints& of, Random& random) {
  return EachOf(random.Chance(25) ? 1 : static_cast<std::int64_t>(dims), of, random);
}

struct Channels {
  std::int64_t groups, of_group, filters;  // the latter of a group

  explicit Channels(Random& random)
      : groups(random.Of(Ints{1, 1, 2, 3})),
        of_group(random.Of(Ints{1, 2, 3, 4, 8, 16})),
        filters(random.Of(Ints{1, 2, 3, 4, 8, 16, 17})) {
    if (!random.Chance(30)) return;
    // Each channel is a group.
    groups = random.Of(Ints{1, 3, 8, 16, 17, 32, 64});
    of_group = 1;
    filters = random.Chance(70) ? 1 : 2;
  }
};

// Strides over a padded image that leave as much unread at its end as the padding adds. What is
// read is then as large as the image without its padding.
void LeaveAsMuchAsIsPadded(std::size_t dims, const std::string& spatial, const Ints& kernel,
                           std::map<char, std::int64_t>* data, attrs::FieldValues* a,
                           Random& random) {
  const std::int64_t stride = 2 + random.Below(2);
  Ints padding(2 * dims);
  for (std::size_t d = 0; d < dims; ++d) {
    (*data)[spatial[d]] = kernel[d] + stride * random.Below(4);
    padding[d] = random.Below(stride);
    padding[d + dims] = stride - 1 - padding[d];
  }
  (*a)["strides"] = ListOf(Ints(dims, stride));
  (*a)["padding"] = ListOf(padding);
}

OperandDrawer Convolution(std::size_t dims, bool is_transposed) {
  return [dims, is_transposed](Random& random) {
    const std::string spatial = std::string("DHW").substr(3 - dims);
    const Channels channels(random);
    const std::int64_t in = channels.groups * channels.of_group,
                       out = channels.groups * channels.filters;
    const Ints taps = dims == 3 ? Ints{1, 2, 3} : Ints{1, 2, 3, 3, 5};
    std::map<char, std::int64_t> data = {{'N', random.Of(Ints{1, 1, 2, 3})}, {'C', in}};
    std::map<char, std::int64_t> weight = {{'I', is_transposed ? in : channels.of_group},
                                           {'O', is_transposed ? channels.filters : out}};
    if (random.Chance(2)) data['N'] = 0;
    Ints kernel;
    const bool is_square = random.Chance(50);
    for (const char letter : spatial) {
      kernel.push_back(is_square && !kernel.empty() ? kernel[0] : random.Of(taps));
      weight[letter] = kernel.back();
      data[letter] = random.Chance(90) ? kernel.back() + random.Below(dims == 3 ? 5 : 14)
                                       : 1 + random.Below(3);
    }
    Operands operands;
    attrs::FieldValues& a = operands.attributes;
    const bool leaves_some = !is_transposed && random.Chance(15);
    if (leaves_some) LeaveAsMuchAsIsPadded(dims, spatial, kernel, &data, &a, random);
    const DataType type = random.Of(kNumbers);
    const std::string layout = DataLayout(spatial, random);
    const std::string weights = AnyLayout(StrCat(is_transposed ? "IO" : "OI", spatial), random);
    operands.Add(RandomArray(ShapeInLayout(layout, data), type, random));
    const DataType of_weight = type.bits() == 8 && random.Chance(30) ? Int8 : type;
    operands.Add(RandomArray(ShapeInLayout(weights, weight), of_weight, random));
    a["data_layout"] = Value(layout);
    a["kernel_layout"] = Value(weights);
    if (random.Chance(15)) a["out_layout"] = Value(DataLayout(spatial, random));
    a["groups"] = Value(channels.groups);
    if (type.bits() == 8 && random.Chance(80)) a["out_dtype"] = Value(Int32);
    if (type.bits() != 8 && random.Chance(10))
      a["out_dtype"] = Value(random.Of(std::vector<DataType>{Float32, Float64, Int32, Float16}));
    if (random.Chance(40)) a["channels"] = Value(out);
    if (random.Chance(40)) a["kernel_size"] = ListOf(kernel);
    if (leaves_some) return operands;
    if (random.Chance(50)) a["strides"] = ListOf(ForAxes(dims, {1, 2, 3}, random));
    if (random.Chance(30)) a["dilation"] = ListOf(ForAxes(dims, {1, 2, 3}, random));
    if (random.Chance(65)) {
      const bool by_side = random.Chance(30);
      a["padding"] = ListOf(by_side ? EachOf(static_cast<std::int64_t>(2 * dims), {0, 1, 2}, random)
                                    : ForAxes(dims, {0, 1, 1, 2}, random));
    }
    if (is_transposed && random.Chance(30))
      a["output_padding"] = ListOf(ForAxes(dims, {0, 1, 2}, random));
    return operands;
  };
}

Operands Correlation(Random& random) {
  const DataType type = random.Of(std::vector<DataType>{Float32, Float32, Float64, Float16});
  const std::int64_t kernel = random.Of(Ints{1, 1, 3, 5}), reach = random.Below(4);
  const Ints padding = EachOf(random.Of(Ints{1, 2, 4}), {0, 1, 2, 3}, random);
  const auto extent = [&] { return 2 * reach + kernel + random.Below(5); };
  const Shape shape = {random.Of(Ints{1, 2}), random.Of(Ints{1, 2, 3, 16}), extent(), extent()};
  Operands operands;
  operands.Add(RandomArray(shape, type, random)).Add(RandomArray(shape, type, random));
  operands.attributes = {{"kernel_size", Value(kernel)},
                         {"max_displacement", Value(reach)},
                         {"stride1", Value(1 + random.Below(3))},
                         {"stride2", Value(1 + random.Below(3))},
                         {"padding", ListOf(padding)},
                         {"is_multiply", Value(random.Chance(50))}};
  return operands;
}

}  // namespace

void AddConvolutionOperands(OperandTable* table) {
  OperandTable& t = *table;
  for (std::size_t dims = 1; dims <= 3; ++dims) {
    t[StrCat("nn.conv", dims, "d")] = Convolution(dims, false);
    t[StrCat("nn.conv", dims, "d_transpose")] = Convolution(dims, true);
  }
  t["nn.correlation"] = Correlation;
}

}  // namespace tenon::verify
