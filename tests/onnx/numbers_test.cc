// Integers of a model are taken exactly, and what no integer type holds, or what would make a
// constant of any size, is refused with its node.
#include <limits>

#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_graphs::Random;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

NDArray Loss(std::int64_t ignored, const std::vector<std::int64_t>& target) {
  Model model;
  const auto rows = static_cast<std::int64_t>(target.size());
  model.Input("x", {rows, 3}).Input("target", {rows}, TensorProto::INT64).Output("y");
  NodeProto& node = model.Node("NegativeLogLikelihoodLoss", {"x", "target"}, {"y"}, "loss");
  SetInt(node, "ignore_index", ignored);
  SetString(node, "reduction", "none");
  return Computed(model, {{"x", Random({rows, 3}, 5)},
                          {"target", NDArray::FromVector<std::int64_t>({rows}, target)}})[0];
}

// The fuzzer of the front end found the first of these.
TEST(OnnxNumbersTest, AnIgnoredClassIsComparedExactly) {
  const std::vector<float> x = Random({2, 3}, 5).ToVector<float>();
  for (const std::int64_t ignored : {kMax, kMin, std::int64_t{1} << 32}) {
    EXPECT_EQ(Loss(ignored, {ignored, 0}).ToVector<float>(), std::vector<float>({0, -x[3]}));
    EXPECT_EQ(Loss(ignored, {2, 0}).ToVector<float>(), std::vector<float>({-x[2], -x[3]}));
  }
}

std::vector<std::int64_t> Range(std::int64_t start, std::int64_t limit, std::int64_t step) {
  Model model;
  model.Integers("start", {start}).Integers("limit", {limit}).Integers("step", {step}).Output("y");
  model.Node("Range", {"start", "limit", "step"}, {"y"});
  return Computed(model, {})[0].ToVector<std::int64_t>();
}

TEST(OnnxNumbersTest, RangesOfIntegersAreExact) {
  using Values = std::vector<std::int64_t>;
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(Range(odd, odd + 4, 2), (Values{odd, odd + 2}));
  EXPECT_EQ(Range(kMin, kMax, kMax), (Values{kMin, -1, kMax - 1}));
  EXPECT_EQ(Range(kMax, kMin, kMin), (Values{kMax, -1}));
  EXPECT_EQ(Range(7, 7, 1), Values{});
  EXPECT_EQ(Range(7, 9, -1), Values{});
}

TEST(OnnxNumbersTest, ConstantsOfAnySizeAreRefused) {
  Model range;
  range.Integers("start", {0}).Integers("limit", {kMax}).Integers("step", {1}).Output("y");
  range.Node("Range", {"start", "limit", "step"}, {"y"}, "numbers");
  EXPECT_THAT(MessageOf(Imported(range), kInvalid),
              AllOf(HasSubstr("numbers"), HasSubstr("a constant of 9.22337e+18 elements; at most "
                                                    "3.35544e+07")));
  Model eye;
  eye.Input("x", {1 << 20, 1 << 20}).Output("y");
  eye.Node("EyeLike", {"x"}, {"y"}, "identity");
  EXPECT_THAT(MessageOf(Imported(eye), kInvalid),
              AllOf(HasSubstr("identity"), HasSubstr("a constant of 1.09951e+12 elements")));
}

TEST(OnnxNumbersTest, TheNormOfIntegersIsTheIntegerPartOfItsRoot) {
  const auto norms = [](const NDArray& x) {
    Model model(18);
    model.InputLike("x", x).Integers("axis", {1}).Output("y");
    SetInt(model.Node("ReduceL2", {"x", "axis"}, {"y"}), "keepdims", 0);
    return Computed(model, {{"x", x}})[0];
  };
  // Squares of the last row do not fit 32 bits.
  const std::vector<std::int32_t> values = {3, 4, 1, 1, -5, 12, 300000, -400000};
  EXPECT_THAT(norms(NDArray::FromVector<std::int32_t>({4, 2}, values)).ToVector<std::int32_t>(),
              ElementsAre(5, 1, 13, 500000));
  EXPECT_THAT(norms(NDArray::FromVector<std::int64_t>({1, 2}, {-30000000, 40000000}))
                  .ToVector<std::int64_t>(),
              ElementsAre(50000000));
  EXPECT_THAT(norms(NDArray::FromVector<std::uint32_t>({1, 2}, {6, 8})).ToVector<std::uint32_t>(),
              ElementsAre(10));
  for (const char* type : {"ReduceLogSum", "ReduceLogSumExp"}) {
    Model model(18);
    model.Input("x", {2}, TensorProto::INT32).Output("y").Node(type, {"x"}, {"y"}, "logarithm");
    EXPECT_THAT(MessageOf(Imported(model), absl::StatusCode::kUnimplemented),
                AllOf(HasSubstr("logarithm"), HasSubstr("the input has the type int32; a logarithm "
                                                        "is one of floats")));
  }
}

TEST(OnnxNumbersTest, ADepthThatIsNoIntegerIsRefused) {
  for (const auto& [depth, written] : std::vector<std::pair<float, const char*>>{
           {std::numeric_limits<float>::quiet_NaN(), "nan"}, {2.5F, "2.5"}, {1e30F, "1e+30"}}) {
    Model model;
    model.Input("x", {2}, TensorProto::INT64).Output("y");
    model.Constant("depth", NDArray::FromVector<float>({1}, {depth}));
    model.Constant("values", NDArray::FromVector<float>({2}, {0, 1}));
    model.Node("OneHot", {"x", "depth", "values"}, {"y"}, "classes");
    EXPECT_THAT(MessageOf(Imported(model), kInvalid),
                AllOf(HasSubstr("classes"),
                      HasSubstr(StrCat("input 1 must be an integer, not ", written))));
  }
}

}  // namespace
}  // namespace tenon::onnx_import
