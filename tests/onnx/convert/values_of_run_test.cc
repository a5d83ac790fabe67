// Reshape, Split, OneHot, CumSum, Resize and windows by values that only a run knows. Models are
// compiled once; loops of the tests say what is right.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr auto kInt64 = TensorProto::INT64;
using Integers = std::vector<std::int64_t>;

NDArray Scalar(std::int64_t value) { return NDArray::Scalar(value); }
NDArray Vector(const Integers& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}

// A model compiled once, which the interpreter runs, too.
class Compiled {
 public:
  explicit Compiled(const Model& model, bool symbolic = false) {
    ImportOptions options = AnyShapes();
    options.symbolic = symbolic;
    const ir::Module module = ValueOrThrow(ImportOnnx(model.Bytes(), options));
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

TEST(ValuesOfRunTest, AReshapeGoesToAnyShape) {
  Model model;
  model.Input("x", {2, 3, 4}).Input("shape", {2}, kInt64).Output("y").Output("doubled");
  model.Node("Reshape", {"x", "shape"}, {"y"}, "again");
  model.Node("Add", {"y", "y"}, {"doubled"});
  const Compiled compiled(model);
  const NDArray x = Random({2, 3, 4}, 3);
  const std::vector<std::pair<Integers, Shape>> targets = {
      {{4, 6}, {4, 6}}, {{24, 1}, {24, 1}}, {{0, -1}, {2, 12}}, {{-1, 2}, {12, 2}},
      {{8, 0}, {8, 3}}, {{1, -1}, {1, 24}}, {{-1, 24}, {1, 24}}};
  for (const auto& [target, shape] : targets) {
    const auto results = compiled.Results({{"x", x}, {"shape", Vector(target)}});
    EXPECT_EQ(results[0].shape(), shape);
    EXPECT_EQ(results[0].ToVector<float>(), x.ToVector<float>());
  }
  for (const Integers& wrong : {Integers{5, 5}, {-1, -1}, {7, -1}, {-3, 8}, {4, 5}})
    EXPECT_THAT(compiled.Refusal({{"x", x}, {"shape", Vector(wrong)}}), HasSubstr("again"))
        << wrong[0] << " " << wrong[1];
}

TEST(ValuesOfRunTest, AReshapeMayMixExtentsNumbersAndValues) {
  Model model;
  NamedInput(model, "x", {"n", "6"}).Input("k", {1}, kInt64).Output("y");
  model.Integers("zero", {0}).Integers("one", {1}).Integers("rest", {-1}).Integers("two", {2});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Slice", {"shape", "zero", "one"}, {"n"});
  SetInt(model.Node("Concat", {"n", "k", "two", "rest"}, {"target"}), "axis", 0);
  model.Node("Reshape", {"x", "target"}, {"y"}, "again");
  const Compiled compiled(model, true);
  for (const std::int64_t n : {1, 4, 17}) {
    for (const std::int64_t k : {1, 3}) {
      const NDArray x = Random({n, 6}, 3);
      const auto results = compiled.Results({{"x", x}, {"k", Vector({k})}});
      EXPECT_EQ(results[0].shape(), (Shape{n, k, 2, 3 / k}));
      EXPECT_EQ(results[0].ToVector<float>(), x.ToVector<float>());
    }
  }
  EXPECT_THAT(compiled.Refusal({{"x", Random({3, 6}, 3)}, {"k", Vector({2})}}), HasSubstr("again"));
}

TEST(ValuesOfRunTest, AZeroThatIsAllowedIsAnExtent) {
  Model model(14);
  model.Input("x", {2, 3}).Input("shape", {2}, kInt64).Output("y").Integers("zero", {0});
  model.Node("Slice", {"x", "zero", "zero"}, {"none"});
  SetInt(model.Node("Reshape", {"none", "shape"}, {"y"}, "again"), "allowzero", 1);
  const Compiled compiled(model);
  const NDArray x = Random({2, 3}, 3);
  EXPECT_EQ(compiled.Results({{"x", x}, {"shape", Vector({5, 0})}})[0].shape(), (Shape{5, 0}));
  EXPECT_THAT(compiled.Refusal({{"x", x}, {"shape", Vector({5, 1})}}), HasSubstr("again"));
}

TEST(ValuesOfRunTest, ASplitHasPartsOfAnyLengths) {
  Model model;
  model.Input("x", {3, 7}).Input("lengths", {3}, kInt64).Output("a").Output("b").Output("c");
  SetInt(model.Node("Split", {"x", "lengths"}, {"p", "q", "r"}, "apart"), "axis", -1);
  model.Node("Neg", {"p"}, {"a"});
  model.Node("Neg", {"q"}, {"b"});
  model.Node("Neg", {"r"}, {"c"});
  const Compiled compiled(model);
  const NDArray x = Random({3, 7}, 3);
  for (const Integers& lengths : {Integers{2, 4, 1}, {7, 0, 0}, {0, 0, 7}, {1, 1, 5}, {0, 7, 0}}) {
    const auto results = compiled.Results({{"x", x}, {"lengths", Vector(lengths)}});
    std::int64_t start = 0;
    for (std::size_t part = 0; part < 3; ++part) {
      ASSERT_EQ(results[part].shape(), (Shape{3, lengths[part]}));
      for (std::int64_t row = 0; row < 3; ++row) {
        for (std::int64_t i = 0; i < lengths[part]; ++i)
          EXPECT_EQ(results[part].data<float>()[row * lengths[part] + i],
                    -x.data<float>()[7 * row + start + i]);
      }
      start += lengths[part];
    }
  }
  for (const Integers& wrong : {Integers{2, 4, 2}, {1, 1, 1}, {-1, 4, 4}})
    EXPECT_THAT(compiled.Refusal({{"x", x}, {"lengths", Vector(wrong)}}),
                AllOf(HasSubstr("apart (Split)"),
                      HasSubstr("lengths must add up to the extent of axis 1")));
}

TEST(ValuesOfRunTest, OneHotHasAnyDepth) {
  for (const std::int64_t axis : {-1, 0, 1}) {
    Model model;
    NamedInput(model, "x", {"n", "3"}, kInt64).Input("depth", {1}, kInt64).Output("y");
    model.Constant("values", NDArray::FromVector<float>({2}, {-2, 5}));
    SetInt(model.Node("OneHot", {"x", "depth", "values"}, {"y"}, "hot"), "axis", axis);
    const Compiled compiled(model, true);
    for (const std::int64_t n : {1, 2}) {
      for (const std::int64_t depth : {0, 1, 4, 9}) {
        NDArray x = NDArray::Empty({n, 3}, Int64);
        for (std::int64_t i = 0; i < x.size(); ++i) x.data<std::int64_t>()[i] = 2 * i - 4;
        const auto results = compiled.Results({{"x", x}, {"depth", Vector({depth})}});
        Shape shape = {n, 3};
        shape.insert(axis < 0 ? shape.end() : shape.begin() + axis, depth);
        ASSERT_EQ(results[0].shape(), shape);
        for (std::int64_t i = 0; i < x.size(); ++i) {
          for (std::int64_t d = 0; d < depth; ++d) {
            const std::int64_t value = x.data<std::int64_t>()[i];
            const bool is_hot = (value < 0 ? value + depth : value) == d;
            const std::int64_t row = i / 3, column = i % 3;
            const std::int64_t at = axis < 0    ? i * depth + d
                                    : axis == 0 ? d * x.size() + i
                                                : (row * depth + d) * 3 + column;
            EXPECT_EQ(results[0].data<float>()[at], is_hot ? 5 : -2);
          }
        }
      }
    }
    EXPECT_THAT(compiled.Refusal({{"x", NDArray::Zeros({2, 3}, Int64)}, {"depth", Vector({-1})}}),
                HasSubstr("hot (OneHot)"));
  }
}

TEST(ValuesOfRunTest, SumsGoAlongAnyAxis) {
  for (const bool reverse : {false, true}) {
    Model model;
    NamedInput(model, "x", {"2", "n", "4"}).Input("axis", {}, kInt64).Output("y");
    NodeProto& node = model.Node("CumSum", {"x", "axis"}, {"y"}, "sums");
    SetInt(node, "reverse", reverse ? 1 : 0);
    SetInt(node, "exclusive", reverse ? 1 : 0);
    const Compiled compiled(model, true);
    for (const std::int64_t n : {1, 3}) {
      const NDArray x = Random({2, n, 4}, 3);
      const Shape& shape = x.shape();
      for (std::int64_t axis = -3; axis < 3; ++axis) {
        const auto results = compiled.Results({{"x", x}, {"axis", Scalar(axis)}});
        std::int64_t inner = 1;
        const auto along = static_cast<std::size_t>(axis < 0 ? axis + 3 : axis);
        for (std::size_t d = along + 1; d < 3; ++d) inner *= shape[d];
        for (std::int64_t i = 0; i < x.size(); ++i) {
          const std::int64_t place = i / inner % shape[along];
          double sum = 0;
          for (std::int64_t j = 0; j < shape[along]; ++j) {
            if (reverse ? j > place : j <= place)
              sum += static_cast<double>(x.data<float>()[i + (j - place) * inner]);
          }
          EXPECT_NEAR(results[0].data<float>()[i], sum, 1e-5);
        }
      }
      for (const std::int64_t axis : {-4, 3})
        EXPECT_THAT(
            compiled.Refusal({{"x", x}, {"axis", Scalar(axis)}}),
            AllOf(HasSubstr("sums (CumSum)"), HasSubstr("axis must be at least -3 and below 3")));
    }
  }
}

// --- Resize

struct Way {
  const char* mode = "nearest";
  const char* coordinates = "half_pixel";
  const char* rounding = "round_prefer_floor";
  std::int64_t excludes = 0;
};

double PlaceOf(std::int64_t i, std::int64_t in, std::int64_t out, double scale,
               const std::string& coordinates) {
  const auto at = static_cast<double>(i), length = static_cast<double>(in);
  if (coordinates == "asymmetric") return at / scale;
  if (coordinates == "align_corners")
    return out == 1 ? 0 : at * (length - 1) / static_cast<double>(out - 1);
  if (coordinates == "tf_half_pixel_for_nn") return (at + 0.5) / scale;
  if (coordinates == "pytorch_half_pixel" && out == 1) return 0;
  const double centre = (at + 0.5) / scale - 0.5;
  if (coordinates == "half_pixel_symmetric")
    return centre + length / 2 * (1 - static_cast<double>(out) / (scale * length));
  return centre;
}

// One line of elements.
std::vector<double> Resampled(const std::vector<double>& x, std::int64_t out, double scale,
                              const Way& way) {
  const auto in = static_cast<std::int64_t>(x.size());
  const auto element = [&](double place) {
    return x[static_cast<std::size_t>(std::clamp<double>(place, 0, static_cast<double>(in - 1)))];
  };
  const auto weight = [](double d) {
    constexpr double a = -0.75;
    d = std::abs(d);
    if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
    return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
  };
  std::vector<double> y;
  for (std::int64_t i = 0; i < out; ++i) {
    const double at = PlaceOf(i, in, out, scale, way.coordinates);
    const double first = std::floor(at);
    if (way.mode == std::string("nearest")) {
      const std::string rounding = way.rounding;
      y.push_back(element(rounding == "floor"               ? first
                          : rounding == "ceil"              ? std::ceil(at)
                          : rounding == "round_prefer_ceil" ? std::floor(at + 0.5)
                                                            : std::ceil(at - 0.5)));
    } else if (way.mode == std::string("linear")) {
      y.push_back(element(first) * (1 - (at - first)) + element(first + 1) * (at - first));
    } else {
      double sum = 0, total = 0;
      for (int tap = -1; tap <= 2; ++tap) {
        const double place = first + tap;
        if (way.excludes != 0 && (place < 0 || place >= static_cast<double>(in))) continue;
        total += weight(at - place);
        sum += weight(at - place) * element(place);
      }
      y.push_back(way.excludes != 0 ? sum / total : sum);
    }
  }
  return y;
}

// The last two axes of an image.
NDArray Resized(const NDArray& x, const Shape& out, const std::vector<double>& scales,
                const Way& way) {
  const std::int64_t images = x.shape()[0] * x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  NDArray y = NDArray::Empty({x.shape()[0], x.shape()[1], out[0], out[1]}, Float32);
  for (std::int64_t image = 0; image < images; ++image) {
    std::vector<std::vector<double>> rows;
    for (std::int64_t row = 0; row < h; ++row) {
      const float* first = x.data<float>() + (image * h + row) * w;
      rows.push_back(Resampled({first, first + w}, out[1], scales[1], way));
    }
    for (std::int64_t column = 0; column < out[1]; ++column) {
      std::vector<double> line;
      for (const auto& row : rows) line.push_back(row[static_cast<std::size_t>(column)]);
      const std::vector<double> made = Resampled(line, out[0], scales[0], way);
      for (std::int64_t row = 0; row < out[0]; ++row)
        y.data<float>()[(image * out[0] + row) * out[1] + column] =
            static_cast<float>(made[static_cast<std::size_t>(row)]);
    }
  }
  return y;
}

NodeProto& SetWay(NodeProto& node, const Way& way) {
  SetString(node, "mode", way.mode);
  SetString(node, "coordinate_transformation_mode", way.coordinates);
  SetString(node, "nearest_mode", way.rounding);
  SetInt(node, "exclude_outside", way.excludes);
  return node;
}

std::vector<Way> Ways() {
  std::vector<Way> ways;
  for (const char* coordinates : {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                  "tf_half_pixel_for_nn", "half_pixel_symmetric"})
    ways.push_back({.mode = "linear", .coordinates = coordinates});
  for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
    ways.push_back({.coordinates = "asymmetric", .rounding = rounding});
  for (const std::int64_t excludes : {0, 1})
    ways.push_back({.mode = "cubic", .excludes = excludes});
  return ways;
}

TEST(ValuesOfRunTest, ImagesAreResizedByAnyScales) {
  for (const Way& way : Ways()) {
    SCOPED_TRACE(StrCat(way.mode, " ", way.coordinates, " ", way.rounding));
    Model model(19);
    NamedInput(model, "x", {"1", "2", "h", "5"}).Input("scales", {4}).Output("y");
    SetWay(model.Node("Resize", {"x", "", "scales"}, {"resized"}, "larger"), way);
    model.Node("Neg", {"resized"}, {"y"});
    const Compiled compiled(model, true);
    for (const std::int64_t h : {1, 4}) {
      const NDArray x = Random({1, 2, h, 5}, 3);
      for (const auto& [a, b] : std::vector<std::pair<float, float>>{
               {2, 3}, {1, 1}, {0.5F, 0.6F}, {1.75F, 0.2F}, {2.6F, 2.6F}}) {
        const auto results =
            compiled.Results({{"x", x}, {"scales", NDArray::FromVector<float>({4}, {1, 1, a, b})}});
        const Shape out = {static_cast<std::int64_t>(std::floor(static_cast<float>(h) * a)),
                           static_cast<std::int64_t>(std::floor(5.0F * b))};
        NDArray expected = Resized(x, out, {a, b}, way);
        for (std::int64_t i = 0; i < expected.size(); ++i) expected.data<float>()[i] *= -1;
        ExpectClose(results[0], expected);
      }
    }
    for (const std::vector<float>& wrong :
         {std::vector<float>{2, 1, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, -2}, {1, 1, NAN, 1}})
      EXPECT_THAT(
          compiled.Refusal(
              {{"x", Random({1, 2, 3, 5}, 3)}, {"scales", NDArray::FromVector<float>({4}, wrong)}}),
          AllOf(HasSubstr("larger (Resize)"), HasSubstr("scales must be above 0, and 1 along")));
  }
}

// As exporters write it: the quotient of a wanted size and the extents.
TEST(ValuesOfRunTest, ScalesMayBeComputedFromExtents) {
  Model model(13);
  NamedInput(model, "x", {"n", "2", "h", "w"}).Input("size", {2}, kInt64).Output("y");
  model.Constant("ones", NDArray::FromVector<float>({2}, {1, 1}));
  model.Integers("two", {2}).Integers("four", {4});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Slice", {"shape", "two", "four"}, {"hw"});
  SetInt(model.Node("Cast", {"hw"}, {"from"}), "to", TensorProto::FLOAT);
  SetInt(model.Node("Cast", {"size"}, {"to"}), "to", TensorProto::FLOAT);
  model.Node("Div", {"to", "from"}, {"quotients"});
  SetInt(model.Node("Concat", {"ones", "quotients"}, {"scales"}), "axis", 0);
  const Way way = {.mode = "linear"};
  SetWay(model.Node("Resize", {"x", "", "scales"}, {"y"}), way);
  const Compiled compiled(model, true);
  for (const auto& [h, w] : std::vector<std::pair<std::int64_t, std::int64_t>>{{4, 8}, {3, 5}}) {
    const NDArray x = Random({2, 2, h, w}, 3);
    const auto results = compiled.Results({{"x", x}, {"size", Vector({2 * h, w})}});
    ExpectClose(results[0], Resized(x, {2 * h, w}, {2, 1}, way));
  }
}

TEST(ValuesOfRunTest, AnImageIsUpsampledByAnyScales) {
  Model model(9);
  model.Input("x", {2, 1, 3, 2}).Input("scales", {4}).Output("y");
  model.Node("Upsample", {"x", "scales"}, {"y"}, "larger");
  const Compiled compiled(model);
  const NDArray x = Random({2, 1, 3, 2}, 3);
  const Way way = {.coordinates = "asymmetric", .rounding = "floor"};
  for (const float scale : {1.0F, 2.0F, 3.0F}) {
    const auto results =
        compiled.Results({{"x", x}, {"scales", NDArray::FromVector<float>({4}, {1, 1, scale, 2})}});
    ExpectClose(results[0], Resized(x, {static_cast<std::int64_t>(3 * scale), 4}, {scale, 2}, way));
  }
}

TEST(ValuesOfRunTest, AnAspectRatioIsKeptForAnySizes) {
  for (const bool is_least : {true, false}) {
    Model model(18);
    NamedInput(model, "x", {"1", "2", "h", "6"}).Input("sizes", {2}, kInt64).Output("y");
    const Way way = {.mode = "linear"};
    NodeProto& node = SetWay(model.Node("Resize", {"x", "", "", "sizes"}, {"y"}, "fitted"), way);
    SetInts(node, "axes", {2, 3});
    SetString(node, "keep_aspect_ratio_policy", is_least ? "not_larger" : "not_smaller");
    const Compiled compiled(model, true);
    for (const std::int64_t h : {2, 4}) {
      const NDArray x = Random({1, 2, h, 6}, 3);
      for (const Integers& sizes : {Integers{8, 9}, {3, 3}, {1, 12}, {0, 3}}) {
        const double a = static_cast<double>(sizes[0]) / static_cast<double>(h),
                     b = static_cast<double>(sizes[1]) / 6;
        const double scale = is_least ? std::min(a, b) : std::max(a, b);
        const Shape out = {
            static_cast<std::int64_t>(std::floor(static_cast<double>(h) * scale + 0.5)),
            static_cast<std::int64_t>(std::floor(6 * scale + 0.5))};
        const auto results = compiled.Results({{"x", x}, {"sizes", Vector(sizes)}});
        ExpectClose(results[0], Resized(x, out, {scale, scale}, way));
      }
    }
    EXPECT_THAT(compiled.Refusal({{"x", Random({1, 2, 2, 6}, 3)}, {"sizes", Vector({0, -1})}}),
                HasSubstr("sizes must be at least 0"));
  }
}

// A -1 is taken where the extent is declared to be a multiple.
TEST(ValuesOfRunTest, ExtentsAreWhatIsDeclaredOfThem) {
  Model model;
  NamedInput(model, "x", {"n", "6"}).Output("y").Integers("shape", {-1, 8, 6});
  model.Node("Reshape", {"x", "shape"}, {"y"}, "groups");
  ImportOptions options = AnyShapes();
  options.dims = {{"n", Dim(8) * Dim::Symbol("k")}};
  options.limits = {"k <= 5"};
  const Executable exe = ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), options))));
  const auto run = [&](std::int64_t n) { return exe.Run({{"x", Random({n, 6}, 3)}}); };
  EXPECT_EQ(run(24)->at(0).shape(), (Shape{3, 8, 6}));
  EXPECT_THAT(std::string(run(12).status().message()),
              HasSubstr("input 'x' has 12 elements on axis 0; it must have 8*k"));
  EXPECT_THAT(std::string(run(48).status().message()),
              AllOf(HasSubstr("input 'x' has 48 elements on axis 0"), HasSubstr("k <= 5")));
  options.dims = {{"m", 3}};
  EXPECT_THAT(std::string(ImportOnnx(model.Bytes(), options).status().message()),
              HasSubstr("an extent is given for m, which no input has; variables are n"));
  options.dims = {};
  options.limits = {"q <= 5"};
  EXPECT_THAT(std::string(ImportOnnx(model.Bytes(), options).status().message()),
              HasSubstr("no input has the variable q; there are: n"));
}

TEST(ValuesOfRunTest, AWindowHasAsManyElementsAsARunSays) {
  for (const std::int64_t is_periodic : {0, 1}) {
    Model model(17);
    model.Input("size", {}, kInt64).Output("hann").Output("blackman");
    SetInt(model.Node("HannWindow", {"size"}, {"hann"}), "periodic", is_periodic);
    SetInt(model.Node("BlackmanWindow", {"size"}, {"blackman"}), "periodic", is_periodic);
    const Compiled compiled(model);
    for (const std::int64_t size : {0, 1, 2, 9, 64}) {
      const auto results = compiled.Results({{"size", Scalar(size)}});
      ASSERT_EQ(results[0].shape(), Shape{size});
      const double n = std::max<double>(static_cast<double>(size - 1 + is_periodic), 1);
      for (std::int64_t i = 0; i < size; ++i) {
        const double turn = 2 * M_PI * static_cast<double>(i) / n;
        EXPECT_NEAR(results[0].data<float>()[i], 0.5 - 0.5 * std::cos(turn), 1e-6);
        EXPECT_NEAR(results[1].data<float>()[i],
                    0.42 - 0.5 * std::cos(turn) + 0.08 * std::cos(2 * turn), 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace tenon::onnx_import
