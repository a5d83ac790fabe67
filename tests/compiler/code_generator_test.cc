// Code generators of users: what they build runs, what they refuse is generated, and what they do
// wrong is an error that names them.
#include "tenon/compiler/code_generator.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/compile.h"
#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/partition/merge_compiler_regions.h"
#include "tenon/passes/partition/merge_composite_functions.h"
#include "tenon/passes/partition/partition_graph.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using passes::FusionPattern;
using passes::IsOp;
using passes::Wildcard;
using strategies::Group;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

constexpr char kLayer[] = R"(
def @main(%x: Tensor[(3, 4), float32], %w: Tensor[(5, 4), float32]) {
  tanh(nn.relu(nn.dense(%x, %w, units=None)))
})";
constexpr char kConstantLayer[] = R"(
def @main(%x: Tensor[(3, 4), float32]) {
  nn.relu(nn.dense(%x, cumsum(broadcast_to(0.1f, shape=[5, 4]), axis=1), units=None))
})";

std::vector<FusionPattern> DensePatterns(const std::string& name) {
  return {{StrCat(name, ".dense_relu"), IsOp("nn.relu")(IsOp("nn.dense")(Wildcard(), Wildcard()))}};
}

std::vector<ir::Type> ResultTypes(const Group& group) {
  return ir::Flatten(group.function->body.checked_type());
}

// relu(x w^T), with w as it is or packed when the kernel is made.
class DenseRelu : public jit::Callable {
 public:
  DenseRelu(Shape x, Shape w, const NDArray& known) : x_(std::move(x)), w_(std::move(w)) {
    if (known.defined()) packed_.assign(known.data<float>(), known.data<float>() + w_[0] * w_[1]);
  }
  void Call(void* const* buffers, void*) const override {
    const auto* x = static_cast<const float*>(buffers[0]);
    const auto* w = packed_.empty() ? static_cast<const float*>(buffers[1]) : packed_.data();
    auto* y = static_cast<float*>(buffers[packed_.empty() ? 2 : 1]);
    for (std::int64_t i = 0; i < x_[0]; ++i) {
      for (std::int64_t j = 0; j < w_[0]; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < w_[1]; ++k) sum += x[i * x_[1] + k] * w[j * w_[1] + k];
        y[i * w_[0] + j] = std::max(sum, 0.0F);
      }
    }
  }
  std::string implementation() const override {
    return packed_.empty() ? "mine dense_relu" : "mine dense_relu packed";
  }

 private:
  Shape x_, w_;
  std::vector<float> packed_;
};

CompositeKernel BuildDenseRelu(const Group& group) {
  const auto shape = [&](std::size_t i) {
    return ir::StaticShape(group.function->params[i].checked_type(), "a parameter");
  };
  const NDArray& weight = group.constants[1];
  return {.kernel = std::make_shared<DenseRelu>(shape(0), shape(1), weight),
          .arguments = weight.defined() ? std::vector<int>{0} : std::vector<int>{0, 1},
          .results = ResultTypes(group)};
}

// A generator of these patterns; tests change a part of it.
CodeGenerator Mine(const std::string& name) {
  return {
      .name = name, .patterns = [name] { return DensePatterns(name); }, .build = BuildDenseRelu};
}

std::string StartupErrors() {
  const absl::Status status = CatchErrors([] { ops::OpRegistry::Global().ThrowStartupErrors(); });
  return std::string(status.message());
}

void Register(CodeGenerator generator) {
  ASSERT_TRUE(RegisterCodeGenerator(std::move(generator))) << StartupErrors();
}

// The message of compiling the layer for a generator that is registered for it.
std::string ErrorOf(CodeGenerator generator) {
  const std::string name = generator.name;
  Register(std::move(generator));
  const absl::Status status = Compile(PartitionFor(Parsed(kLayer), name)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("internal error")));
  return std::string(status.message());
}

TEST(CodeGeneratorTest, ThePassesBeforeItAreThoseThatAreAskedFor) {
  Register(Mine("leveled"));
  const ir::Module module = Parsed("def @main(%x: Tensor[(4), float32]) { add(add(%x, 1f), 2f) }");
  EXPECT_THAT(ir::PrintModule(PartitionFor(module, "leveled")), HasSubstr("3f"));
  EXPECT_THAT(ir::PrintModule(PartitionFor(module, "leveled", {.opt_level = 0})),
              Not(HasSubstr("3f")));
  EXPECT_THAT(ir::PrintModule(PartitionFor(module, "leveled", {.disabled = {"SimplifyExpr"}})),
              Not(HasSubstr("3f")));
}

TEST(CodeGeneratorTest, ItsKernelRunsInsideAGraph) {
  Register(Mine("runs"));
  const ir::Module module = Parsed(kLayer);
  const ir::Module partitioned = PartitionFor(module, "runs");
  EXPECT_THAT(ir::PrintModule(partitioned),
              AllOf(HasSubstr("Composite=\"runs.dense_relu\""), HasSubstr("Codegen=\"runs\"")));
  for (int level = 0; level <= 4; ++level) {
    const Executable exe = ValueOrThrow(Compile(partitioned, {.opt_level = level}));
    ASSERT_EQ(exe.kernels().size(), 2U);
    EXPECT_EQ(exe.kernels()[0]->implementation(), "mine dense_relu");
    const runtime::Inputs inputs = RandomInputs(module, 1);
    ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(module, inputs), 1e-5);
  }
}

TEST(CodeGeneratorTest, ConstantsArePackedOnce) {
  auto packed = std::make_shared<std::atomic<int>>(0);
  CodeGenerator generator = Mine("packs");
  generator.build = [packed](const Group& group) {
    *packed += group.constants[1].defined() ? 1 : 0;
    return BuildDenseRelu(group);
  };
  Register(generator);
  const ir::Module module = Parsed(kConstantLayer);
  const Executable exe = ValueOrThrow(Compile(PartitionFor(module, "packs")));
  EXPECT_EQ(exe.kernels()[0]->implementation(), "mine dense_relu packed");
  EXPECT_THAT(exe.constants(), IsEmpty());
  const runtime::Inputs inputs = RandomInputs(module, 2);
  for (int run = 0; run < 3; ++run)
    ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(module, inputs), 1e-5);
  EXPECT_EQ(*packed, 1);
}

// exp(x) and its sum along rows.
class ExpSum : public jit::Callable {
 public:
  ExpSum(std::int64_t rows, std::int64_t columns, bool sum_first)
      : rows_(rows), columns_(columns), sum_first_(sum_first) {}
  void Call(void* const* buffers, void*) const override {
    const auto* x = static_cast<const float*>(buffers[0]);
    auto* exp = static_cast<float*>(buffers[sum_first_ ? 2 : 1]);
    auto* sum = static_cast<float*>(buffers[sum_first_ ? 1 : 2]);
    for (std::int64_t i = 0; i < rows_; ++i) {
      sum[i] = 0;
      for (std::int64_t j = 0; j < columns_; ++j)
        sum[i] += exp[i * columns_ + j] = std::exp(x[i * columns_ + j]);
    }
  }
  std::string implementation() const override { return "mine exp_sum"; }

 private:
  std::int64_t rows_, columns_;
  bool sum_first_;
};

TEST(CodeGeneratorTest, ACompositeMayHaveSeveralResults) {
  Register({.name = "several",
            .patterns =
                [] {
                  return std::vector<FusionPattern>{
                      {"several.exp_sum", IsOp("sum")(IsOp("exp")(Wildcard()))}};
                },
            .build =
                [](const Group& group) {
                  const auto types = ResultTypes(group);
                  const Shape first = ir::StaticShape(types[0], "a result");
                  return CompositeKernel{
                      .kernel = std::make_shared<ExpSum>(3, 4, NumElements(first) == 3),
                      .arguments = {0},
                      .results = types};
                }});
  const ir::Module module = Parsed(R"(
def @main(%x: Tensor[(3, 4), float32]) {
  %0 = exp(%x);
  divide(%0, sum(%0, axis=[1], keepdims=True))
})");
  const Executable exe = ValueOrThrow(Compile(PartitionFor(module, "several")));
  EXPECT_EQ(exe.kernels()[0]->implementation(), "mine exp_sum");
  const runtime::Inputs inputs = RandomInputs(module, 3);
  ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(module, inputs), 1e-5);
}

TEST(CodeGeneratorTest, WhatItRefusesIsGeneratedAndTheReasonIsGiven) {
  CodeGenerator generator = Mine("refuses");
  generator.refusal = [](const Group&) { return "rows of 4 are too short"; };
  Register(generator);
  CodeGenerator late = Mine("refuses_late");
  late.build = [](const Group&) { return strategies::Refused{"there is no room"}; };
  Register(late);
  CodeGenerator throwing = Mine("throws_late");
  throwing.build = [](const Group&) -> CompositeKernel { throw Unimplemented("there is no room"); };
  Register(throwing);
  const ir::Module module = Parsed(kLayer);
  const runtime::Inputs inputs = RandomInputs(module, 4);
  const std::pair<const char*, const char*> refusals[] = {{"refuses", "rows of 4 are too short"},
                                                          {"refuses_late", "there is no room"},
                                                          {"throws_late", "there is no room"}};
  for (const auto& [name, reason] : refusals) {
    const Lowered lowered = ValueOrThrow(Lower(PartitionFor(module, name)));
    EXPECT_THAT(lowered.kernels[0].choice.Explanation(),
                AllOf(HasSubstr(StrCat("composite ", name, ".dense_relu: ", name, " wherever")),
                      HasSubstr(StrCat("  ", name, " (priority 1000): no, ", reason)),
                      HasSubstr("chosen")));
    ExpectClose(ValueOrThrow(ValueOrThrow(Link(lowered)).Run(inputs)), Interpreted(module, inputs),
                1e-5);
  }
}

TEST(CodeGeneratorTest, ItIsNotAskedWhereGeneratedCodeIs) {
  CodeGenerator generator = Mine("not_asked");
  generator.build = [](const Group&) -> CompositeKernel { throw InvalidArgument("asked"); };
  Register(generator);
  const Lowered lowered = ValueOrThrow(
      Lower(PartitionFor(Parsed(kLayer), "not_asked"), {.library = LibraryChoice::kTe}));
  EXPECT_THAT(lowered.kernels[0].choice.Explanation(),
              HasSubstr("not_asked (priority 1000): no, generated code is asked for"));
}

TEST(CodeGeneratorTest, RegionsOfAnnotatedCallsAreItsToo) {
  CodeGenerator generator = Mine("annotated");
  generator.supports = [](const ir::Expr& call) {
    return call.As<ir::CallNode>()->op()->name == "tanh";
  };
  Register(generator);
  const auto annotator = CodeGeneratorRegistry::Global().AnnotatorOf("annotated");
  const ir::Module fused = passes::FuseOpsByPattern(
      Parsed(kLayer), CodeGeneratorRegistry::Global().PatternsOf("annotated"));
  const ir::Module regions = passes::PartitionGraph(
      passes::MergeCompilerRegions(passes::AnnotateTarget(passes::InferType(fused), {annotator})));
  EXPECT_THAT(ir::PrintModule(regions),
              AllOf(HasSubstr("Compiler=\"annotated\""), HasSubstr("tanh")));
  const Executable exe = ValueOrThrow(Compile(regions));
  EXPECT_EQ(exe.kernels()[0]->implementation(), "mine dense_relu");
}

// --- what is refused

TEST(CodeGeneratorTest, TheExplanationNamesAGeneratorThatIsNotThere) {
  const ir::Module module = passes::MergeCompositeFunctions(
      passes::FuseOpsByPattern(Parsed(kLayer), DensePatterns("nobody")));
  EXPECT_THAT(ValueOrThrow(Lower(module)).kernels[0].choice.Explanation(),
              HasSubstr("composite nobody.dense_relu: there is no code generator nobody"));
}

TEST(CodeGeneratorTest, AnUnknownNameIsRefusedWithTheNearestOne) {
  const absl::Status status = CatchErrors([] { PartitionFor(Parsed(kLayer), "dnn"); });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("there is no code generator dnn"), HasSubstr("did you mean dnnl?")));
}

TEST(CodeGeneratorTest, RegistrationsThatCannotBeUsedAreErrorsOfTheNextCompile) {
  CodeGenerator twice = Mine("twice");
  Register(twice);
  EXPECT_FALSE(RegisterCodeGenerator(twice));
  EXPECT_FALSE(RegisterCodeGenerator(Mine("dnnl")));
  for (const char* name : {"", "default", "a.b"}) EXPECT_FALSE(RegisterCodeGenerator(Mine(name)));
  CodeGenerator no_build = Mine("no_build");
  no_build.build = nullptr;
  EXPECT_FALSE(RegisterCodeGenerator(no_build));
  CodeGenerator no_patterns = Mine("no_patterns");
  no_patterns.patterns = nullptr;
  EXPECT_FALSE(RegisterCodeGenerator(no_patterns));
  EXPECT_FALSE(RegisterCodeGenerator(Mine("old"), std::source_location::current(), 1));
  const absl::Status status = Compile(Parsed(kLayer)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("code_generator_test.cc"),
            HasSubstr("there is one of that name, registered at"),
            HasSubstr("must not be empty, \"default\" or have a dot"),
            HasSubstr("the code generator no_build"), HasSubstr("it needs a function that builds"),
            HasSubstr("it needs a function that gives its patterns"),
            HasSubstr("compiled with other headers")));
  EXPECT_THAT(CodeGeneratorRegistry::Global().Names(),
              AllOf(Contains("twice"), Not(Contains("no_build")), Not(Contains("old"))));
}

TEST(CodeGeneratorTest, APatternOfAnotherNameIsRefused) {
  CodeGenerator generator = Mine("named");
  generator.patterns = [] { return DensePatterns("others"); };
  Register(generator);
  const absl::Status status = CatchErrors([] { PartitionFor(Parsed(kLayer), "named"); });
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("\"others.dense_relu\" must have a name that begins with named."),
                    HasSubstr("the code generator named, registered at")));
}

TEST(CodeGeneratorTest, WhatItsFunctionsThrowNamesIt) {
  CodeGenerator throws = Mine("throws");
  throws.build = [](const Group&) -> CompositeKernel { throw std::runtime_error("no licence"); };
  EXPECT_THAT(ErrorOf(throws), AllOf(HasSubstr("the code generator throws"), HasSubstr("the build"),
                                     HasSubstr("no licence"), HasSubstr("code_generator_test.cc")));
  CodeGenerator number = Mine("throws_number");
  number.build = [](const Group&) -> CompositeKernel { throw 42; };
  EXPECT_THAT(ErrorOf(number), HasSubstr("something that is not a std::exception"));
  CodeGenerator refusal = Mine("throws_refusal");
  refusal.refusal = [](const Group&) -> std::optional<std::string> {
    throw std::runtime_error("no file");
  };
  EXPECT_THAT(ErrorOf(refusal), AllOf(HasSubstr("the refusal"), HasSubstr("no file")));
  CodeGenerator supports = Mine("throws_supports");
  supports.supports = [](const ir::Expr&) -> bool { throw std::runtime_error("no table"); };
  Register(supports);
  const absl::Status status = CatchErrors([] {
    passes::AnnotateTarget(passes::InferType(Parsed(kLayer)),
                           {CodeGeneratorRegistry::Global().AnnotatorOf("throws_supports")});
  });
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("what it supports"), HasSubstr("no table")));
}

TEST(CodeGeneratorTest, AKernelOfOtherResultsIsRefused) {
  const auto with = [](const std::string& name, std::vector<ir::Type> results) {
    CodeGenerator generator = Mine(name);
    generator.build = [results](const Group& group) {
      CompositeKernel kernel = BuildDenseRelu(group);
      kernel.results = results;
      return kernel;
    };
    return generator;
  };
  EXPECT_THAT(ErrorOf(with("shape", {ir::TensorType({5, 3}, Float32)})),
              AllOf(HasSubstr("writes Tensor[(5, 3), float32] as result 0"),
                    HasSubstr("the composite's is Tensor[(3, 5), float32]"),
                    HasSubstr("the code generator shape, registered at")));
  EXPECT_THAT(ErrorOf(with("type", {ir::TensorType({3, 5}, Int32)})),
              HasSubstr("writes Tensor[(3, 5), int32] as result 0"));
  EXPECT_THAT(ErrorOf(with("number", {})), HasSubstr("writes 0 results; the composite has 1"));
  EXPECT_THAT(ErrorOf(with("null_type", {ir::Type()})), HasSubstr("the type of result 0"));
}

TEST(CodeGeneratorTest, AKernelThatCannotBeCalledIsRefused) {
  CodeGenerator null = Mine("null_kernel");
  null.build = [](const Group& group) {
    CompositeKernel kernel = BuildDenseRelu(group);
    kernel.kernel = nullptr;
    return kernel;
  };
  EXPECT_THAT(ErrorOf(null), HasSubstr("is a null library kernel"));
  CodeGenerator beyond = Mine("beyond");
  beyond.build = [](const Group& group) {
    CompositeKernel kernel = BuildDenseRelu(group);
    kernel.arguments = {0, 2};
    return kernel;
  };
  EXPECT_THAT(ErrorOf(beyond), HasSubstr("names parameter 2; the function has 2"));
}

}  // namespace
}  // namespace tenon
