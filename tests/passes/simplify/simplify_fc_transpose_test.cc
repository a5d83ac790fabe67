// Weights of dense layers that the caller transposes.
#include "tenon/passes/simplify/simplify_fc_transpose.h"

#include <map>

#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::ThrowsMessage;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::Random;

constexpr char kParams[] =
    "%x: Tensor[(3, 4), float32], %w: Tensor[(4, 5), float32], %v: Tensor[(5, 2), float32]";

Module OfBody(const std::string& body, const std::string& params = kParams) {
  return InferType(Parsed(StrCat("def @main(", params, ") { ", body, " }")));
}

TEST(SimplifyFCTransposeTest, AWeightIsTakenTransposedAndValuesStay) {
  const Module before = OfBody("nn.dense(nn.dense(%x, transpose(%w, axes=[1, 0])), transpose(%v))");
  const std::vector<std::string> weights = TransposedWeights(before);
  EXPECT_THAT(weights, ElementsAre("w", "v"));
  const Module after = InferType(SimplifyFCTranspose(before, weights));
  EXPECT_EQ(Body(after), "%0 = nn.dense(%x, %w_T, units=None);\nnn.dense(%0, %v_T, units=None)\n");

  std::map<std::string, NDArray> values = {
      {"x", Random({3, 4}, 1)}, {"w", Random({4, 5}, 2)}, {"v", Random({5, 2}, 3)}};
  const runtime::Inputs given(values.begin(), values.end());
  TransposeWeights(weights, &values);
  EXPECT_THAT(values, ElementsAre(Key("v_T"), Key("w_T"), Key("x")));
  EXPECT_EQ(values.at("w_T").shape(), (Shape{5, 4}));
  const runtime::Inputs turned(values.begin(), values.end());
  EXPECT_EQ(Interpreted(before, given)[0].ToVector<float>(),
            Interpreted(after, turned)[0].ToVector<float>());
}

TEST(SimplifyFCTransposeTest, OtherReadersKeepAWeight) {
  const Module also = OfBody("(nn.dense(%x, transpose(%w)), exp(%w))");
  EXPECT_THAT(TransposedWeights(also), IsEmpty());
  const Module result = OfBody("(nn.dense(%x, transpose(%w)), transpose(%w))");
  EXPECT_THAT(TransposedWeights(result), IsEmpty());
  const Module data = OfBody("nn.dense(transpose(%v), transpose(%w))",
                             "%v: Tensor[(4, 3), float32], %w: Tensor[(4, 5), float32]");
  EXPECT_THAT(TransposedWeights(data), ElementsAre("w"));
}

TEST(SimplifyFCTransposeTest, ItSaysWhichParameterCannotBeTransposed) {
  const Module module = OfBody("add(nn.dense(%x, transpose(%w)), sum(%v))");
  EXPECT_THAT([&] { SimplifyFCTranspose(module, {"weight"}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("%weight"), HasSubstr("no parameter"))));
  EXPECT_THAT(
      [&] {
        SimplifyFCTranspose(module, {"w", "v"});
      },
      ThrowsMessage<Error>(HasSubstr("%v is not read by transposes")));
  EXPECT_EQ(SimplifyFCTranspose(module, {}), module);
}

TEST(SimplifyFCTransposeTest, AValueThatIsNoMatrixChangesNothing) {
  std::map<std::string, NDArray> values = {{"w", Random({4, 5}, 2)}, {"v", Random({5}, 3)}};
  EXPECT_THAT(
      [&] {
        TransposeWeights({"w", "v"}, &values);
      },
      ThrowsMessage<Error>(HasSubstr("the value of v has 1 axes")));
  EXPECT_THAT(values, ElementsAre(Key("v"), Key("w")));
}

}  // namespace
}  // namespace tenon::passes
