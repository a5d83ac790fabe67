// The fuzzer finds nothing in this program, and finds what is wrong in others.
#include "tenon/verify/fuzz_schedule.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/schedule/lower.h"
#include "tenon/schedule/record.h"
#include "tenon/strategies/schedule/accesses.h"
#include "tenon/support/error.h"
#include "tenon/te/extern.h"
#include "tenon/verify/draw/random_operator.h"
#include "tenon/verify/fuzz_operator.h"

namespace tenon::verify {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class FuzzScheduleTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, FuzzScheduleTest, ::testing::Range(0, 4));

TEST_P(FuzzScheduleTest, RandomSchedulesComputeWhatTheTensorsSay) {
  FuzzStatistics statistics;
  for (int i = 0; i < 75; ++i) {
    const auto finding =
        FuzzRandomGraph(static_cast<std::uint64_t>(75 * GetParam() + i), &statistics);
    ASSERT_FALSE(finding.has_value()) << *finding;
  }
  EXPECT_EQ(statistics.cases, 75);
  EXPECT_GT(statistics.calls, 50);
  EXPECT_GT(statistics.refusals, 10);
}

// Of one call on a schedule without others, where it is accepted and its loops are, too.
std::string IntrinsicOf(const ScheduleCall& call, const RandomGraph& graph) {
  schedule::Schedule s(graph.outputs);
  std::vector<te::Tensor> args = graph.inputs;
  args.insert(args.end(), graph.outputs.begin(), graph.outputs.end());
  const absl::Status status = CatchErrors([&] {
    if (Apply(call, s)) schedule::Lower(s, args, "fuzzed");
  });
  if (!status.ok() || s.record().empty()) return "";
  const auto* step = std::get_if<schedule::TensorizeStep>(&s.record().back());
  return step == nullptr ? "" : step->intrinsic->name;
}

// With the seeds of the run above.
TEST(FuzzCasesTest, AShortRunMeetsCFunctionsPatternsSpecialValuesAndIntrinsics) {
  std::int64_t c_functions = 0, patterns = 0, special = 0;
  std::set<std::string> intrinsics;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Random random(seed);
    const RandomGraph graph = MakeRandomGraph(PlanRandomGraph(random.Next()));
    for (const ScheduleCall& call : RandomCalls(random)) {
      if (call.primitive == Primitive::kTensorize) intrinsics.insert(IntrinsicOf(call, graph));
    }
    for (const te::Operation& op : te::PostOrder(graph.outputs)) {
      c_functions += op->kind == te::OperationKind::kExtern ? 1 : 0;
      patterns += op->is_compute() && op->outputs[0]->name[0] == 'P' ? 1 : 0;
    }
    ASSERT_EQ(graph.has_special_values.size(), graph.inputs.size());
    special += std::ranges::count(graph.has_special_values, true);
  }
  EXPECT_GT(c_functions, 3);
  EXPECT_GT(patterns, 30);
  EXPECT_GT(special, 10);
  intrinsics.erase("");
  EXPECT_THAT(intrinsics, ::testing::IsSupersetOf({"dot_bf16", "dot_u8s8", "dot_word_s8"}));
  EXPECT_GE(intrinsics.size(), 5U);
}

TEST(FuzzFindingTest, AWrongElementIsNamedWithGraphScheduleAndSeed) {
  static int calls = 0;
  const loop::ExternFunction lie = loop::ExternFunction::At(
      "lie", +[](const float* in, float* out, std::int64_t n) {
        std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(float));
        out[0] = static_cast<float>(++calls) * 100;
      });
  const te::Tensor a = te::Placeholder({9}, Float32, "A");
  const te::Tensor b = te::Extern(
      {{9}}, {a}, {Float32},
      [&](const auto& in, const auto& out) {
        return te::ExternCall(lie, {in[0], out[0], 9});
      },
      "B")[0];
  FuzzStatistics statistics;
  const auto finding = FuzzSchedule({.inputs = {a}, .outputs = {b}}, 7, &statistics);
  ASSERT_TRUE(finding.has_value());
  EXPECT_THAT(*finding, AllOf(HasSubstr("seed 7"), HasSubstr("wrong result: B(0) is "),
                              HasSubstr("A = placeholder float32[9]")));
}

TEST(FuzzFindingTest, TheSameSeedGivesTheSameCase) {
  for (const std::uint64_t seed : {3, 17, 99}) {
    EXPECT_EQ(te::Print(MakeRandomGraph(PlanRandomGraph(seed)).outputs),
              te::Print(MakeRandomGraph(PlanRandomGraph(seed)).outputs));
    FuzzStatistics first, second;
    FuzzRandomGraph(seed, &first);
    FuzzRandomGraph(seed, &second);
    EXPECT_EQ(first.ToString(), second.ToString());
  }
}

TEST(FuzzOperatorTest, CallsOfBuiltInOperatorsComputeWhatTheTensorsSay) {
  for (const char* op : {"nn.relu", "add", "nn.conv2d", "sum", "nn.softmax", "transpose"}) {
    FuzzStatistics statistics;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      Random random(seed);
      std::string refusal;
      const auto call = MakeRandomCall(op, random, &refusal);
      ASSERT_TRUE(call.has_value()) << refusal;
      const auto finding = FuzzSchedule(call->graph, seed, &statistics);
      ASSERT_FALSE(finding.has_value()) << call->text << "\n" << *finding;
    }
  }
}

// Integers in and out, by way of floats.
TEST(FuzzOperatorTest, AnIntegerThatRoundingsDecideOnIsNoFinding) {
  FuzzStatistics statistics;
  EXPECT_EQ(FuzzOperator("image.resize2d", 2200000032, &statistics), std::nullopt);
  EXPECT_EQ(FuzzOperator("nn.upsampling", 2200000037, &statistics), std::nullopt);
  EXPECT_EQ(statistics.uncalled, 0);
}

// The interpreter rounds it at every step; a kernel does so once.
TEST(FuzzOperatorTest, AProductOfHalvesThatOverflowsOnTheWayIsNoFinding) {
  FuzzStatistics statistics;
  EXPECT_EQ(FuzzOperator("prod", 1820000012, &statistics), std::nullopt);
  EXPECT_EQ(statistics.uncalled, 0);
}

// Of five dimensions, with attributes of no default, with a word among several.
TEST(FuzzOperatorTest, CallsOfManyKindsOfOperatorsAreDrawn) {
  for (const char* op : {"nn.conv3d", "nn.conv3d_transpose", "image.resize2d", "nn.pad",
                         "scatter_nd", "strided_slice", "nn.batch_flatten"}) {
    std::string refusal;
    bool is_drawn = false;
    for (std::uint64_t seed = 1; seed <= 5 && !is_drawn; ++seed) {
      Random random(seed);
      is_drawn = MakeRandomCall(op, random, &refusal).has_value();
    }
    EXPECT_TRUE(is_drawn) << op << ": " << refusal;
  }
}

// Quantised ones, of scales and zero points; layers, of gates and weights; sparse matrices.
TEST(FuzzOperatorTest, CallsWhoseArgumentsMustFitEachOtherAreDrawnAtOnce) {
  for (const char* op :
       {"qnn.quantize", "qnn.requantize", "qnn.add", "qnn.conv2d", "qnn.conv2d_transpose",
        "qnn.dense", "qnn.batch_matmul", "qnn.concatenate", "qnn.avg_pool2d", "qnn.tanh", "nn.lstm",
        "nn.gru", "nn.rnn", "nn.sparse_dense", "nn.sparse_conv2d", "nn.sparse_transpose",
        "sparse_to_dense", "sparse_reshape"}) {
    FuzzStatistics statistics;
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      EXPECT_EQ(FuzzOperator(op, seed, &statistics), std::nullopt);
    EXPECT_EQ(statistics.uncalled, 0) << op;
  }
}

// Boxes, regions, layouts of blocks, classes, extents of other tensors and of values.
TEST(FuzzOperatorTest, EveryOperatorThatMakesValuesIsDrawnAndDefined) {
  for (const char* op : {"argwhere",
                         "broadcast_to_extents",
                         "count_up",
                         "fixed_point_multiply_per_axis",
                         "image.crop_and_resize",
                         "image.dilation2d",
                         "image.resize_to_extents",
                         "nn.contrib_conv2d_NCHWc",
                         "nn.contrib_depthwise_conv2d_NCHWc",
                         "nn.nll_loss",
                         "reshape_to_extents",
                         "sparse_fill_empty_rows",
                         "take_first",
                         "vision.all_class_non_max_suppression",
                         "vision.get_valid_counts",
                         "vision.multibox_transform_loc",
                         "vision.non_max_suppression",
                         "vision.proposal",
                         "vision.regular_non_max_suppression",
                         "vision.roi_align",
                         "vision.roi_pool"}) {
    FuzzStatistics statistics;
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      EXPECT_EQ(FuzzOperator(op, seed, &statistics), std::nullopt);
    EXPECT_EQ(statistics.uncalled, 0) << op;
  }
}

// This seed first draws a kernel of 31 x 2 with a dilation of 5, over 64 channels.
TEST(FuzzOperatorTest, CallsThatTakeTheInterpreterMinutesAreNotDrawn) {
  std::string refusal;
  Random random(1050000004);
  const auto call = MakeRandomCall("nn.conv2d_transpose", random, &refusal);
  ASSERT_TRUE(call.has_value()) << refusal;
  std::int64_t terms = 0;
  for (const te::Operation& op : te::PostOrder(call->graph.outputs)) {
    terms += strategies::ProductOfExtents(op->axes) * strategies::ProductOfExtents(op->reduce_axes);
  }
  EXPECT_LE(terms, 1 << 22) << call->text;
}

TEST(FuzzOperatorTest, AReferenceCannotBeDrawn) {
  std::string refusal;
  Random random(1);
  EXPECT_FALSE(MakeRandomCall("ref_read", random, &refusal).has_value());
  EXPECT_THAT(refusal, ::testing::HasSubstr("must be a reference"));
}

}  // namespace
}  // namespace tenon::verify
