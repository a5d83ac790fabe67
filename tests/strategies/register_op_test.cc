#include "tenon/strategies/register_op.h"

#include "tenon/te/math.h"
#include "tenon/tests/strategies/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::Random;

struct SwishAttrs {
  static constexpr const char* kTypeKey = "test.attrs.SwishAttrs";
  double beta = 1.0;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("beta", &SwishAttrs::beta, "slope within the sigmoid"));
  }
};

TENON_REGISTER_OP("my.swish")
    .Describe("x * sigmoid(beta * x)")
    .Attrs<SwishAttrs>()
    .Argument("data", "Tensor", "input")
    .TypeRelation(ops::Identity)
    .Elementwise([](const SwishAttrs& attrs, te::Expr x) {
      return x * te::Sigmoid(x * te::Cast(x.dtype(), attrs.beta));
    });

TENON_REGISTER_OP("my.cube")
    .Argument("data", "Tensor", "input")
    .TypeRelation(ops::Identity)
    .Elementwise([](te::Expr x) { return x * x * x; });

// Two neighbours summed up, so not elementwise; its pattern is not said.
TENON_REGISTER_OP("my.neighbours")
    .Argument("data", "Tensor", "input")
    .TypeRelation(ops::Identity)
    .Compute([](const TeCall& call) {
      return std::vector<te::Tensor>{te::Compute(
          call.te_shape(),
          [&](const std::vector<te::Var>& i) {
            const te::Tensor& x = call.input(0);
            return x(i[0]) + x(te::FloorMod(i[0] + 1, x.shape()[0]));
          },
          "neighbours", "injective")};
    });

ir::Module Example() {
  return Parsed("def @main(%x: Tensor[(3, 17), float32]) { exp(my.swish(nn.relu(%x), beta=2f)) }");
}

TEST(RegisterOpTest, AUsersOperatorRunsAndFusesWithItsNeighbours) {
  const NDArray x = Random({3, 17}, 1);
  const Executable exe = ValueOrThrow(Compile(Example()));
  EXPECT_EQ(exe.num_kernel_calls(), 1);
  const NDArray y = ValueOrThrow(exe.Run({{"x", x}})).at(0);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const float v = std::max(x.data<float>()[i], 0.0F);
    ASSERT_NEAR(y.data<float>()[i], std::exp(v / (1 + std::exp(-2 * v))), 1e-5);
  }
}

TEST(RegisterOpTest, AnAttributeThatIsNotGivenHasItsDefault) {
  const ir::Module module = Parsed("def @main(%x: Tensor[(5), float32]) { my.swish(%x) }");
  const NDArray x = Random({5}, 2);
  const auto y = Outcome(module, {{"x", x}});
  ASSERT_EQ(y.size(), 1U);
  for (std::int64_t i = 0; i < 5; ++i) {
    const float v = x.data<float>()[i];
    EXPECT_NEAR(y[0].data<float>()[i], v / (1 + std::exp(-v)), 1e-6);
  }
}

TEST(RegisterOpTest, AnElementwiseFunctionNeedsNoAttributes) {
  const auto y = Outcome(Parsed("def @main(%x: Tensor[(3), int32]) { my.cube(%x) }"),
                         {{"x", NDArray::FromVector<std::int32_t>({3}, {-2, 0, 5})}});
  ASSERT_EQ(y.size(), 1U);
  EXPECT_EQ(y[0].ToVector<std::int32_t>(), (std::vector<std::int32_t>{-8, 0, 125}));
}

TEST(RegisterOpTest, AComputeWithoutPatternIsOpaqueToFusion) {
  const ir::Module module =
      Parsed("def @main(%x: Tensor[(5), float32]) { exp(my.neighbours(exp(%x))) }");
  const NDArray x = Random({5}, 3);
  const Executable exe = ValueOrThrow(Compile(module));
  EXPECT_EQ(exe.num_kernel_calls(), 3);
  ExpectClose(ValueOrThrow(exe.Run({{"x", x}})), Interpreted(module, {{"x", x}}));
}

TEST(RegisterOpTest, AConstantArgumentIsFolded) {
  const auto lowered = Lower(Parsed("def @main(%x: Tensor[(), float32]) { add(%x, my.cube(3f)) }"));
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(lowered->kernels.size(), 1U);
  EXPECT_THAT(ir::PrintModule(lowered->module), ::testing::Not(HasSubstr("my.cube")));
}

// Compile reports what went wrong once; then the program goes on.
std::string ErrorOfCompile() {
  const absl::Status status = Compile(Example()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_TRUE(Compile(Example()).ok());
  return std::string(status.message());
}

TEST(RegisterOpErrorTest, ANameThatIsTakenIsReportedWithBothPlaces) {
  OpRegistration("my.swish").Describe("again").Elementwise([](te::Expr x) { return x; });
  const std::string message = ErrorOfCompile();
  EXPECT_THAT(message, HasSubstr("my.swish"));
  const std::size_t first = message.find("register_op_test.cc:");
  ASSERT_NE(first, std::string::npos) << message;
  EXPECT_NE(message.find("register_op_test.cc:", first + 1), std::string::npos) << message;
  // The first registration stays as it was.
  EXPECT_EQ(ops::OpRegistry::Global().Definition("my.swish").description, "x * sigmoid(beta * x)");
}

TEST(RegisterOpErrorTest, ABuiltInNameIsTaken) {
  OpRegistration("nn.relu").Elementwise([](te::Expr x) { return x; });
  EXPECT_THAT(ErrorOfCompile(), HasSubstr("nn.relu"));
}

TEST(RegisterOpErrorTest, APatternThatContradictsTheComputeIsReported) {
  OpRegistration("my.before")
      .TypeRelation(ops::Identity)
      .Pattern(ops::OpPattern::kCommReduce)
      .Elementwise([](te::Expr x) { return x; });
  EXPECT_THAT(ErrorOfCompile(), AllOf(HasSubstr("my.before"), HasSubstr("contradicts"),
                                      HasSubstr("register_op_test.cc:")));
  OpRegistration("my.after")
      .TypeRelation(ops::Identity)
      .Elementwise([](te::Expr x) { return x; })
      .Pattern(ops::OpPattern::kBroadcast);
  EXPECT_THAT(ErrorOfCompile(), AllOf(HasSubstr("my.after"), HasSubstr("contradicts")));
}

TEST(RegisterOpErrorTest, AllErrorsComeAtOnce) {
  OpRegistration("nn.relu").Describe("again");
  OpRegistration("exp").Describe("again");
  EXPECT_THAT(ErrorOfCompile(), AllOf(HasSubstr("nn.relu"), HasSubstr("exp")));
}

}  // namespace
}  // namespace tenon::strategies
