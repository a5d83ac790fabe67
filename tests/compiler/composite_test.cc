// Composite functions are compiled by the code generator that they name: the rows S002-*. What is
// run after the anchor is read from the composite's graph, so its name may say anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/compile.h"
#include "tenon/compiler/partition_onednn.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/passes/partition/merge_composite_functions.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"
#include "tenon/strategies/onednn/facts.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon {
namespace {

using passes::FusionPattern;
using passes::IsOp;
using passes::Pattern;
using passes::Wildcard;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::Random;
using testing_graphs::RandomInputs;

Pattern Conv() { return IsOp("nn.conv2d")(Wildcard(), Wildcard()); }

// One composite of the name for what matches.
ir::Module Offloaded(const ir::Module& module, const std::string& name, const Pattern& pattern,
                     bool bind_constants = true) {
  const std::vector<FusionPattern> patterns = {{name, pattern}};
  return passes::MergeCompositeFunctions(
      passes::FuseOpsByPattern(module, patterns, {.bind_constants = bind_constants}));
}

std::vector<std::string> Implementations(const ir::Module& module,
                                         const CompileOptions& options = {}) {
  std::vector<std::string> names;
  const Executable exe = ValueOrThrow(Compile(module, options));
  for (const auto& kernel : exe.kernels()) names.push_back(kernel->implementation());
  return names;
}

std::vector<NDArray> ResultsOf(const ir::Module& module, const runtime::Inputs& inputs,
                               const CompileOptions& options = {}) {
  return ValueOrThrow(ValueOrThrow(Compile(module, options)).Run(inputs));
}

// conv2d, reshape of the bias, add, relu: 7 x 9 images, 5 to 17 channels.
ir::Module ConvReshapeAddRelu(bool commuted = false) {
  return Parsed(StrCat(R"(
def @main(%data: Tensor[(1, 5, 7, 9), float32], %weight: Tensor[(17, 5, 3, 3), float32],
          %bias: Tensor[(17), float32]) {
  %0 = nn.conv2d(%data, %weight, padding=[1, 1, 1, 1]);
  %1 = reshape(%bias, newshape=[1, 17, 1, 1]);
  nn.relu(add()",
                       commuted ? "%1, %0" : "%0, %1", R"())
})"));
}
Pattern ReshapeAddRelu() {
  return IsOp("nn.relu")(IsOp("add")(Conv(), IsOp("reshape")(Wildcard())));
}

// Fusion leaves what belongs to a code generator to it.
TEST(CompositeTest, FusionAfterPartitioningChangesNoComposite) {
  const ir::Module module = ConvReshapeAddRelu();
  const runtime::Inputs inputs = RandomInputs(module, 7);
  const ir::Module offloaded = Offloaded(module, "dnnl.conv2d_relu", ReshapeAddRelu());
  const ir::Module fused = passes::FuseOps(offloaded);
  EXPECT_EQ(Print(fused), Print(offloaded));
  ExpectClose(ResultsOf(fused, inputs)[0], Interpreted(module, inputs)[0]);
  EXPECT_THAT(Implementations(fused), Each(StartsWith("onednn")));
}

// Of such a function there is no kernel, whatever the function inside has for an anchor.
TEST(CompositeTest, AKernelThatHoldsAFunctionIsRefusedInWords) {
  for (const char* call : {"nn.conv2d(%p0, %p0)", "nn.relu(%p0)"}) {
    const absl::StatusOr<Executable> compiled = Compile(Parsed(StrCat(R"(
def @main(%x: Tensor[(3, 3, 1, 1), float32]) {
  %0 = fn (%a: Tensor[(3, 3, 1, 1), float32], Primitive=1, Composite="dnnl.some") {
    %1 = fn (%p0: Tensor[(3, 3, 1, 1), float32], Primitive=1) { )",
                                                                      call, R"( };
    %1(%a)
  };
  %0(%x)
})")));
    ASSERT_FALSE(compiled.ok());
    EXPECT_EQ(compiled.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(compiled.status().ToString(),
                HasSubstr("a fused function holds operator calls only"));
  }
}

// The bias is not zero, and the name says nothing of it.
TEST(CompositeTest, S002_05_S002_10_S002_11_S002_13_PostOpsComeFromTheGraphAndNotFromTheName) {
  for (const bool commuted : {false, true}) {
    const ir::Module module = ConvReshapeAddRelu(commuted);
    const runtime::Inputs inputs = RandomInputs(module, 7);
    for (const char* name :
         {"dnnl.conv2d_reshape_add_relu", "dnnl.conv2d", "dnnl.conv2d_bias_sum_tanh"}) {
      const ir::Module composite = Offloaded(module, name, ReshapeAddRelu());
      EXPECT_THAT(Implementations(composite), ElementsAre(StartsWith("onednn "))) << name;
      ExpectClose(ResultsOf(composite, inputs), Interpreted(module, inputs), 1e-5);
    }
  }
}

int CallsOf(const Executable& exe) {
  int calls = 0;
  for (const runtime::Node& node : exe.plan().nodes)
    calls += node.kind != runtime::NodeKind::kInput && node.kind != runtime::NodeKind::kConstant;
  return calls;
}

// Against every operator on its own.
TEST(CompositeTest, S002_06_S002_07_FourCallsBecomeOneAndIntermediatesAreNotStored) {
  const ir::Module module = ConvReshapeAddRelu();
  const ir::Module composite = Offloaded(module, "dnnl.conv2d_reshape_add_relu", ReshapeAddRelu());
  const Executable before = ValueOrThrow(Compile(module, {.opt_level = 0}));
  const Executable after = ValueOrThrow(Compile(composite, {.opt_level = 0}));
  // The reshape is a view of the bias, so that of the four calls three are kernels here.
  EXPECT_EQ(CallsOf(before), 4);
  EXPECT_EQ(CallsOf(after), 1);
  EXPECT_EQ(before.num_kernel_calls(), 3);
  EXPECT_EQ(after.num_kernel_calls(), 1);
  constexpr std::size_t kImage = 17 * 7 * 9 * sizeof(float);
  // The result is counted, too.
  EXPECT_EQ(before.working_bytes(), 2 * kImage);
  EXPECT_EQ(after.working_bytes(), kImage);
}

// At every level and without MergeCompositeFunctions, too.
TEST(CompositeTest, CompositesRunAtEveryLevelMergedOrNot) {
  const ir::Module module = ConvReshapeAddRelu();
  const runtime::Inputs inputs = RandomInputs(module, 3);
  const std::vector<FusionPattern> patterns = {{"dnnl.any", ReshapeAddRelu()}};
  const ir::Module annotated =
      passes::FuseOpsByPattern(module, patterns, {.annotate_codegen = true});
  for (const ir::Module& m : {passes::FuseOpsByPattern(module, patterns), annotated}) {
    for (int level = 0; level <= 3; ++level) {
      EXPECT_THAT(Implementations(m, {.opt_level = level}), ElementsAre(StartsWith("onednn ")));
      ExpectClose(ResultsOf(m, inputs, {.opt_level = level}), Interpreted(module, inputs), 1e-5);
    }
  }
}

// Constants inside the function are packed when the kernel is made.
TEST(CompositeTest, S000_06_ConstantsInsideTheCompositeArePartOfTheKernel) {
  const ir::Module module = ConvReshapeAddRelu();
  const runtime::Inputs inputs = RandomInputs(module, 5);
  const ir::Module bound = passes::BindParams(
      module, "main", {{"weight", inputs.at("weight")}, {"bias", inputs.at("bias")}});
  for (const bool inside : {true, false}) {
    const ir::Module composite = Offloaded(bound, "dnnl.any", ReshapeAddRelu(), inside);
    const Executable exe = ValueOrThrow(Compile(composite));
    EXPECT_TRUE(exe.constants().empty());
    EXPECT_THAT(exe.kernels()[0]->implementation(), StartsWith("onednn "));
    ExpectClose(ValueOrThrow(exe.Run({{"data", inputs.at("data")}})), Interpreted(module, inputs),
                1e-5);
  }
}

TEST(CompositeTest, S002_12_ChainsThatLackAPartAreNotMatched) {
  for (const char* body :
       {"add(nn.conv2d(%x, %w), reshape(%b, newshape=[1, 3, 1, 1]))", "nn.relu(nn.conv2d(%x, %w))",
        "nn.relu(add(nn.conv2d(%x, %w), %c))", "nn.conv2d(%x, %w)", "add(nn.conv2d(%x, %w), %c)"}) {
    const ir::Module module = passes::InferType(Parsed(
        StrCat("def @main(%x: Tensor[(1, 2, 5, 5), float32], %w: Tensor[(3, 2, 1, 1), float32], "
               "%b: Tensor[(3), float32], %c: Tensor[(3, 1, 1), float32]) { ",
               body, " }")));
    EXPECT_EQ(passes::FuseOpsByPattern(module, {{"dnnl.any", ReshapeAddRelu()}}), module) << body;
    // A shorter pattern later in the list takes the convolution.
    const ir::Module shorter =
        passes::FuseOpsByPattern(module, {{"dnnl.any", ReshapeAddRelu()}, {"dnnl.conv2d", Conv()}});
    EXPECT_EQ(shorter.functions().size(), 2U) << body;
    EXPECT_TRUE(shorter.Find("fused_nn_conv2d")) << body;
  }
}

// A bias of another size than the channels, which still broadcasts. Without the constraint it is a
// composite, and is added as the graph says.
TEST(CompositeTest, S002_12_ABiasOfTheWrongSizeIsRefusedByAShapeInThePattern) {
  const auto module_of = [](const char* shape, const char* newshape) {
    return passes::InferType(Parsed(
        StrCat("def @main(%x: Tensor[(1, 2, 5, 5), float32], %w: Tensor[(3, 2, 1, 1), float32], "
               "%b: Tensor[(",
               shape,
               "), float32]) {\n  nn.relu(add(nn.conv2d(%x, %w), reshape(%b, "
               "newshape=[",
               newshape, "])))\n}")));
  };
  const Pattern reshape = IsOp("reshape")(Wildcard()).HasShape({1, 3, 1, 1});
  const Pattern strict = IsOp("nn.relu")(IsOp("add")(Conv(), reshape));
  EXPECT_EQ(passes::FuseOpsByPattern(module_of("3", "1, 3, 1, 1"), {{"dnnl.any", strict}})
                .functions()
                .size(),
            2U);
  for (const auto& [shape, newshape] : {std::pair("1", "1, 1, 1, 1"), {"25", "1, 1, 5, 5"}}) {
    const ir::Module module = module_of(shape, newshape);
    EXPECT_EQ(passes::FuseOpsByPattern(module, {{"dnnl.any", strict}}), module) << shape;
    EXPECT_EQ(passes::FuseOpsByPattern(module, {{"dnnl.any", ReshapeAddRelu()}}).functions().size(),
              2U)
        << shape;
    const ir::Module shorter =
        passes::FuseOpsByPattern(module, {{"dnnl.any", strict}, {"dnnl.conv2d", Conv()}});
    EXPECT_TRUE(shorter.Find("fused_nn_conv2d")) << shape;
    const runtime::Inputs inputs = RandomInputs(module, 9);
    ExpectClose(ResultsOf(Offloaded(module, "dnnl.any", ReshapeAddRelu()), inputs),
                Interpreted(module, inputs), 1e-5);
  }
  EXPECT_THAT(ErrorOf([&] { module_of("4", "1, 4, 1, 1"); }).message(),
              AllOf(HasSubstr("add: the shapes do not broadcast: extent "), HasSubstr("3"),
                    HasSubstr("4")));
}

// The one reshape serves both blocks.
TEST(CompositeTest, S002_14_ASharedReshapeServesBothBlocks) {
  const ir::Module module = Parsed(R"(
def @main(%x: Tensor[(1, 4, 6, 6), float32], %w: Tensor[(4, 4, 3, 3), float32],
          %b: Tensor[(4), float32]) {
  %0 = reshape(%b, newshape=[1, 4, 1, 1]);
  %1 = nn.relu(add(nn.conv2d(%x, %w, padding=[1, 1, 1, 1]), %0));
  nn.relu(add(nn.conv2d(%1, %w, padding=[1, 1, 1, 1]), %0))
})");
  const runtime::Inputs inputs = RandomInputs(module, 2);
  ExpectClose(ResultsOf(PartitionForOneDnn(module), inputs), Interpreted(module, inputs), 1e-5);
  EXPECT_THAT(Implementations(PartitionForOneDnn(module)), Each(StartsWith("onednn ")));
  // Matches do not overlap: the first block takes the reshape, and hands it out to the second.
  const ir::Module composite = Offloaded(module, "dnnl.any", ReshapeAddRelu());
  ExpectClose(ResultsOf(composite, inputs), Interpreted(module, inputs), 1e-5);
  int regions = 0;
  for (const auto& [name, function] : composite.functions())
    regions += function.As<ir::FunctionNode>()->HasAttr("Codegen") ? 1 : 0;
  EXPECT_EQ(regions, 1);
  const auto& add = *composite.Main().body.As<ir::CallNode>()->args[0].As<ir::CallNode>();
  EXPECT_EQ(add.op()->name, "add");
  EXPECT_NE(add.args[1].As<ir::TupleGetItemNode>(), nullptr);
}

// Small images and few channels: without the composite generated code is preferred.
TEST(CompositeTest, TheCompositeAsksForItsCodeGenerator) {
  const ir::Module module = ConvReshapeAddRelu();
  EXPECT_THAT(Implementations(module), Each(Not(HasSubstr("onednn"))));
  const Lowered lowered = ValueOrThrow(Lower(Offloaded(module, "dnnl.any", ReshapeAddRelu())));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  EXPECT_EQ(lowered.kernels[0].choice.implementation, "onednn");
  EXPECT_THAT(lowered.kernels[0].choice.Explanation(),
              HasSubstr("composite dnnl.any: dnnl wherever its condition holds"));
  const Lowered other = ValueOrThrow(Lower(Offloaded(module, "other.any", ReshapeAddRelu())));
  EXPECT_THAT(other.kernels[0].choice.implementation, StartsWith("te."));
}

// --- what oneDNN does not take runs as generated code, and the explanation says why

TEST(CompositeTest, WhatOneDnnRefusesIsGeneratedWithTheReason) {
  const ir::Module module = Parsed(R"(
def @main(%x: Tensor[(1, 4, 6, 6), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  sin(nn.conv2d(%x, %w))
})");
  const ir::Module composite = Offloaded(module, "dnnl.conv2d_sin", IsOp("sin")(Conv()));
  const Lowered lowered = ValueOrThrow(Lower(composite));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  EXPECT_EQ(lowered.kernels[0].choice.implementation, "te.conv2d.plain");
  EXPECT_THAT(lowered.kernels[0].choice.Explanation(),
              AllOf(HasSubstr("onednn: no, oneDNN has no post-op for sin here"),
                    HasSubstr("te.conv2d.plain: chosen")));
  const runtime::Inputs inputs = RandomInputs(module, 4);
  ExpectClose(ResultsOf(composite, inputs), Interpreted(module, inputs), 1e-5);
}

TEST(CompositeTest, WithoutTheLibraryCompositesAreGenerated) {
  const ir::Module module = ConvReshapeAddRelu();
  const ir::Module composite = Offloaded(module, "dnnl.any", ReshapeAddRelu());
  const CompileOptions options{.library = LibraryChoice::kTe};
  EXPECT_THAT(Implementations(composite, options), Each(Not(HasSubstr("onednn"))));
  const runtime::Inputs inputs = RandomInputs(module, 4);
  ExpectClose(ResultsOf(composite, inputs, options), Interpreted(module, inputs), 1e-5);
}

// A composite of two results is generated code.
TEST(CompositeTest, S000_26_ACompositeOfTwoResultsRuns) {
  const ir::Module module = Parsed(R"(
def @main(%x: Tensor[(1, 4, 6, 6), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w);
  (nn.relu(%0), exp(%0))
})");
  const ir::Module composite = Offloaded(module, "dnnl.conv2d_relu", IsOp("nn.relu")(Conv()));
  const runtime::Inputs inputs = RandomInputs(module, 6);
  ExpectClose(ResultsOf(composite, inputs), Interpreted(module, inputs), 1e-5);
}

// A pattern may span two heavy operators.
TEST(CompositeTest, ACompositeOfTwoConvolutionsRuns) {
  const ir::Module module = Parsed(R"(
def @main(%x: Tensor[(1, 3, 6, 6), float32], %w: Tensor[(3, 3, 3, 3), float32]) {
  nn.conv2d(nn.relu(nn.conv2d(%x, %w)), %w)
})");
  const ir::Module composite =
      Offloaded(module, "dnnl.two", IsOp("nn.conv2d")(IsOp("nn.relu")(Conv()), Wildcard()));
  const runtime::Inputs inputs = RandomInputs(module, 6);
  ExpectClose(ResultsOf(composite, inputs), Interpreted(module, inputs), 1e-5);
}

// --- the partition of a whole module

struct Block {
  const char* name;
  const char* body;  // over %x, %w, %b, %r; one oneDNN kernel
  friend void PrintTo(const Block& b, std::ostream* out) { *out << b.name; }
};

constexpr char kConvParams[] =
    "%x: Tensor[(1, 5, 7, 9), float32], %w: Tensor[(17, 5, 3, 3), float32], "
    "%b: Tensor[(17, 1, 1), float32], %r: Tensor[(1, 17, 5, 7), float32]";
constexpr char kDenseParams[] =
    "%x: Tensor[(13, 31), float32], %w: Tensor[(17, 31), float32], "
    "%b: Tensor[(17), float32], %r: Tensor[(13, 17), float32]";
constexpr char kBatchParams[] =
    "%x: Tensor[(3, 13, 31), float32], %w: Tensor[(3, 17, 31), float32], "
    "%b: Tensor[(17), float32], %r: Tensor[(3, 13, 17), float32]";

class OneDnnBlockTest : public ::testing::TestWithParam<Block> {};

TEST_P(OneDnnBlockTest, S000_23_OneKernelOfOneDnnThatAgreesWithTheInterpreter) {
  const std::pair<const char*, const char*> anchors[] = {
      {kConvParams, "nn.conv2d(%x, %w)"},
      {kDenseParams, "nn.dense(%x, %w, units=None)"},
      {kBatchParams, "nn.batch_matmul(%x, %w, transpose_b=True)"}};
  for (const auto& [params, anchor] : anchors) {
    SCOPED_TRACE(anchor);
    const ir::Module module =
        Parsed(StrCat("def @main(", params, ") { %0 = ", anchor, "; ", GetParam().body, " }"));
    const ir::Module partitioned = PartitionForOneDnn(module);
    const runtime::Inputs inputs = RandomInputs(module, 8);
    ExpectClose(ResultsOf(partitioned, inputs), Interpreted(module, inputs), 1e-5);
    const bool has_tensor = std::string(GetParam().body).find("%r") != std::string::npos;
    if (params == kConvParams && has_tensor && !strategies::onednn::Facts().nchw_takes_tensors)
      continue;
    int composites = 0;
    for (const auto& [name, function] : partitioned.functions())
      composites += function.As<ir::FunctionNode>()->HasAttr("Codegen") ? 1 : 0;
    EXPECT_EQ(composites, 1);
    EXPECT_NE(partitioned.Main().body.As<ir::CallNode>()->callee.As<ir::GlobalVarNode>(), nullptr);
    EXPECT_THAT(Implementations(partitioned), ElementsAre(StartsWith("onednn ")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OneDnnBlockTest,
    ::testing::Values(
        Block{"Plain", "%0"}, Block{"Bias", "add(%0, %b)"}, Block{"BiasCommuted", "add(%b, %0)"},
        Block{"Relu", "nn.relu(%0)"}, Block{"BiasRelu", "nn.relu(add(%0, %b))"},
        Block{"Sum", "add(%0, %r)"}, Block{"BiasSumRelu", "nn.relu(add(add(%0, %b), %r))"},
        Block{"Clip", "clip(add(%0, %b), a_min=0f, a_max=6f)"},
        Block{"Sigmoid", "sigmoid(add(%0, %b))"}, Block{"Tanh", "tanh(add(%0, %b))"},
        Block{"Swish", "%1 = add(%0, %b); multiply(%1, sigmoid(%1))"},
        Block{"HardSwish",
              "%1 = add(%0, %b); multiply(%1, divide(clip(add(%1, 3f), a_min=0f, a_max=6f), 6f))"},
        Block{"Gelu",
              "%1 = add(%0, %b); "
              "multiply(multiply(%1, 0.5f), add(1f, erf(divide(%1, 1.41421356f))))"},
        Block{"GeluOfFactors",
              "%1 = add(%0, %b); "
              "multiply(%1, add(0.5f, multiply(erf(multiply(0.70710678f, %1)), 0.5f)))"}),
    [](const auto& info) { return info.param.name; });

TEST(PartitionForOneDnnTest, WhatOneDnnDoesNotTakeStays) {
  for (const char* body : {"nn.conv2d(%x, %w, kernel_layout=\"OIHW\", out_dtype=\"int32\")"}) {
    const ir::Module module = Parsed(
        StrCat("def @main(%x: Tensor[(1, 2, 5, 5), int8], %w: Tensor[(3, 2, 1, 1), int8]) { ", body,
               " }"));
    EXPECT_EQ(PartitionForOneDnn(module).functions().size(), 1U) << body;
  }
}

// A value inside is used elsewhere: the longest part that it closes is taken.
TEST(PartitionForOneDnnTest, AnEscapingValueEndsTheComposite) {
  const ir::Module module = Parsed(R"(
def @main(%x: Tensor[(13, 31), float32], %w: Tensor[(17, 31), float32]) {
  %0 = nn.dense(%x, %w, units=None);
  (nn.relu(%0), exp(%0))
})");
  const ir::Module partitioned = PartitionForOneDnn(module);
  EXPECT_TRUE(partitioned.Find("fused_nn_dense1_dnnl"));
  const runtime::Inputs inputs = RandomInputs(module, 8);
  ExpectClose(ResultsOf(partitioned, inputs), Interpreted(module, inputs), 1e-5);
}

// Neighbours share a function of the code generator and stay kernels of their own.
TEST(PartitionForOneDnnTest, AChainIsOneRegionOfTwoKernels) {
  const ir::Module module = Parsed(R"(
def @main(%x: Tensor[(13, 31), float32], %w: Tensor[(31, 31), float32]) {
  nn.dense(nn.relu(nn.dense(%x, %w, units=None)), %w, units=None)
})");
  const ir::Module partitioned = PartitionForOneDnn(module);
  EXPECT_TRUE(partitioned.Find("fused_nn_dense_nn_relu_nn_dense_dnnl"));
  EXPECT_THAT(Implementations(partitioned),
              ElementsAre(StartsWith("onednn "), StartsWith("onednn ")));
  const runtime::Inputs inputs = RandomInputs(module, 8);
  ExpectClose(ResultsOf(partitioned, inputs), Interpreted(module, inputs), 1e-5);
}

}  // namespace
}  // namespace tenon
