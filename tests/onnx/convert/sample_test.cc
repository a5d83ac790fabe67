// Operators that sample, fold, pad and filter images, against their definitions.
#include <cmath>
#include <complex>
#include <limits>

#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

NDArray Floats(const Shape& shape, const std::vector<double>& values) {
  return NDArray::FromVector<float>(shape, std::vector<float>(values.begin(), values.end()));
}

// The element of a volume, 0 outside.
double ElementOf(const float* volume, const Shape& extents, const std::vector<std::int64_t>& at) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (at[d] < 0 || at[d] >= extents[d]) return 0;
    flat = flat * extents[d] + at[d];
  }
  return volume[flat];
}

double Linear(const float* volume, const Shape& extents, const std::vector<double>& at) {
  double sum = 0;
  for (std::size_t corner = 0; corner < std::size_t{1} << extents.size(); ++corner) {
    double weight = 1;
    std::vector<std::int64_t> place;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const double low = std::floor(at[d]), fraction = at[d] - low;
      const bool upper = (corner >> d & 1) != 0;
      place.push_back(static_cast<std::int64_t>(low) + (upper ? 1 : 0));
      weight *= upper ? fraction : 1 - fraction;
    }
    sum += weight * ElementOf(volume, extents, place);
  }
  return sum;
}

double Mirrored(double x, double low, double high) {
  while (x < low || x > high) x = x < low ? 2 * low - x : 2 * high - x;
  return x;
}

TEST(SampleTest, VolumesAreSampledBetweenTheirElements) {
  const Shape extents = {3, 4, 5};
  const NDArray x = Random({2, 2, 3, 4, 5}, 1);
  NDArray grid = Random({2, 2, 3, 1, 3}, Float32, 2, -1.7, 1.7);
  // Between two elements along each axis, or on one.
  for (int i = 0; i < 6; ++i) grid.data<float>()[i] = i < 3 ? 0 : -0.5F;
  for (const char* mode : {"linear", "nearest"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const bool aligned : {false, true}) {
        SCOPED_TRACE(std::string(mode) + " " + padding + (aligned ? " aligned" : ""));
        Model model(20);
        model.InputLike("x", x).InputLike("grid", grid).Output("y");
        NodeProto& node = model.Node("GridSample", {"x", "grid"}, {"y"});
        SetString(node, "mode", mode);
        SetString(node, "padding_mode", padding);
        SetInt(node, "align_corners", aligned ? 1 : 0);
        std::vector<double> expected;
        for (std::int64_t n = 0; n < 2; ++n)
          for (std::int64_t c = 0; c < 2; ++c)
            for (std::int64_t p = 0; p < 6; ++p) {
              std::vector<double> at;
              for (std::size_t d = 0; d < 3; ++d) {
                const auto extent = static_cast<double>(extents[d]);
                const double g =
                    grid.data<float>()[(n * 6 + p) * 3 + 2 - static_cast<std::int64_t>(d)];
                double v = aligned ? (g + 1) / 2 * (extent - 1) : ((g + 1) * extent - 1) / 2;
                if (std::string(padding) == "reflection")
                  v = aligned ? Mirrored(v, 0, extent - 1) : Mirrored(v, -0.5, extent - 0.5);
                if (std::string(padding) != "zeros") v = std::min(std::max(v, 0.0), extent - 1);
                at.push_back(std::string(mode) == "nearest" ? std::nearbyint(v) : v);
              }
              expected.push_back(Linear(x.data<float>() + (n * 2 + c) * 60, extents, at));
            }
        ExpectClose(Computed(model, {{"x", x}, {"grid", grid}})[0],
                    Floats({2, 2, 2, 3, 1}, expected));
      }
    }
  }
}

TEST(SampleTest, PositionsThatAreNoNumbersGiveZero) {
  const NDArray x = Random({1, 1, 2, 2, 2}, 1);
  const NDArray grid = NDArray::FromVector<float>({1, 1, 1, 1, 3}, {std::nanf(""), 0, 0});
  Model model(20);
  model.InputLike("x", x).InputLike("grid", grid).Output("y");
  model.Node("GridSample", {"x", "grid"}, {"y"});
  EXPECT_THAT(Computed(model, {{"x", x}, {"grid", grid}})[0].ToVector<float>(), ElementsAre(0));
}

// The distance of an infinite position from its neighbours is no number. The nearest element of one
// lies outside, and the border is as near as ever where positions are brought back to it.
TEST(SampleTest, InfinitePositionsOfImagesAreNaNWhereNeighboursAreWeighted) {
  const NDArray x = NDArray::FromVector<float>({1, 1, 1, 2}, {3, 5});
  const auto at_infinity = [&](const char* mode, const char* padding) {
    const float inf = std::numeric_limits<float>::infinity();
    const NDArray grid = NDArray::FromVector<float>({1, 1, 2, 2}, {-inf, 0, inf, 0});
    Model model(20);
    model.InputLike("x", x).InputLike("grid", grid).Output("y");
    NodeProto& node = model.Node("GridSample", {"x", "grid"}, {"y"});
    SetString(node, "mode", mode);
    SetString(node, "padding_mode", padding);
    return Computed(model, {{"x", x}, {"grid", grid}})[0].ToVector<float>();
  };
  EXPECT_THAT(at_infinity("linear", "zeros"), Each(IsNan()));
  EXPECT_THAT(at_infinity("cubic", "zeros"), Each(IsNan()));
  EXPECT_THAT(at_infinity("nearest", "zeros"), ElementsAre(0, 0));
  EXPECT_THAT(at_infinity("linear", "border"), ElementsAre(3, 5));
  EXPECT_THAT(at_infinity("cubic", "border"), Each(IsNan()));
  EXPECT_THAT(at_infinity("nearest", "border"), ElementsAre(3, 5));
}

TEST(SampleTest, GridsFollowTheirAffineMaps) {
  for (const bool aligned : {false, true}) {
    for (const bool is_volume : {false, true}) {
      SCOPED_TRACE(is_volume);
      const Ints extents = is_volume ? Ints{2, 3, 4} : Ints{3, 4};
      const auto dims = static_cast<std::int64_t>(extents.size());
      const NDArray theta = Random({2, dims, dims + 1}, 1);
      Ints size = {2, 5};
      size.insert(size.end(), extents.begin(), extents.end());
      Model model(20);
      model.InputLike("theta", theta).Integers("size", size).Output("y");
      SetInt(model.Node("AffineGrid", {"theta", "size"}, {"y"}), "align_corners", aligned ? 1 : 0);
      std::vector<double> expected;
      const std::int64_t points = is_volume ? 24 : 12;
      for (std::int64_t n = 0; n < 2; ++n)
        for (std::int64_t p = 0; p < points; ++p)
          for (std::int64_t d = 0; d < dims; ++d) {
            const float* row = theta.data<float>() + (n * dims + d) * (dims + 1);
            double sum = row[dims];
            std::int64_t rest = p;
            for (std::int64_t k = 0; k < dims; ++k) {
              const std::int64_t extent = extents[static_cast<std::size_t>(dims - 1 - k)];
              const auto i = static_cast<double>(rest % extent), e = static_cast<double>(extent);
              rest /= extent;
              sum += row[k] * (aligned ? -1 + 2 * i / (e - 1) : -1 + (2 * i + 1) / e);
            }
            expected.push_back(sum);
          }
      Shape shape = {2};
      shape.insert(shape.end(), extents.begin(), extents.end());
      shape.push_back(dims);
      ExpectClose(Computed(model, {{"theta", theta}})[0], Floats(shape, expected));
    }
  }
}

TEST(SampleTest, TapsOfADeformableConvolutionAreMovedAndWeighted) {
  constexpr std::int64_t kGroups = 2, kParts = 2, kIn = 4, kOut = 6, kH = 6, kW = 5;
  const Ints kernel = {3, 2}, strides = {2, 1}, pads = {1, 0, 1, 1}, dilations = {1, 2};
  const std::int64_t oh = (kH + 2 - 3) / 2 + 1, ow = (kW + 1 - 3) / 1 + 1, taps = 6;
  const NDArray x = Random({2, kIn, kH, kW}, 1), w = Random({kOut, kIn / kGroups, 3, 2}, 2);
  const NDArray offset = Random({2, kParts * taps * 2, oh, ow}, Float32, 3, -2, 2);
  const NDArray bias = Random({kOut}, 4), mask = Random({2, kParts * taps, oh, ow}, 5);
  Model model(19);
  model.InputLike("x", x).InputLike("w", w).InputLike("o", offset).InputLike("b", bias);
  model.InputLike("m", mask).Output("y");
  NodeProto& node = model.Node("DeformConv", {"x", "w", "o", "b", "m"}, {"y"});
  SetInts(node, "kernel_shape", kernel);
  SetInts(node, "strides", strides);
  SetInts(node, "pads", pads);
  SetInts(node, "dilations", dilations);
  SetInt(node, "group", kGroups);
  SetInt(node, "offset_group", kParts);
  std::vector<double> expected;
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t oc = 0; oc < kOut; ++oc)
      for (std::int64_t i = 0; i < oh; ++i)
        for (std::int64_t j = 0; j < ow; ++j) {
          double sum = bias.data<float>()[oc];
          for (std::int64_t k = 0; k < kIn / kGroups; ++k) {
            const std::int64_t ic = oc / (kOut / kGroups) * (kIn / kGroups) + k;
            const std::int64_t part = ic / (kIn / kParts);
            for (std::int64_t tap = 0; tap < taps; ++tap) {
              const auto moved = [&](std::int64_t axis) -> double {
                return offset
                    .data<float>()[(((n * kParts + part) * taps + tap) * 2 + axis) * oh * ow +
                                   i * ow + j];
              };
              const std::vector<double> at = {
                  static_cast<double>(i * strides[0] - pads[0] + tap / 2 * dilations[0]) + moved(0),
                  static_cast<double>(j * strides[1] - pads[1] + tap % 2 * dilations[1]) +
                      moved(1)};
              sum += Linear(x.data<float>() + (n * kIn + ic) * kH * kW, {kH, kW}, at) *
                     w.data<float>()[(oc * (kIn / kGroups) + k) * taps + tap] *
                     mask.data<float>()[((n * kParts + part) * taps + tap) * oh * ow + i * ow + j];
            }
          }
          expected.push_back(sum);
        }
  ExpectClose(Computed(model, {{"x", x}, {"w", w}, {"o", offset}, {"b", bias}, {"m", mask}})[0],
              Floats({2, kOut, oh, ow}, expected));
}

TEST(SampleTest, ColumnsAreAddedUpToAnImage) {
  const std::int64_t height = 5, width = 6, bh = 2, bw = 3, channels = 2;
  const Ints strides = {1, 2}, pads = {1, 0, 0, 1}, dilations = {2, 1};
  const std::int64_t rows = (height + 1 - 3) / 1 + 1, columns = (width + 1 - 3) / 2 + 1;
  NDArray x = Random({2, channels * bh * bw, rows * columns}, 1);
  // An infinity stays where its column lies.
  x.data<float>()[7] = std::numeric_limits<float>::infinity();
  Model model(18);
  model.InputLike("x", x)
      .Integers("image", {height, width})
      .Integers("block", {bh, bw})
      .Output("y");
  NodeProto& node = model.Node("Col2Im", {"x", "image", "block"}, {"y"});
  SetInts(node, "strides", strides);
  SetInts(node, "pads", pads);
  SetInts(node, "dilations", dilations);
  std::vector<double> expected(static_cast<std::size_t>(2 * channels * height * width));
  for (std::int64_t plane = 0; plane < 2 * channels; ++plane)
    for (std::int64_t tap = 0; tap < bh * bw; ++tap)
      for (std::int64_t block = 0; block < rows * columns; ++block) {
        const std::int64_t r = block / columns * strides[0] - pads[0] + tap / bw * dilations[0];
        const std::int64_t c = block % columns * strides[1] - pads[1] + tap % bw * dilations[1];
        if (r < 0 || r >= height || c < 0 || c >= width) continue;
        expected[static_cast<std::size_t>((plane * height + r) * width + c)] +=
            x.data<float>()[(plane * bh * bw + tap) * rows * columns + block];
      }
  ExpectClose(Computed(model, {{"x", x}})[0], Floats({2, channels, height, width}, expected));
}

// The kernel is as wide as the step, and the weights add up to 1.
TEST(SampleTest, FilteredResizingCountsEveryElement) {
  struct Case {
    std::int64_t in, out;
    bool cubic, excludes;
  };
  for (const Case& c : {Case{11, 4, false, false}, Case{11, 4, true, false}, Case{9, 3, true, true},
                        Case{10, 3, false, true}, Case{5, 8, false, false}, Case{7, 7, true, false},
                        Case{5, 9, true, true}}) {
    SCOPED_TRACE(c.in * 100 + c.out);
    const NDArray x = Random({1, 2, c.in, 3}, 1);
    Model model(19);
    model.InputLike("x", x).Integers("sizes", {1, 2, c.out, 3}).Output("y");
    NodeProto& node = model.Node("Resize", {"x", "", "", "sizes"}, {"y"});
    SetString(node, "mode", c.cubic ? "cubic" : "linear");
    SetInt(node, "antialias", 1);
    SetInt(node, "exclude_outside", c.excludes ? 1 : 0);
    const double scale = static_cast<double>(c.out) / static_cast<double>(c.in);
    const double narrowed = std::min(scale, 1.0), a = -0.75;
    const auto kernel = [&](double t) {
      t = std::fabs(t);
      if (!c.cubic) return std::max(0.0, 1 - t);
      if (t <= 1) return (a + 2) * t * t * t - (a + 3) * t * t + 1;
      return t < 2 ? a * t * t * t - 5 * a * t * t + 8 * a * t - 4 * a : 0;
    };
    std::vector<double> expected;
    for (std::int64_t plane = 0; plane < 2; ++plane)
      for (std::int64_t i = 0; i < c.out; ++i)
        for (std::int64_t column = 0; column < 3; ++column) {
          const double at = (static_cast<double>(i) + 0.5) / scale - 0.5;
          double sum = 0, total = 0;
          for (std::int64_t k = -40; k < c.in + 40; ++k) {
            if (c.excludes && (k < 0 || k >= c.in)) continue;
            const double weight = kernel((static_cast<double>(k) - at) * narrowed);
            const std::int64_t row = std::min(std::max<std::int64_t>(k, 0), c.in - 1);
            sum += weight * x.data<float>()[(plane * c.in + row) * 3 + column];
            total += weight;
          }
          expected.push_back(sum / total);
        }
    ExpectClose(Computed(model, {{"x", x}})[0], Floats({1, 2, c.out, 3}, expected));
  }
}

// The standard's text: x_original = 0 there. The kernel reaches one element to either side, with
// half of the weight, and the element before the first is the first: (0.5 * 1 + 1 * 1 + 0.5 * 2)
// / 2.
TEST(SampleTest, FilteredResizingToOneElementBeginsAtTheFirst) {
  Model model(19);
  model.Input("x", {2}).Integers("sizes", {1}).Output("y");
  NodeProto& node = model.Node("Resize", {"x", "", "", "sizes"}, {"y"});
  SetString(node, "mode", "linear");
  SetString(node, "coordinate_transformation_mode", "pytorch_half_pixel");
  SetInt(node, "antialias", 1);
  const NDArray x = NDArray::FromVector<float>({2}, {1, 2});
  EXPECT_EQ(Computed(model, {{"x", x}})[0].ToVector<float>(), std::vector<float>{1.25F});
}

// Those that a negative width leaves, as in ONNX Runtime and PyTorch.
TEST(PadOpTest, WrappedElementsBeginAgain) {
  const NDArray x = Random({3, 4}, 1);
  Model model(19);
  model.InputLike("x", x).Integers("pads", {2, -1, 7, 5}).Output("y");
  SetString(model.Node("Pad", {"x", "pads"}, {"y"}), "mode", "wrap");
  std::vector<double> expected;
  for (std::int64_t i = -2; i < 10; ++i)
    for (std::int64_t j = 1; j < 9; ++j)
      expected.push_back(x.data<float>()[(i + 3) % 3 * 4 + 1 + (j - 1) % 3]);
  ExpectClose(Computed(model, {{"x", x}})[0], Floats({12, 8}, expected));
}

TEST(PadOpTest, NothingLeftCannotBeginAgain) {
  Model model(19);
  model.Input("x", {4}).Integers("pads", {-4, 2}).Output("y");
  SetString(model.Node("Pad", {"x", "pads"}, {"y"}), "mode", "wrap");
  EXPECT_THAT(ImportOnnx(model.Bytes(), {}).status().message(),
              HasSubstr("axis 0 has 4 elements, of which the widths -4 and 2 leave none"));
}

TEST(PadOpTest, HalvesArePaddedWithZerosWhereNoValueIsGiven) {
  for (const TensorProto::DataType type : {TensorProto::FLOAT16, TensorProto::BFLOAT16}) {
    for (const char* mode : {"constant", "edge", "reflect"}) {
      SCOPED_TRACE(mode);
      Model model(17);
      model.Input("x", {3}).Integers("pads", {1, 1}).Output("y");
      SetInt(model.Node("Cast", {"x"}, {"half"}), "to", type);
      SetString(model.Node("Pad", {"half", "pads"}, {"padded"}), "mode", mode);
      SetInt(model.Node("Cast", {"padded"}, {"y"}), "to", TensorProto::FLOAT);
      const NDArray x = NDArray::FromVector<float>({3}, {1, 2, 4});
      const std::string of = mode;
      const float before = of == "constant" ? 0 : of == "edge" ? 1 : 2;
      const float after = of == "constant" ? 0 : of == "edge" ? 4 : 2;
      EXPECT_EQ(Computed(model, {{"x", x}})[0].ToVector<float>(),
                (std::vector<float>{before, 1, 2, 4, after}));
    }
  }
}

TEST(PadOpTest, TheMiddleIsCutOutOrPutInto) {
  const NDArray x = Random({7, 2, 5}, 1);
  Model model(18);
  model.InputLike("x", x).Integers("shape", {8, 4}).Output("y");
  SetInts(model.Node("CenterCropPad", {"x", "shape"}, {"y"}), "axes", {-1, 0});
  std::vector<double> expected;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 2; ++j)
      for (std::int64_t k = -1; k < 7; ++k)
        expected.push_back(k < 0 || k >= 5 ? 0 : x.data<float>()[((i + 1) * 2 + j) * 5 + k]);
  ExpectClose(Computed(model, {{"x", x}})[0], Floats({4, 2, 8}, expected));
}

TEST(UniqueOpTest, SlicesOfAConstantAreFound) {
  const std::vector<std::int64_t> rows = {3, 1, 9, 2, 3, 1, 9, 0, 9, 2, 3, 1};
  for (const bool sorted : {true, false}) {
    Model model(13);
    model.Initializer("x", NDArray::FromVector<std::int64_t>({6, 2}, rows));
    for (const char* name : {"y", "first", "inverse", "counts"}) model.Output(name);
    NodeProto& node = model.Node("Unique", {"x"}, {"y", "first", "inverse", "counts"});
    SetInt(node, "axis", 0);
    SetInt(node, "sorted", sorted ? 1 : 0);
    const std::vector<NDArray> results = Computed(model, {});
    const auto values = [&](std::size_t i) { return results.at(i).ToVector<std::int64_t>(); };
    if (sorted) {
      EXPECT_THAT(values(0), ElementsAre(3, 1, 9, 0, 9, 2));
      EXPECT_THAT(values(1), ElementsAre(0, 3, 1));
      EXPECT_THAT(values(2), ElementsAre(0, 2, 0, 1, 2, 0));
      EXPECT_THAT(values(3), ElementsAre(3, 1, 2));
    } else {
      EXPECT_THAT(values(0), ElementsAre(3, 1, 9, 2, 9, 0));
      EXPECT_THAT(values(1), ElementsAre(0, 1, 3));
      EXPECT_THAT(values(2), ElementsAre(0, 1, 0, 2, 1, 0));
      EXPECT_THAT(values(3), ElementsAre(3, 2, 1));
    }
  }
}

// numpy.fft.irfft: the second half of the spectrum mirrors the first.
TEST(FourierOpTest, HalfASpectrumBecomesARealSignal) {
  for (const std::int64_t n : {0, 8, 9, 5, 14}) {
    SCOPED_TRACE(n);
    const NDArray x = Random({2, 5, 2}, 1);
    Model model(20);
    model.InputLike("x", x).Output("y");
    Names inputs = {"x"};
    if (n != 0) {
      model.Initializer("n", NDArray::Scalar<std::int64_t>(n));
      inputs.push_back("n");
    }
    NodeProto& node = model.Node("DFT", inputs, {"y"}, "transform");
    SetInt(node, "inverse", 1);
    SetInt(node, "onesided", 1);
    const std::int64_t length = n == 0 ? 8 : n;
    std::vector<double> expected;
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t t = 0; t < length; ++t) {
        std::complex<double> sum = 0;
        for (std::int64_t k = 0; k < length; ++k) {
          const std::int64_t bin = k <= length / 2 ? k : length - k;
          if (bin >= 5) continue;
          std::complex<double> value = {x.data<float>()[(b * 5 + bin) * 2],
                                        x.data<float>()[(b * 5 + bin) * 2 + 1]};
          if (bin == 0 || 2 * bin == length) value = value.real();
          if (k > length / 2) value = std::conj(value);
          sum += value * std::polar(1.0, 2 * M_PI * static_cast<double>(k * t) /
                                             static_cast<double>(length));
        }
        expected.push_back(sum.real() / static_cast<double>(length));
      }
    ExpectClose(Computed(model, {{"x", x}})[0], Floats({2, length, 1}, expected));
  }
}

TEST(SampleTest, WhatDoesNotFitIsNamed) {
  Model columns(18);
  columns.Input("x", {1, 5, 5}).Integers("image", {5, 5}).Integers("block", {1, 5}).Output("y");
  columns.Node("Col2Im", {"x", "image", "block"}, {"y"}, "fold");
  EXPECT_TRUE(Imported(columns).ok());
  columns.proto.mutable_graph()->mutable_initializer(1)->set_int64_data(1, 4);
  EXPECT_THAT(MessageOf(Imported(columns), kInvalid),
              AllOf(HasSubstr("fold (Col2Im)"), HasSubstr("10 blocks of 4 elements")));
  Model grid(20);
  grid.Input("theta", {1, 2, 3}).Integers("size", {1, 1, 2, 3, 4}).Output("y");
  grid.Node("AffineGrid", {"theta", "size"}, {"y"}, "grid");
  EXPECT_THAT(MessageOf(Imported(grid), kInvalid),
              AllOf(HasSubstr("grid (AffineGrid)"), HasSubstr("(n, 3, 4)")));
}

}  // namespace
}  // namespace tenon::onnx_import
