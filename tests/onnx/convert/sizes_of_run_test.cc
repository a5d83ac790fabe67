// AffineGrid, Col2Im, MaxUnpool, DFT and SplitToSequence where a run says how large results are.
// Models are compiled once; loops over the definitions say what is right.
#include <cmath>
#include <complex>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr auto kInt64 = TensorProto::INT64;

NDArray Vector(const Ints& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}
NDArray Floats(const Shape& shape, const std::vector<double>& values) {
  return NDArray::FromVector<float>(shape, std::vector<float>(values.begin(), values.end()));
}

// A model compiled once for all extents, which the interpreter runs, too.
class Compiled {
 public:
  explicit Compiled(const Model& model) {
    const ir::Module module = ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()));
    typed_ = passes::InferType(module);
    exe_ = ValueOrThrow(Compile(module, {.verify = true, .check_bounds = true}));
  }
  std::vector<NDArray> Results(const runtime::Inputs& inputs) const {
    std::vector<NDArray> in_order;
    for (const ir::Expr& param : typed_.Main().params)
      in_order.push_back(inputs.at(ir::Var(param).name()));
    const std::vector<NDArray> results = ValueOrThrow(exe_->Run(inputs));
    ExpectClose(results, verify::Interpret(typed_, in_order));
    return results;
  }
  std::string Refusal(const runtime::Inputs& inputs) const {
    const auto result = exe_->Run(inputs);
    return result.ok() ? "it was taken" : std::string(result.status().message());
  }

 private:
  ir::Module typed_;
  std::optional<Executable> exe_;
};

// --- AffineGrid

// The places of `size`, (n, channels, ...), by the definition.
NDArray GridOf(const NDArray& theta, const Ints& size, bool aligned) {
  const std::size_t dims = size.size() - 2;
  const Ints extents(size.begin() + 2, size.end());
  const std::int64_t points = NumElements(extents), n = size[0];
  std::vector<double> values;
  for (std::int64_t b = 0; b < n; ++b)
    for (std::int64_t point = 0; point < points; ++point) {
      std::vector<double> at(dims + 1, 1.0);
      std::int64_t rest = point;
      for (std::size_t d = dims; d-- > 0;) {
        const auto i = static_cast<double>(rest % extents[d]);
        const auto count = static_cast<double>(extents[d]);
        rest /= extents[d];
        const double from_corner = count > 1 ? 2 * i / (count - 1) - 1 : 0;
        at[dims - 1 - d] = aligned ? from_corner : (2 * i + 1) / count - 1;
      }
      for (std::size_t row = 0; row < dims; ++row) {
        double sum = 0;
        for (std::size_t column = 0; column <= dims; ++column)
          sum +=
              at[column] *
              theta.data<float>()[(static_cast<std::size_t>(b) * dims + row) * (dims + 1) + column];
        values.push_back(sum);
      }
    }
  Shape shape = {n};
  shape.insert(shape.end(), extents.begin(), extents.end());
  shape.push_back(static_cast<std::int64_t>(dims));
  return Floats(shape, values);
}

class AffineGridOfRunTest : public ::testing::TestWithParam<bool> {};

TEST_P(AffineGridOfRunTest, HasTheSizeThatARunGives) {
  Model model(20);
  NamedInput(model, "theta", {"n", "2", "3"}).Input("size", {4}, kInt64).Output("y");
  SetInt(model.Node("AffineGrid", {"theta", "size"}, {"y"}, "grid"), "align_corners",
         GetParam() ? 1 : 0);
  const Compiled compiled(model);
  for (const Ints& size :
       {Ints{2, 1, 3, 5}, {1, 7, 1, 1}, {3, 2, 1, 17}, {2, 3, 16, 4}, {2, 3, 0, 4}}) {
    const NDArray theta = Random({size[0], 2, 3}, 1);
    ExpectClose(compiled.Results({{"theta", theta}, {"size", Vector(size)}})[0],
                GridOf(theta, size, GetParam()));
  }
  EXPECT_THAT(compiled.Refusal({{"theta", Random({2, 2, 3}, 1)}, {"size", Vector({3, 1, 4, 5})}}),
              HasSubstr("grid (AffineGrid)"));
  EXPECT_THAT(compiled.Refusal({{"theta", Random({1, 2, 3}, 1)}, {"size", Vector({0, 1, 0, 5})}}),
              HasSubstr("grid (AffineGrid)"));
  EXPECT_THAT(compiled.Refusal({{"theta", Random({2, 2, 3}, 1)}, {"size", Vector({2, 1, -4, 5})}}),
              HasSubstr("grid (AffineGrid)"));
}

// As in spatial transformers: the grid is as large as an image of any extents.
TEST_P(AffineGridOfRunTest, MayBeThatOfAVolume) {
  Model model(20);
  NamedInput(model, "x", {"n", "1", "d", "h", "w"});
  NamedInput(model, "theta", {"n", "3", "4"}).Output("y");
  model.Node("Shape", {"x"}, {"size"});
  SetInt(model.Node("AffineGrid", {"theta", "size"}, {"y"}), "align_corners", GetParam() ? 1 : 0);
  std::vector<runtime::Inputs> runs;
  for (const Shape& shape : {Shape{1, 1, 2, 3, 5}, Shape{3, 1, 1, 1, 7}, Shape{2, 1, 8, 1, 4}})
    runs.push_back({{"x", Random(shape, 1)}, {"theta", Random({shape[0], 3, 4}, 2)}});
  const auto results = ExpectRightForAll(model, runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ExpectClose(results.at(i).at(0),
                GridOf(runs[i].at("theta"), runs[i].at("x").shape(), GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Corners, AffineGridOfRunTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Aligned" : "NotAligned"; });

// --- Col2Im

struct Columns {
  Ints block, strides, dilations, pads;

  Ints CountsIn(const Ints& image) const {
    Ints counts;
    for (std::size_t d = 0; d < image.size(); ++d)
      counts.push_back(
          (image[d] + pads[d] + pads[d + image.size()] - dilations[d] * (block[d] - 1) - 1) /
              strides[d] +
          1);
    return counts;
  }
};

NDArray ImageOf(const NDArray& x, const Ints& image, const Columns& of) {
  const Ints counts = of.CountsIn(image);
  const std::int64_t taps = NumElements(of.block), blocks = NumElements(counts);
  const std::int64_t pixels = NumElements(image), planes = x.shape()[0] * x.shape()[1] / taps;
  std::vector<double> sums(static_cast<std::size_t>(planes * pixels));
  for (std::int64_t plane = 0; plane < planes; ++plane)
    for (std::int64_t tap = 0; tap < taps; ++tap)
      for (std::int64_t block = 0; block < blocks; ++block) {
        std::int64_t of_tap = tap, of_block = block, flat = 0, scale = 1;
        bool is_inside = true;
        for (std::size_t d = image.size(); d-- > 0;) {
          const std::int64_t at = of_block % counts[d] * of.strides[d] - of.pads[d] +
                                  of_tap % of.block[d] * of.dilations[d];
          is_inside = is_inside && at >= 0 && at < image[d];
          flat += at * scale;
          scale *= image[d];
          of_tap /= of.block[d];
          of_block /= counts[d];
        }
        if (!is_inside) continue;
        sums[static_cast<std::size_t>(plane * pixels + flat)] +=
            x.data<float>()[(plane * taps + tap) * blocks + block];
      }
  Shape shape = {x.shape()[0], x.shape()[1] / taps};
  shape.insert(shape.end(), image.begin(), image.end());
  return Floats(shape, sums);
}

TEST(Col2ImOfRunTest, ColumnsAreAddedUpToAnImageOfAnySize) {
  const std::vector<std::pair<Columns, std::vector<Ints>>> cases = {
      {{{2, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}}, {{2, 3}, {5, 6}, {16, 7}}},
      {{{3, 3}, {2, 1}, {1, 2}, {1, 0, 0, 1}}, {{3, 5}, {8, 8}, {5, 17}}},
      {{{4}, {3}, {1}, {2, 1}}, {{1}, {13}, {32}}}};
  for (const auto& [of, images] : cases) {
    const std::size_t dims = of.block.size();
    Model model(18);
    NamedInput(model, "x", {"n", std::to_string(2 * NumElements(of.block)), "blocks"});
    model.Input("image", {static_cast<std::int64_t>(dims)}, kInt64).Integers("block", of.block);
    model.Output("y");
    NodeProto& node = model.Node("Col2Im", {"x", "image", "block"}, {"y"}, "fold");
    SetInts(node, "strides", of.strides);
    SetInts(node, "dilations", of.dilations);
    SetInts(node, "pads", of.pads);
    const Compiled compiled(model);
    for (const Ints& image : images) {
      const NDArray x = Random({2, 2 * NumElements(of.block), NumElements(of.CountsIn(image))}, 1);
      ExpectClose(compiled.Results({{"x", x}, {"image", Vector(image)}})[0], ImageOf(x, image, of));
    }
    const NDArray wrong = Random({2, 2 * NumElements(of.block), 101}, 1);
    EXPECT_THAT(compiled.Refusal({{"x", wrong}, {"image", Vector(images.back())}}),
                HasSubstr("fold (Col2Im)"));
  }
}

// The extents are expressions of those of another input.
TEST(Col2ImOfRunTest, TheImageMayBeThatOfAnotherInput) {
  const Columns of = {{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}};
  Model model(18);
  NamedInput(model, "like", {"n", "1", "2*h", "2*w"});
  NamedInput(model, "x", {"n", "12", "blocks"}).Output("y");
  model.Integers("block", {2, 2}).Integers("from", {2}).Integers("to", {4});
  model.Node("Shape", {"like"}, {"shape"});
  model.Node("Slice", {"shape", "from", "to"}, {"image"});
  SetInts(model.Node("Col2Im", {"x", "image", "block"}, {"y"}), "strides", of.strides);
  std::vector<runtime::Inputs> runs;
  const std::vector<Ints> images = {{2, 2}, {6, 14}, {16, 4}};
  for (const Ints& image : images)
    runs.push_back({{"like", Random({3, 1, image[0], image[1]}, 1)},
                    {"x", Random({3, 12, image[0] * image[1] / 4}, 2)}});
  const auto results = ExpectRightForAll(model, runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    ExpectClose(results.at(i).at(0), ImageOf(runs[i].at("x"), images[i], of));
}

// The last images have no elements.
TEST(Col2ImOfRunTest, ColumnsOfNoBlocksAreAnImageOfZeros) {
  for (const auto& [before, sizes] : {std::pair(0, Shape{7, 2}), std::pair(3, Shape{5, 0})}) {
    const Columns of = {{3}, {1}, {1}, {before, 0}};
    Model model(18);
    NamedInput(model, "like", {"#h"});
    NamedInput(model, "x", {"n", "6", "#blocks"}).Output("y");
    model.Integers("block", of.block);
    model.Node("Shape", {"like"}, {"image"});
    SetInts(model.Node("Col2Im", {"x", "image", "block"}, {"y"}), "pads", of.pads);
    std::vector<runtime::Inputs> runs;
    for (const std::int64_t size : sizes)
      runs.push_back({{"like", Random({size}, 1)}, {"x", Random({2, 6, size + before - 2}, 2)}});
    const auto results = ExpectRightForAll(model, runs);
    for (std::size_t i = 0; i < runs.size(); ++i)
      ExpectClose(results.at(i).at(0), ImageOf(runs[i].at("x"), runs[i].at("like").shape(), of));
  }
}

// --- MaxUnpool

TEST(MaxUnpoolOfRunTest, TheResultIsAsLargeAsARunSays) {
  Model model(12);
  NamedInput(model, "x", {"n", "c", "h", "w"});
  NamedInput(model, "places", {"n", "c", "h", "w"}, kInt64);
  model.Input("shape", {4}, kInt64).Output("y");
  NodeProto& node = model.Node("MaxUnpool", {"x", "places", "shape"}, {"y"}, "back");
  SetInts(node, "kernel_shape", {2, 2});
  SetInts(node, "strides", {2, 2});
  const Compiled compiled(model);
  const NDArray x = Random({2, 3, 2, 3}, 1);
  // The last element of each window of an image of 4 x 6, counted through all planes.
  NDArray places = NDArray::Empty({2, 3, 2, 3}, Int64);
  for (std::int64_t i = 0; i < places.size(); ++i)
    places.data<std::int64_t>()[i] = i / 6 * 24 + (i / 3 % 2 * 2 + 1) * 6 + i % 3 * 2 + 1;
  for (const auto& [height, width] :
       {std::pair<std::int64_t, std::int64_t>(4, 6), {5, 6}, {9, 17}}) {
    std::vector<double> expected(static_cast<std::size_t>(6 * height * width));
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const std::int64_t row = i / 3 % 2 * 2 + 1, column = i % 3 * 2 + 1;
      expected[static_cast<std::size_t>((i / 6 * height + row) * width + column)] =
          x.data<float>()[i];
    }
    const auto results =
        compiled.Results({{"x", x}, {"places", places}, {"shape", Vector({2, 3, height, width})}});
    ExpectClose(results[0], Floats({2, 3, height, width}, expected));
  }
  EXPECT_THAT(compiled.Refusal({{"x", x}, {"places", places}, {"shape", Vector({2, 3, 3, 6})}}),
              AllOf(HasSubstr("back (MaxUnpool)"),
                    HasSubstr("output_shape must be as large as what was pooled")));
}

// --- DFT

struct Spectrum {
  bool is_complex, inverse, onesided;
};

// Of x (rows, have, 1 or 2), transformed along the second axis.
NDArray TransformOf(const NDArray& x, std::int64_t n, const Spectrum& of) {
  const std::int64_t rows = x.shape()[0], have = x.shape()[1], parts = x.shape()[2];
  const bool is_real = of.inverse && of.onesided;
  const std::int64_t made = of.onesided && !of.inverse ? n / 2 + 1 : n;
  const auto element = [&](std::int64_t row, std::int64_t i) -> std::complex<double> {
    if (i >= have) return 0;
    const float* at = x.data<float>() + (row * have + i) * parts;
    return {at[0], parts == 2 ? at[1] : 0.0F};
  };
  std::vector<double> values;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < made; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        std::complex<double> value = element(row, i);
        if (is_real) {  // the second half of the spectrum mirrors the first
          value = element(row, i <= n / 2 ? i : n - i);
          if (i == 0 || 2 * i == n) value = value.real();
          if (i > n / 2) value = std::conj(value);
        }
        const double turn = 2 * M_PI * static_cast<double>(i * k % n) / static_cast<double>(n);
        sum += value * std::polar(1.0, of.inverse ? turn : -turn);
      }
      if (of.inverse) sum /= static_cast<double>(n);
      values.push_back(sum.real());
      if (!is_real) values.push_back(sum.imag());
    }
  return Floats({rows, made, is_real ? 1 : 2}, values);
}

constexpr Spectrum kSpectra[] = {{false, false, false},
                                 {false, false, true},
                                 {true, false, false},
                                 {true, true, false},
                                 {true, true, true}};

Model TransformModel(const Spectrum& of, const Names& inputs) {
  Model model(20);
  NamedInput(model, "x", {"rows", "have", of.is_complex ? "2" : "1"}).Output("y");
  if (inputs.size() > 1) model.Input("n", {}, kInt64);
  NodeProto& node = model.Node("DFT", inputs, {"y"}, "transform");
  SetInt(node, "inverse", of.inverse ? 1 : 0);
  SetInt(node, "onesided", of.onesided ? 1 : 0);
  return model;
}

TEST(DftOfRunTest, SignalsOfAnyLengthAreTransformed) {
  for (const Spectrum& of : kSpectra) {
    const Compiled compiled(TransformModel(of, {"x"}));
    for (const std::int64_t have : {2, 5, 16, 31}) {
      const NDArray x = Random({3, have, of.is_complex ? 2 : 1}, 1);
      const std::int64_t n = of.inverse && of.onesided ? 2 * (have - 1) : have;
      ExpectClose(compiled.Results({{"x", x}})[0], TransformOf(x, n, of));
    }
  }
}

TEST(DftOfRunTest, ARunMaySayHowLongTheTransformIs) {
  for (const Spectrum& of : kSpectra) {
    const Compiled compiled(TransformModel(of, {"x", "n"}));
    const NDArray x = Random({2, 9, of.is_complex ? 2 : 1}, 1);
    for (const std::int64_t n : {1, 4, 9, 16, 17})
      ExpectClose(compiled.Results({{"x", x}, {"n", NDArray::Scalar<std::int64_t>(n)}})[0],
                  TransformOf(x, n, of));
    EXPECT_THAT(compiled.Refusal({{"x", x}, {"n", NDArray::Scalar<std::int64_t>(0)}}),
                AllOf(HasSubstr("transform (DFT)"), HasSubstr("length must be at least 1")));
  }
}

// Too long for tables of cosines and sines in the model. Few elements differ from 0, so that sums
// round little.
TEST(DftOfRunTest, LongTransformsAreComputedByTheRun) {
  constexpr std::int64_t kLength = 2503;
  NDArray x = NDArray::Zeros({1, kLength, 1}, Float32);
  for (const std::int64_t i : {0, 1, 700, 2000, 2502})
    x.data<float>()[i] = static_cast<float>(i % 7) + 1;
  Model model(20);
  model.InputLike("x", x).Output("y").Node("DFT", {"x"}, {"y"});
  SetInt(*model.proto.mutable_graph()->mutable_node(0), "onesided", 1);
  ExpectClose(Computed(model, {{"x", x}})[0], TransformOf(x, kLength, {false, false, true}));
}

// --- SplitToSequence

// The parts (rows, 3) of an x whose rows are split.
void ExpectParts(const std::vector<NDArray>& parts, const NDArray& x, const Ints& lengths) {
  ASSERT_EQ(parts.size(), lengths.size());
  const float* next = x.data<float>();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].shape(), (Shape{lengths[i], 3}));
    EXPECT_EQ(parts[i].ToVector<float>(), std::vector<float>(next, next + lengths[i] * 3));
    next += lengths[i] * 3;
  }
}

Model SplitModel(std::size_t parts) {
  Model model(13);
  NamedInput(model, "x", {"n", "3"});
  model.Node("SplitToSequence", {"x", "lengths"}, {"parts"}, "apart");
  for (std::size_t i = 0; i < parts; ++i) {
    const std::string place = StrCat("place", i), part = StrCat("part", i);
    model.Integers(place, {static_cast<std::int64_t>(i)}).Output(part);
    model.Node("SequenceAt", {"parts", place}, {part});
  }
  return model;
}

TEST(SplitToSequenceOfRunTest, ARunSaysHowLongThePartsAre) {
  Model model = SplitModel(3);
  model.Input("lengths", {3}, kInt64);
  const Compiled compiled(model);
  for (const Ints& lengths : {Ints{1, 2, 3}, {0, 7, 0}, {5, 0, 16}, {1, 1, 1}}) {
    const NDArray x = Random({lengths[0] + lengths[1] + lengths[2], 3}, 1);
    ExpectParts(compiled.Results({{"x", x}, {"lengths", Vector(lengths)}}), x, lengths);
  }
  for (const Ints& wrong : {Ints{1, 1, 1}, {3, 3, -2}, {2, 2, 2}})
    EXPECT_THAT(compiled.Refusal({{"x", Random({4, 3}, 1)}, {"lengths", Vector(wrong)}}),
                HasSubstr("apart (SplitToSequence)"));
}

TEST(SplitToSequenceOfRunTest, KnownLengthsFixAnExtentThatIsOpen) {
  Model model = SplitModel(2);
  model.Integers("lengths", {2, 5});
  const Compiled compiled(model);
  const NDArray x = Random({7, 3}, 1);
  ExpectParts(compiled.Results({{"x", x}}), x, {2, 5});
  EXPECT_NE(compiled.Refusal({{"x", Random({8, 3}, 1)}}), "it was taken");
}

TEST(SplitToSequenceOfRunTest, LengthsMayBeExtents) {
  Model model = SplitModel(2);
  NamedInput(model, "like", {"m"}).Integers("two", {2});
  model.Node("Shape", {"like"}, {"first"});
  SetInt(model.Node("Concat", {"first", "two"}, {"lengths"}), "axis", 0);
  const Compiled compiled(model);
  const NDArray x = Random({5, 3}, 1);
  ExpectParts(compiled.Results({{"x", x}, {"like", Random({3}, 1)}}), x, {3, 2});
  EXPECT_NE(compiled.Refusal({{"x", x}, {"like", Random({2}, 1)}}), "it was taken");
}

// Only the extent of the axis that is split must be known.
TEST(SplitToSequenceOfRunTest, OtherExtentsMayBeOpen) {
  Model model(13);
  NamedInput(model, "x", {"n", "4"}).Output("y");
  SetInt(model.Node("SplitToSequence", {"x"}, {"parts"}), "axis", 1);
  SetInt(model.Node("ConcatFromSequence", {"parts"}, {"y"}), "axis", 0);
  const Compiled compiled(model);
  for (const std::int64_t n : {1, 5, 16}) {
    const NDArray x = Random({n, 4}, 1);
    std::vector<double> expected;
    for (std::int64_t column = 0; column < 4; ++column)
      for (std::int64_t row = 0; row < n; ++row)
        expected.push_back(x.data<float>()[row * 4 + column]);
    ExpectClose(compiled.Results({{"x", x}})[0], Floats({4 * n, 1}, expected));
  }
}

TEST(SplitToSequenceOfRunTest, ThereMayBeAsManyPartsAsAnAxisHasElements) {
  for (const std::int64_t axis : {0, 1}) {
    Model model(13);
    NamedInput(model, "x", {"n", "4"}).Output("y").Node("SplitToSequence", {"x"}, {"parts"});
    SetInt(model.Node("ConcatFromSequence", {"parts"}, {"y"}), "axis", axis);
    const Compiled compiled(model);
    for (const std::int64_t n : {1, 5, 16}) {
      const NDArray x = Random({n, 4}, 1), y = compiled.Results({{"x", x}})[0];
      EXPECT_EQ(y.shape(), axis == 0 ? (Shape{n, 4}) : (Shape{1, 4 * n}));
      EXPECT_EQ(y.ToVector<float>(), x.ToVector<float>());
    }
  }
}

}  // namespace
}  // namespace tenon::onnx_import
