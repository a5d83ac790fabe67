// The types of the middle of normalisations, windows of even size, and scores without a scale,
// against loops over their definitions.
#include <cmath>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr int kFloat16 = TensorProto::FLOAT16, kBFloat16 = TensorProto::BFLOAT16,
              kDouble = TensorProto::DOUBLE, kFloat = TensorProto::FLOAT;

Model Normalised(const std::string& type, int stash, bool has_statistics = false) {
  Model model(type == "RMSNormalization" ? 23 : 21);
  NamedInput(model, "x", {"n", "4", "6"}).Output("y");
  const std::int64_t width = type == "GroupNormalization" ? 4 : 6;
  Names inputs = {"x", "scale"};
  model.Constant("scale", Random({width}, 2));
  if (type != "RMSNormalization") inputs.push_back("bias");
  model.Constant("bias", Random({width}, 3));
  Names outputs = {"y"};
  if (has_statistics) {
    outputs.insert(outputs.end(), {"mean", "inverse"});
    model.Output("mean").Output("inverse");
  }
  NodeProto& node = model.Node(type, inputs, outputs, "norm");
  SetInt(node, "stash_type", stash);
  if (type == "GroupNormalization") SetInt(node, "num_groups", 2);
  return model;
}

// Rows of `width` elements are normalised; element i of a row has the factor `of(i)`.
std::vector<float> Expected(const NDArray& x, std::int64_t width, bool centres,
                            const std::function<std::pair<float, float>(std::int64_t)>& of) {
  std::vector<float> y;
  for (std::int64_t row = 0; row < x.size(); row += width) {
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; centres && i < width; ++i)
      mean += x.data<float>()[row + i] / static_cast<double>(width);
    for (std::int64_t i = 0; i < width; ++i)
      variance += std::pow(x.data<float>()[row + i] - mean, 2) / static_cast<double>(width);
    for (std::int64_t i = 0; i < width; ++i) {
      const auto [scale, bias] = of(row + i);
      y.push_back(static_cast<float>(
          (x.data<float>()[row + i] - mean) / std::sqrt(variance + 1e-5) * scale + bias));
    }
  }
  return y;
}

TEST(StashTypeTest, AScaleOfARootMeanSquareDecidesTheTypeOfTheResult) {
  Model model(23);
  model.Input("x", {4, 6}).Constant("scale", Random({6}, 2)).Output("y");
  SetInt(model.Node("Cast", {"x"}, {"half"}), "to", kFloat16);
  model.Node("RMSNormalization", {"half", "scale"}, {"y"});
  NDArray x = Random({4, 6}, 1);
  for (std::int64_t i = 0; i < x.size(); ++i)  // which halves hold
    x.data<float>()[i] = std::round(x.data<float>()[i] * 64) / 64;
  const NDArray scale = Random({6}, 2);
  const NDArray y = Computed(model, {{"x", x}})[0];
  EXPECT_EQ(y.dtype(), Float32);
  ExpectClose(y, NDArray::FromVector<float>(
                     {4, 6}, Expected(x, 6, false, [&](std::int64_t at) -> std::pair<float, float> {
                       return {scale.data<float>()[at % 6], 0.0F};
                     })));
}

// Scale and bias are broadcast to the data: one element, rows of a matrix, or none of their axes.
TEST(StashTypeTest, ALayerMayHaveAScaleOfAnyShapeThatIsBroadcast) {
  const NDArray x = Random({2, 4, 6}, 1);
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{6}, Shape{4, 6}, Shape{4, 1}}) {
    for (const Shape& other : {Shape{}, Shape{1}, Shape{6}, Shape{1, 4, 6}}) {
      SCOPED_TRACE(StrCat(ShapeToString(shape), " ", ShapeToString(other)));
      const NDArray scale = Random(shape, 2), bias = Random(other, 3);
      Model model(17);
      model.Input("x", {2, 4, 6}).Constant("scale", scale).Constant("bias", bias).Output("y");
      model.Node("LayerNormalization", {"x", "scale", "bias"}, {"y"});
      const auto at = [](const NDArray& of, std::int64_t i) {
        const std::int64_t place = of.size() == 4 ? i / 6 % 4 : i % of.size();
        return of.data<float>()[place];
      };
      const std::vector<float> expected =
          Expected(x, 6, true, [&](std::int64_t i) -> std::pair<float, float> {
            return {at(scale, i), at(bias, i)};
          });
      ExpectClose(Computed(model, {{"x", x}})[0], NDArray::FromVector<float>({2, 4, 6}, expected));
    }
  }
}

TEST(StashTypeTest, TheMiddleIsAtLeastAsWideAsAskedFor) {
  for (const int stash : {kFloat, kFloat16, kBFloat16, kDouble}) {
    for (const std::string type :
         {"LayerNormalization", "RMSNormalization", "GroupNormalization"}) {
      SCOPED_TRACE(StrCat(type, " ", stash));
      std::vector<runtime::Inputs> runs;
      for (const std::int64_t n : {3, 1}) {
        NDArray x = Random({n, 4, 6}, 1);
        // A mean that float32 squares lose.
        if (stash == kDouble && type != "RMSNormalization")
          for (std::int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] += 4096;
        runs.push_back({{"x", x}});
      }
      const auto results = ExpectRightForAll(Normalised(type, stash), runs);
      const NDArray scale = Random({6}, 2), bias = Random({6}, 3);
      const NDArray scale4 = Random({4}, 2), bias4 = Random({4}, 3);
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const NDArray& x = runs[i].at("x");
        const bool is_group = type == "GroupNormalization", is_rms = type == "RMSNormalization";
        const auto expected = Expected(
            x, is_group ? 12 : 6, !is_rms, [&](std::int64_t at) -> std::pair<float, float> {
              if (is_group)
                return {scale4.data<float>()[at / 6 % 4], bias4.data<float>()[at / 6 % 4]};
              return {scale.data<float>()[at % 6], is_rms ? 0 : bias.data<float>()[at % 6]};
            });
        ExpectClose(results.at(i).at(0), NDArray::FromVector(x.shape(), expected));
      }
    }
  }
}

TEST(StashTypeTest, MeanAndReciprocalHaveIt) {
  const NDArray x = Random({2, 4, 6}, 1);
  for (const auto& [stash, type] : {std::pair(kFloat, Float32), {kBFloat16, BFloat16}}) {
    const auto results =
        ExpectRightForAll(Normalised("LayerNormalization", stash, true), {{{"x", x}}});
    EXPECT_EQ(results.at(0).at(1).dtype(), type);
    EXPECT_EQ(results[0].at(2).dtype(), type);
    EXPECT_EQ(results[0][1].shape(), (Shape{2, 4, 1}));
  }
}

TEST(StashTypeTest, AnIntegerIsRefused) {
  for (const std::string type : {"LayerNormalization", "RMSNormalization", "GroupNormalization"})
    EXPECT_THAT(
        MessageOf(ImportOnnx(Normalised(type, TensorProto::INT32).Bytes(), AnyShapes()),
                  absl::StatusCode::kInvalidArgument),
        AllOf(HasSubstr(StrCat("norm (", type, ")")), HasSubstr("stash_type is 6; it may")));
}

// floor((size - 1) / 2) channels before, ceil((size - 1) / 2) after.
TEST(LrnTest, AnEvenWindowHasOneMoreAfterTheMiddle) {
  for (const std::int64_t size : {2, 4, 10}) {
    Model model;
    NamedInput(model, "x", {"n", "c", "w"}).Output("y");
    NodeProto& node = model.Node("LRN", {"x"}, {"y"});
    SetInt(node, "size", size);
    SetFloat(node, "alpha", 0.5F);
    std::vector<runtime::Inputs> runs;
    for (const Shape& shape : {Shape{2, 7, 3}, {1, 1, 1}, {1, 16, 2}})
      runs.push_back({{"x", Random(shape, 1)}});
    const auto results = ExpectRightForAll(model, runs);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const NDArray& x = runs[r].at("x");
      const std::int64_t channels = x.shape()[1], inner = x.shape()[2];
      std::vector<float> expected;
      for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t c = i / inner % channels;
        double sum = 0;
        for (std::int64_t k = std::max<std::int64_t>(0, c - (size - 1) / 2);
             k <= std::min(channels - 1, c + size / 2); ++k)
          sum += std::pow(x.data<float>()[i + (k - c) * inner], 2);
        expected.push_back(static_cast<float>(
            x.data<float>()[i] / std::pow(1 + 0.5 / static_cast<double>(size) * sum, 0.75)));
      }
      ExpectClose(results.at(r).at(0), NDArray::FromVector(x.shape(), expected));
    }
  }
}

// The mean of the values that count.
TEST(AttentionScaleTest, WithoutAScaleAllKeysThatCountWeighTheSame) {
  Model model(23);
  for (const char* name : {"q", "k", "v"})
    NamedInput(model, name, {"b", "2", *name == 'q' ? "t" : "s", "4"});
  model.Output("y");
  SetFloat(model.Node("Attention", {"q", "k", "v"}, {"y"}), "scale", 0);
  std::vector<runtime::Inputs> runs;
  for (const auto& [b, t, s] : {std::tuple(2, 3, 5), {1, 1, 1}})
    runs.push_back({{"q", Random({b, 2, t, 4}, 1)},
                    {"k", Random({b, 2, s, 4}, 2)},
                    {"v", Random({b, 2, s, 4}, 3)}});
  const auto results = ExpectRightForAll(model, runs);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const NDArray& v = runs[r].at("v");
    const std::int64_t s = v.shape()[2], t = runs[r].at("q").shape()[2];
    std::vector<float> expected;
    for (std::int64_t head = 0; head < v.shape()[0] * 2; ++head)
      for (std::int64_t i = 0; i < t * 4; ++i) {
        double sum = 0;
        for (std::int64_t key = 0; key < s; ++key)
          sum += v.data<float>()[(head * s + key) * 4 + i % 4];
        expected.push_back(static_cast<float>(sum / static_cast<double>(s)));
      }
    ExpectClose(results.at(r).at(0), NDArray::FromVector({v.shape()[0], 2, t, 4}, expected));
  }
}

}  // namespace
}  // namespace tenon::onnx_import
