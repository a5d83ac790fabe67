// Ifs, loops and scans of models whose extents are variables: imported and compiled once. The
// oracle is the model imported for the shapes of each run.
#include <vector>

#include "tenon/support/strings.h"
#include "tenon/tests/onnx/subgraphs.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using onnx::GraphProto;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr auto kInt64 = TensorProto::INT64;

ImportOptions Options(bool symbolic) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return {.symbolic = symbolic, .evaluate = strategies::EvaluateCall};
}

// One compile of the model for all of `runs`.
void ExpectRight(const Model& model, const std::vector<runtime::Inputs>& runs) {
  const auto module = ImportOnnx(model.Bytes(), Options(true));
  ASSERT_TRUE(module.ok()) << module.status();
  const Executable exe = ValueOrThrow(Compile(*module, {.verify = true, .check_bounds = true}));
  EXPECT_NE(exe.program(), nullptr);
  EXPECT_TRUE(exe.is_symbolic());
  for (const runtime::Inputs& inputs : runs) {
    ImportOptions fixed = Options(false);
    std::string at;
    for (const auto& [name, value] : inputs) {
      fixed.shapes.emplace(name, value.shape());
      StrAppend(&at, name, " ", ShapeToString(value.shape()), " ");
    }
    SCOPED_TRACE(at);
    const ir::Module of_numbers = ValueOrThrow(ImportOnnx(model.Bytes(), fixed));
    ExpectClose(ValueOrThrow(exe.Run(inputs)), testing_graphs::Outcome(of_numbers, inputs));
  }
}

NDArray Count(std::int64_t value) { return NDArray::Scalar(value); }

TEST(SymbolicControlTest, AnIfRunsOneBranchOnAnyExtents) {
  Model model;
  model.Input("x", {-1, 3}).Input("c", {}, TensorProto::BOOL).Output("y");
  NodeProto& node = model.Node("If", {"c"}, {"chosen"});
  GraphProto* yes = GraphOf(node, "then_branch");
  Add(yes, "Softmax", {"x"}, {"soft"});
  Gives(yes, {"soft"});
  GraphProto* no = GraphOf(node, "else_branch");
  Add(no, "Add", {"x", "x"}, {"twice"});
  Gives(no, {"twice"});
  model.Node("Exp", {"chosen"}, {"y"});
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t rows : {1, 2, 17, 64}) {
    for (const bool c : {true, false})
      runs.push_back({{"x", Random({rows, 3}, 3)}, {"c", NDArray::Scalar(c)}});
  }
  ExpectRight(model, runs);
}

TEST(SymbolicControlTest, BranchesOfOtherRanksNameTheExtentThatDecides) {
  Model model;
  model.Input("x", {-1, 3}).Integers("axis", {0}).Integers("one", {1}).Output("y");
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Gather", {"shape", "axis"}, {"extent"});
  model.Node("Equal", {"extent", "one"}, {"c"});
  NodeProto& node = model.Node("If", {"c"}, {"y"});
  GraphProto* yes = GraphOf(node, "then_branch");
  Add(yes, "Squeeze", {"x", "axis"}, {"row"});
  Gives(yes, {"row"});
  Gives(GraphOf(node, "else_branch"), {"x"});
  const auto module = ImportOnnx(model.Bytes(), Options(true));
  EXPECT_THAT(std::string(module.status().message()),
              ::testing::HasSubstr("it compares x_0 with 1; numbers for these extents decide it"));
}

// As exporters write what depends on a shape: the branches give other ranks.
TEST(SymbolicControlTest, AnIfByAnExtentTakesTheBranchThatHoldsForAll) {
  const auto model_of = [](const char* comparison, std::int64_t axis, std::int64_t number) {
    Model model;
    model.Input("x", {-1, 3}).Output("y");
    model.Integers("axis", {axis}).Integers("number", {number});
    model.Node("Shape", {"x"}, {"shape"});
    model.Node("Gather", {"shape", "axis"}, {"extent"});
    model.Node(comparison, {"extent", "number"}, {"c"});
    NodeProto& node = model.Node("If", {"c"}, {"y"});
    GraphProto* yes = GraphOf(node, "then_branch");
    Add(yes, "ReduceMax", {"x"}, {"most"});
    Gives(yes, {"most"});
    GraphProto* no = GraphOf(node, "else_branch");
    Add(no, "Exp", {"x"}, {"exp"});
    Gives(no, {"exp"});
    return model;
  };
  const auto extents_of = [&](const Model& model) {
    const auto module = ImportOnnx(model.Bytes(), Options(true));
    return module.ok() ? ir::ToString(module->Main().body.checked_type())
                       : std::string(module.status().message());
  };
  const std::string all = "Tensor[(1, 1), float32]", each = "Tensor[(x_0, 3), float32]";
  EXPECT_EQ(extents_of(model_of("Equal", 1, 3)), all);
  EXPECT_EQ(extents_of(model_of("Equal", 1, 4)), each);
  EXPECT_EQ(extents_of(model_of("Equal", 0, 0)), each);
  EXPECT_EQ(extents_of(model_of("Greater", 0, 0)), all);
  EXPECT_EQ(extents_of(model_of("Less", 0, 1)), each);
  EXPECT_EQ(extents_of(model_of("GreaterOrEqual", 0, 1)), all);
  EXPECT_EQ(extents_of(model_of("LessOrEqual", 0, 0)), each);
  // Which one it is depends on the run.
  for (const char* comparison : {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"})
    EXPECT_EQ(extents_of(model_of(comparison, 0, 2)), "Tensor[(#If, #If_1), float32]");
  ExpectRight(model_of("Less", 0, 3),
              {{{"x", Random({1, 3}, 3)}}, {{"x", Random({2, 3}, 4)}}, {{"x", Random({5, 3}, 5)}}});
}

TEST(SymbolicControlTest, ALoopCarriesAnyExtents) {
  Model model;
  model.Input("x", {-1, -1}).Input("count", {}, kInt64).Output("y");
  NodeProto& node = model.Node("Loop", {"count", "", "x"}, {"y"});
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "was", "value"});
  Add(body, "Identity", {"was"}, {"goes_on"});
  Add(body, "Softmax", {"value"}, {"soft"});
  Add(body, "Add", {"soft", "x"}, {"next"});
  Gives(body, {"goes_on", "next"});
  std::vector<runtime::Inputs> runs;
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 17}, {40, 5}}) {
    for (const std::int64_t count : {0, 1, 20})
      runs.push_back({{"x", Random({rows, columns}, 5)}, {"count", Count(count)}});
  }
  ExpectRight(model, runs);
}

// The import of numbers types each body, so it refuses such a model whether or not a turn runs.
TEST(SymbolicControlTest, ABodyThatDoesNotRunNeedsNothing) {
  Model model;
  model.Input("x", {-1}).Input("count", {}, kInt64).Output("y");
  model.Constant("three", Random({3}, 1));
  NodeProto& node = model.Node("Loop", {"count", "", "x"}, {"y"});
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "holds", "v"});
  Add(body, "Identity", {"holds"}, {"goes_on"});
  Add(body, "Add", {"v", "three"}, {"sum"});
  Gives(body, {"goes_on", "sum"});
  ExpectRight(model, {{{"x", Random({3}, 2)}, {"count", Count(2)}}});
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), Options(true)))));
  const NDArray x = Random({5}, 3);
  EXPECT_TRUE(ValueOrThrow(exe.Run({{"x", x}, {"count", Count(0)}}))[0].SameBytes(x));
  const absl::Status refusal = exe.Run({{"x", x}, {"count", Count(1)}}).status();
  EXPECT_EQ(refusal.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refusal.message()), HasSubstr("5 against 3"));
}

// The running sums of the rows of x, as exporters write a loop over a sequence.
TEST(SymbolicControlTest, ALoopOverASequenceHasAnOutputForEachStep) {
  Model model;
  model.Input("x", {-1, 4}).Input("start", {4}).Output("last").Output("all");
  model.Integers("first", {0});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Gather", {"shape", "first"}, {"count"});
  NodeProto& node = model.Node("Loop", {"count", "", "start"}, {"last", "all"});
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "was", "sum"});
  Add(body, "Identity", {"was"}, {"goes_on"});
  Add(body, "Gather", {"x", "turn"}, {"row"});
  Add(body, "Add", {"sum", "row"}, {"next"});
  Add(body, "Mul", {"next", "next"}, {"square"});
  Gives(body, {"goes_on", "next", "square"});
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t steps : {1, 2, 33, 100})
    runs.push_back({{"x", Random({steps, 4}, 7)}, {"start", Random({4}, 8)}});
  ExpectRight(model, runs);
}

TEST(SymbolicControlTest, AScanTakesSequencesOfAnyLength) {
  for (const std::int64_t direction : {0, 1}) {
    Model model;
    model.Input("x", {-1, 5}).Input("start", {5}).Output("last").Output("all");
    NodeProto& node = model.Node("Scan", {"start", "x"}, {"last", "all"});
    SetInt(node, "num_scan_inputs", 1);
    SetInts(node, "scan_input_directions", {direction});
    SetInts(node, "scan_output_directions", {direction});
    GraphProto* body = GraphOf(node, "body");
    Takes(body, {"sum", "row"});
    Add(body, "Add", {"sum", "row"}, {"next"});
    Add(body, "Exp", {"row"}, {"each"});
    Gives(body, {"next", "each"});
    std::vector<runtime::Inputs> runs;
    for (const std::int64_t steps : {1, 5, 70})
      runs.push_back({{"x", Random({steps, 5}, 9)}, {"start", Random({5}, 10)}});
    ExpectRight(model, runs);
  }
}

// With peepholes no operator computes all steps at once.
TEST(SymbolicControlTest, ALayerThatIsWrittenOutTakesSequencesOfAnyLength) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    const std::int64_t count = std::string(direction) == "bidirectional" ? 2 : 1;
    Model model(14);
    model.Input("x", {-1, 2, 3}).Output("y").Output("h");
    model.Constant("w", Random({count, 16, 3}, 11))
        .Constant("r", Random({count, 16, 4}, 12))
        .Constant("b", Random({count, 32}, 13))
        .Constant("p", Random({count, 12}, 14));
    NodeProto& node = model.Node("LSTM", {"x", "w", "r", "b", "", "", "", "p"}, {"y", "h"});
    SetInt(node, "hidden_size", 4);
    SetString(node, "direction", direction);
    std::vector<runtime::Inputs> runs;
    for (const std::int64_t steps : {1, 5, 40}) runs.push_back({{"x", Random({steps, 2, 3}, 15)}});
    ExpectRight(model, runs);
  }
}

TEST(SymbolicControlTest, AScanThatMayBeNoLoopNeedsNumbers) {
  Model model;
  model.Input("x", {-1, 3}).Input("start", {3}).Output("last");
  NodeProto& node = model.Node("Scan", {"start", "x"}, {"last"});
  SetInt(node, "num_scan_inputs", 1);
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"sum", "row"});
  Add(body, "Add", {"sum", "row"}, {"next"});
  Gives(body, {"next"});
  ImportOptions options = Options(true);
  options.control_flow = false;
  EXPECT_THAT(std::string(ImportOnnx(model.Bytes(), options).status().message()),
              HasSubstr("a scan of x_0 steps is a loop, which this import may not make"));
}

}  // namespace
}  // namespace tenon::onnx_import
