#include "tenon/strategies/register_op.h"

#include <optional>
#include <stdexcept>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/lower_outputs.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/testing/graph_testing.h"

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
          "neighbours")};
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

TEST(RegisterOpErrorTest, CodeOfOtherHeadersIsRefused) {
  OpRegistration("my.of_other_headers", std::source_location::current(), TENON_HEADERS_STAMP + 1)
      .TypeRelation(ops::Identity)
      .Elementwise([](te::Expr x) { return x; });
  EXPECT_THAT(ErrorOfCompile(), AllOf(HasSubstr("my.of_other_headers"),
                                      HasSubstr("compiled with other headers of Tenon")));
  EXPECT_FALSE(ops::OpRegistry::Global().Find("my.of_other_headers"));
}

struct Twin {
  double beta = 1.0;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("beta", &Twin::beta, "slope"));
  }
};
namespace other {
struct Twin {
  double alpha = 1.0;
  std::int64_t gamma = 0;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("alpha", &Twin::alpha, "slope"),
                         attrs::Field("gamma", &Twin::gamma, "shift"));
  }
};
}  // namespace other

// What two plug-ins do that define one name twice: the program has one schema for both.
TEST(RegisterOpErrorTest, AttributeStructsOfOneNameAndOtherFieldsAreRefused) {
  static_assert(attrs::FingerprintOf<Twin>() != attrs::FingerprintOf<other::Twin>());
  OpRegistration("my.twin").Attrs<Twin>(attrs::FingerprintOf<other::Twin>());
  EXPECT_THAT(ErrorOfCompile(), AllOf(HasSubstr("my.twin"), HasSubstr("register_op_test.cc:"),
                                      HasSubstr("a namespace of its own")));
}

TEST(RegisterOpErrorTest, TwoComputesAreRefused) {
  OpRegistration("my.two_computes")
      .TypeRelation(ops::Identity)
      .Elementwise([](te::Expr x) { return x; })
      .Compute([](const TeCall& call) { return call.inputs; });
  EXPECT_THAT(ErrorOfCompile(), AllOf(HasSubstr("my.two_computes"), HasSubstr("two computes")));
}

TEST(RegisterOpErrorTest, AnImplementationNeedsANameAndAFunctionThatBuilds) {
  OpRegistration("my.no_build").TypeRelation(ops::Identity).Implement({.name = "mine"});
  EXPECT_THAT(ErrorOfCompile(), AllOf(HasSubstr("my.no_build"), HasSubstr("mine"),
                                      HasSubstr("needs a function that builds")));
}

TEST(RegisterOpErrorTest, NullFunctionsAreRefused) {
  OpRegistration("my.null_relation").TypeRelation(nullptr);
  EXPECT_THAT(ErrorOfCompile(),
              AllOf(HasSubstr("my.null_relation"), HasSubstr("its type relation is no function")));
  OpRegistration("my.null_compute").TypeRelation(ops::Identity).Compute(nullptr);
  EXPECT_THAT(ErrorOfCompile(),
              AllOf(HasSubstr("my.null_compute"), HasSubstr("its compute is no function")));
}

TEST(RegisterOpErrorTest, ArgumentsHaveNamesOfTheirOwn) {
  OpRegistration("my.no_name").Argument("", "Tensor", "").TypeRelation(ops::Identity);
  EXPECT_THAT(ErrorOfCompile(),
              AllOf(HasSubstr("my.no_name"), HasSubstr("an argument needs a name")));
  OpRegistration("my.same_names").Argument("x", "Tensor", "").Argument("x", "Tensor", "");
  EXPECT_THAT(ErrorOfCompile(),
              AllOf(HasSubstr("my.same_names"), HasSubstr("two arguments are called x")));
}

// --- what is known when a call is compiled

// What Compile says of an operator over float32 (4, 4) with this compute; folding and kernels ask
// for it.
std::string ErrorOf(const std::string& name) {
  const auto compiled =
      Compile(Parsed(StrCat("def @main(%x: Tensor[(4, 4), float32]) { ", name, "(%x) }")));
  EXPECT_EQ(compiled.status().code(), absl::StatusCode::kInvalidArgument) << compiled.status();
  EXPECT_THAT(std::string(compiled.status().message()),
              ::testing::Not(HasSubstr("internal error")));
  EXPECT_THAT(std::string(compiled.status().message()),
              AllOf(HasSubstr(name), HasSubstr("register_op_test.cc:")));
  return std::string(compiled.status().message());
}

using Tensors = std::vector<te::Tensor>;

OpRegistration WithCompute(const std::string& name, std::function<Tensors(const TeCall&)> make,
                           std::optional<ops::OpPattern> pattern = std::nullopt) {
  OpRegistration registration(name);
  registration.Argument("data", "Tensor", "input").TypeRelation(ops::Identity);
  if (pattern) registration.Pattern(*pattern);
  registration.Compute(std::move(make));
  return registration;
}

te::Tensor Filled(std::vector<te::Expr> shape, const te::Expr& value) {
  return te::Compute(
      std::move(shape), [&](const std::vector<te::Var>&) { return value; }, "filled");
}

TEST(ComputeTest, ResultsThatTheTypeRelationDoesNotPromiseAreRefused) {
  const te::Expr zero = loop::Constant(Float32, 0);
  WithCompute("my.of_shape", [=](const TeCall&) { return Tensors{Filled({2, 2}, zero)}; });
  EXPECT_THAT(ErrorOf("my.of_shape"),
              HasSubstr("gives float32 (2, 2); its type relation promises"));
  WithCompute("my.of_type", [](const TeCall&) {
    return Tensors{Filled({4, 4}, loop::Constant(Int32, 0))};
  });
  EXPECT_THAT(ErrorOf("my.of_type"), HasSubstr("gives int32 (4, 4)"));
  WithCompute("my.of_null", [](const TeCall&) { return Tensors{te::Tensor()}; });
  EXPECT_THAT(ErrorOf("my.of_null"), HasSubstr("a null tensor"));
  WithCompute("my.of_none", [](const TeCall&) { return Tensors(); });
  EXPECT_THAT(ErrorOf("my.of_none"), HasSubstr("gives 0 tensors; its type relation promises 1"));
  WithCompute("my.of_two", [](const TeCall& call) { return Tensors(2, call.input(0)); });
  EXPECT_THAT(ErrorOf("my.of_two"), HasSubstr("gives 2 tensors"));
}

TEST(ComputeTest, AnInputThatTheCallHasNotIsRefused) {
  WithCompute("my.reads_more", [](const TeCall& call) { return Tensors{call.input(1)}; });
  EXPECT_THAT(ErrorOf("my.reads_more"), HasSubstr("input 1 is asked for; the call has 1 tensor"));
}

TEST(ComputeTest, APlaceholderThatIsNoInputIsRefused) {
  WithCompute("my.reads_other", [](const TeCall& call) {
    return Tensors{te::Placeholder(call.te_shape(), call.dtype(), "other")};
  });
  EXPECT_THAT(ErrorOf("my.reads_other"),
              HasSubstr("the compute reads the placeholder other, which is none of the call's"));
}

TEST(ComputeTest, AnElementwiseOneTakesOneArgument) {
  OpRegistration("my.elementwise_pair")
      .Argument("x", "Tensor", "")
      .Argument("y", "Tensor", "")
      .TypeRelation(ops::Broadcast)
      .Elementwise([](te::Expr x) { return x; });
  const absl::Status status =
      Compile(Parsed("def @main(%x: Tensor[(4), float32]) { my.elementwise_pair(%x, %x) }"))
          .status();
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("takes one argument, not 2"), HasSubstr("register_op_test.cc")));
}

TEST(ComputeTest, WhateverItThrowsNamesTheOperator) {
  WithCompute("my.throws_int", [](const TeCall&) -> Tensors { throw 42; });
  EXPECT_THAT(ErrorOf("my.throws_int"), HasSubstr("not a std::exception"));
  WithCompute("my.throws_std", [](const TeCall&) -> Tensors { throw std::runtime_error("boom"); });
  EXPECT_THAT(ErrorOf("my.throws_std"), HasSubstr("boom"));
  WithCompute("my.throws_error", [](const TeCall&) -> Tensors { throw InvalidArgument("no"); });
  EXPECT_THAT(ErrorOf("my.throws_error"), HasSubstr("in its compute of my.throws_error"));
}

// Several kernels are made on several threads.
TEST(ComputeTest, WhatIsThrownOnAThreadIsAnErrorToo) {
  WithCompute("my.throws_on_threads", [](const TeCall&) -> Tensors { throw 42; });
  std::string params, fields;
  for (int i = 1; i < 20; ++i) {
    const char* comma = i > 1 ? ", " : "";
    StrAppend(&params, comma, "%x", i, ": Tensor[(", i, "), float32]");
    StrAppend(&fields, comma, "my.throws_on_threads(%x", i, ")");
  }
  const auto compiled = Compile(Parsed(StrCat("def @main(", params, ") { (", fields, ") }")));
  EXPECT_EQ(compiled.status().code(), absl::StatusCode::kInvalidArgument) << compiled.status();
}

TEST(RelationTest, WhateverItThrowsNamesTheOperator) {
  OpRegistration("my.relation_throws")
      .Argument("data", "Tensor", "input")
      .TypeRelation([](ops::TypeCall&) { throw 42; })
      .Elementwise([](te::Expr x) { return x; });
  EXPECT_THAT(ErrorOf("my.relation_throws"), HasSubstr("its type relation"));
}

TEST(RelationTest, AttributesThatAreNotRegisteredAreNamed) {
  OpRegistration("my.reads_attributes")
      .Argument("data", "Tensor", "input")
      .TypeRelation([](ops::TypeCall& call) { call.attrs<SwishAttrs>(); })
      .Elementwise([](te::Expr x) { return x; });
  EXPECT_THAT(ErrorOf("my.reads_attributes"),
              AllOf(HasSubstr("SwishAttrs"), HasSubstr("register the operator with .Attrs<")));
}

// --- patterns

Tensors RowSums(const TeCall& call) {
  const te::IterVar k = te::ReduceAxis(0, 4, "k");
  const te::Tensor& x = call.input(0);
  const te::Tensor sums = te::Compute(
      {4}, [&](const te::Var& i) { return te::Sum(x(i, k.var), {k}); }, "sums");
  return {te::Compute(
      {4, 4}, [&](const te::Var& i, const te::Var& j) { return x(i, j) - sums(i); }, "centred")};
}
Tensors Transposed(const TeCall& call) {
  return {te::Compute(
      {4, 4}, [&](const te::Var& i, const te::Var& j) { return call.input(0)(j, i); },
      "transposed")};
}
Tensors Doubled(const TeCall& call) {
  return {te::Compute(
      {4, 4}, [&](const te::Var& i, const te::Var& j) { return call.input(0)(i, j) * 2.0F; },
      "doubled")};
}

TEST(PatternTest, APatternThatContradictsTheComputeIsRefused) {
  using ops::OpPattern;
  struct Case {
    const char* name;
    Tensors (*make)(const TeCall&);
    OpPattern pattern;
    const char* reason;
  };
  const Case cases[] = {
      {"my.sums_as_elemwise", RowSums, OpPattern::kElemWise, "sums is a reduction"},
      {"my.sums_as_broadcast", RowSums, OpPattern::kBroadcast, "sums is a reduction"},
      {"my.sums_as_injective", RowSums, OpPattern::kInjective, "sums is a reduction"},
      {"my.transposed_as_elemwise", Transposed, OpPattern::kElemWise, "of other places"},
      {"my.doubled_as_reduction", Doubled, OpPattern::kCommReduce, "nothing in it is a reduction"},
  };
  for (const Case& c : cases) {
    WithCompute(c.name, c.make, c.pattern);
    EXPECT_THAT(ErrorOf(c.name), AllOf(HasSubstr(ToString(c.pattern)),
                                       HasSubstr("contradicts the compute"), HasSubstr(c.reason)));
  }
}

TEST(PatternTest, APatternThatTheComputeShowsIsTaken) {
  using ops::OpPattern;
  const NDArray x = Random({4, 4}, 7);
  int made = 0;
  for (const auto& [make, pattern] :
       {std::pair(&RowSums, OpPattern::kCommReduce), std::pair(&RowSums, OpPattern::kOpaque),
        std::pair(&Transposed, OpPattern::kInjective), std::pair(&Doubled, OpPattern::kElemWise),
        std::pair(&Doubled, OpPattern::kBroadcast)}) {
    const std::string name = StrCat("my.right_pattern_", ++made);
    WithCompute(name, make, pattern);
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(4, 4), float32]) { exp(", name, "(%x)) }"));
    ExpectClose(Outcome(module, {{"x", x}}), Interpreted(module, {{"x", x}}));
  }
}

// --- implementations

// An operator that anchors its group, with an implementation that gives `built`.
void WithImplementation(const std::string& name, std::function<BuildResult(const Group&)> build) {
  WithCompute(name, Doubled, ops::OpPattern::kOutEWiseFusable)
      .Implement({.name = "mine", .priority = 100, .build = std::move(build)});
}

TEST(ImplementationTest, OneWithoutARefusalIsTaken) {
  WithImplementation("my.built", [](const Group& group) {
    const TeFunction function = LowerFunction(*group.function);
    Built built;
    const std::vector<te::Tensor> args =
        ParamsReadBy(function.outputs, function.params, &built.arguments);
    built.kernel = LowerOutputs(args, function.outputs, group.name, group.lowering);
    return built;
  });
  const ir::Module module = Parsed("def @main(%x: Tensor[(4, 4), float32]) { my.built(%x) }");
  const NDArray x = Random({4, 4}, 8);
  const Lowered lowered = ValueOrThrow(Lower(module));
  EXPECT_EQ(lowered.kernels.at(0).choice.implementation, "mine");
  ExpectClose(Outcome(module, {{"x", x}}), Interpreted(module, {{"x", x}}));
}

TEST(ImplementationTest, AnOpaqueOperatorMayHaveOne) {
  const auto build = [](const Group& group) {
    const TeFunction function = LowerFunction(*group.function);
    return Built{
        .kernel = LowerOutputs(function.params, function.outputs, group.name, group.lowering),
        .arguments = {0}};
  };
  WithCompute("my.opaque", Doubled).Implement({.name = "mine", .priority = 100, .build = build});
  const ir::Module module = Parsed("def @main(%x: Tensor[(4, 4), float32]) { exp(my.opaque(%x)) }");
  const Lowered lowered = ValueOrThrow(Lower(module));
  std::vector<std::string> implementations;
  for (const LoweredKernel& kernel : lowered.kernels)
    implementations.push_back(kernel.choice.implementation);
  EXPECT_THAT(implementations, ::testing::Contains("mine"));
  const NDArray x = Random({4, 4}, 9);
  ExpectClose(Outcome(module, {{"x", x}}), Interpreted(module, {{"x", x}}));
}

TEST(ImplementationTest, OneThatRefusesWhileItBuildsLeavesItsReasonAndTheNextIsTaken) {
  WithImplementation("my.refuses_late",
                     [](const Group&) { return Refused{"the device is in use"}; });
  WithImplementation("my.throws_late",
                     [](const Group&) -> Built { throw Unimplemented("the device is in use"); });
  const NDArray x = Random({4, 4}, 10);
  for (const char* name : {"my.refuses_late", "my.throws_late"}) {
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(4, 4), float32]) { ", name, "(%x) }"));
    const Choice choice = ValueOrThrow(Lower(module)).kernels.at(0).choice;
    EXPECT_EQ(choice.implementation, "te");
    EXPECT_THAT(choice.Explanation(), HasSubstr("mine (priority 100): no, the device is in use"));
    ExpectClose(Outcome(module, {{"x", x}}), Interpreted(module, {{"x", x}}));
  }
}

TEST(ImplementationTest, AKernelThatCannotBeCalledIsRefused) {
  WithImplementation("my.empty", [](const Group&) { return Built{}; });
  EXPECT_THAT(ErrorOf("my.empty"), HasSubstr("a function without a body"));
  WithImplementation("my.forgets_arguments", [](const Group& group) {
    const TeFunction function = LowerFunction(*group.function);
    return Built{.kernel = LowerOutputs(function.params, function.outputs, group.name, {})};
  });
  EXPECT_THAT(ErrorOf("my.forgets_arguments"),
              HasSubstr("has 2 buffers; it is called with 1: 0 of Built::arguments"));
  WithImplementation("my.null_library", [](const Group&) {
    return Built{.kernel = std::shared_ptr<const jit::Callable>(), .arguments = {0}};
  });
  EXPECT_THAT(ErrorOf("my.null_library"), HasSubstr("a null library kernel"));
  WithImplementation("my.foreign_argument", [](const Group& group) {
    const TeFunction function = LowerFunction(*group.function);
    return Built{.kernel = LowerOutputs(function.params, function.outputs, group.name, {}),
                 .arguments = {3}};
  });
  EXPECT_THAT(ErrorOf("my.foreign_argument"), HasSubstr("names parameter 3; the function has 1"));
  WithImplementation("my.foreign_constant", [](const Group& group) {
    const TeFunction function = LowerFunction(*group.function);
    Built built{.kernel = LowerOutputs(function.params, function.outputs, group.name, {}),
                .arguments = {0}};
    built.prepared = {{.function = std::get<loop::Function>(built.kernel), .arguments = {-1}}};
    return built;
  });
  EXPECT_THAT(ErrorOf("my.foreign_constant"),
              HasSubstr("PreparedConstant::arguments names parameter -1; the function has 1"));
}

// It would write past the end of the result.
TEST(ImplementationTest, AKernelOfOtherArraysIsRefused) {
  WithImplementation("my.larger", [](const Group& group) {
    const te::Tensor x = te::Placeholder({8, 8}, Float32, "x");
    const te::Tensor y = te::Compute({8, 8}, [&](te::Var i, te::Var j) { return x(i, j) * 2; });
    return Built{.kernel = LowerOutputs({x}, {y}, group.name, {}), .arguments = {0}};
  });
  EXPECT_THAT(ErrorOf("my.larger"), HasSubstr("has 64 elements; it is called with 16"));
}

TEST(ImplementationTest, AnErrorInsideOneNamesItAndTheOperator) {
  WithImplementation("my.splits_by_zero", [](const Group& group) {
    const TeFunction function = LowerFunction(*group.function);
    schedule::Schedule s(function.outputs);
    s[function.outputs[0]].Split(function.outputs[0].axis(0), 0);
    return Built{};
  });
  EXPECT_THAT(ErrorOf("my.splits_by_zero"),
              AllOf(HasSubstr("the factor is 0"),
                    HasSubstr("in its implementation mine of my.splits_by_zero")));
}

class LostDevice : public jit::Callable {
 public:
  void Call(void* const*, void*) const override { throw std::runtime_error("the device is gone"); }
  std::string implementation() const override { return "device"; }
};

TEST(ImplementationTest, WhatItsKernelThrowsNamesItAndTheOperator) {
  WithImplementation("my.on_device", [](const Group&) {
    return Built{.kernel = std::make_shared<const LostDevice>(), .arguments = {0}};
  });
  const Executable exe =
      ValueOrThrow(Compile(Parsed("def @main(%x: Tensor[(4, 4), float32]) { my.on_device(%x) }")));
  EXPECT_EQ(exe.kernels()[0]->implementation(), "device");
  const absl::Status status = exe.Run({{"x", Random({4, 4}, 1)}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("my.on_device: a kernel of its implementation mine threw an "
                              "exception: the device is gone"),
                    HasSubstr("register_op_test.cc:")));
}

}  // namespace
}  // namespace tenon::strategies
