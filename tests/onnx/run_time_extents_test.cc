// Models with extents that values decide in their middle, as exporters write them: imported,
// compiled once and run with counts from none to all. The interpreter is the oracle, which runs the
// imported module operator by operator; where a few lines say what is right, the tests do.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"
#include "tenon/verify/interpret.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr auto kInt64 = TensorProto::INT64;

NDArray Floats(const std::vector<float>& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}

ir::Module ImportedAs(const Model& model, bool symbolic) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return ValueOrThrow(ImportOnnx(
      model.Bytes(),
      {.symbolic = symbolic, .control_flow = true, .evaluate = strategies::EvaluateCall}));
}

std::vector<std::vector<NDArray>> Ran(const Model& model, const std::vector<runtime::Inputs>& runs,
                                      bool symbolic = false) {
  const ir::Module module = ImportedAs(model, symbolic);
  const Executable exe = ValueOrThrow(Compile(module, {.verify = true, .check_bounds = true}));
  const ir::Module typed = passes::InferType(module);
  std::vector<std::vector<NDArray>> all;
  for (const runtime::Inputs& inputs : runs) {
    SCOPED_TRACE(StrCat("run ", all.size()));
    std::vector<NDArray> in_order;
    for (const ir::Expr& param : typed.Main().params)
      in_order.push_back(inputs.at(ir::Var(param).name()));
    all.push_back(ValueOrThrow(exe.Run(inputs)));
    ExpectClose(all.back(), verify::Interpret(typed, in_order));
  }
  return all;
}

// Boxes, scores -> suppression -> the boxes, scores and classes that were selected, in one table.
Model OneStageTail() {
  Model model;
  model.Input("boxes", {1, 12, 4}).Input("scores", {1, 3, 12}).Input("least", {1}).Output("found");
  model.Initializer("most", NDArray::FromVector<std::int64_t>({1}, {6}))
      .Constant("overlap", Floats({0.5}));
  model.Integers("c1", {1}).Integers("c2", {2}).Integers("c12", {1, 2}).Integers("axis0", {0});
  model.Node("NonMaxSuppression", {"boxes", "scores", "most", "overlap", "least"}, {"selected"},
             "nms");
  SetInt(model.Node("Gather", {"selected", "c1"}, {"class"}), "axis", 1);
  SetInt(model.Node("Gather", {"selected", "c2"}, {"box"}), "axis", 1);
  model.Node("Squeeze", {"box", "c1"}, {"place"});
  model.Node("Squeeze", {"boxes", "axis0"}, {"all_boxes"});
  SetInt(model.Node("Gather", {"all_boxes", "place"}, {"kept"}), "axis", 0);
  model.Node("Squeeze", {"scores", "axis0"}, {"all_scores"});
  SetInt(model.Node("Gather", {"selected", "c12"}, {"pairs"}), "axis", 1);
  model.Node("GatherND", {"all_scores", "pairs"}, {"score"});
  model.Node("Unsqueeze", {"score", "c1"}, {"score_column"});
  SetInt(model.Node("Cast", {"class"}, {"class_column"}), "to", TensorProto::FLOAT);
  SetInt(model.Node("Concat", {"kept", "score_column", "class_column"}, {"found"}), "axis", 1);
  return model;
}

runtime::Inputs Detections(int seed, float least) {
  NDArray boxes = Random({1, 12, 4}, Float32, seed, 0, 1);
  for (std::int64_t i = 0; i < 12; ++i) {
    boxes.data<float>()[4 * i + 2] += boxes.data<float>()[4 * i];
    boxes.data<float>()[4 * i + 3] += boxes.data<float>()[4 * i + 1];
  }
  return {{"boxes", boxes},
          {"scores", Random({1, 3, 12}, Float32, seed + 1, 0, 1)},
          {"least", Floats({least})}};
}

TEST(RunTimeExtentsTest, ATailOfAOneStageDetectorRuns) {
  const auto runs = Ran(OneStageTail(), {Detections(1, 0.2F), Detections(2, 0.6F), Detections(3, 2),
                                         Detections(4, -1), Detections(5, 0.95F)});
  EXPECT_GT(runs[0][0].shape()[0], 1);
  EXPECT_EQ(runs[2][0].shape(), (Shape{0, 6}));
  for (const auto& run : runs) {
    for (std::int64_t i = 0; i + 1 < run[0].shape()[0]; ++i) {
      const float* row = run[0].data<float>() + 6 * i;
      // By falling score within a class.
      EXPECT_TRUE(row[5] != row[11] || row[4] >= row[10]);
    }
  }
}

// Proposals -> suppression -> the best of them -> pooled regions -> a head -> suppression again.
TEST(RunTimeExtentsTest, ABoxOfNegativeWidthOverlapsNothing) {
  const auto kept = [](float width) {
    Model model;
    model.Input("boxes", {1, 2, 4}).Output("selected");
    model.Constant("scores", Floats({0.9F, 0.8F}).Reshape({1, 1, 2}))
        .Initializer("most", NDArray::FromVector<std::int64_t>({1}, {6}))
        .Constant("overlap", Floats({0.5F}));
    SetInt(model.Node("NonMaxSuppression", {"boxes", "scores", "most", "overlap"}, {"selected"}),
           "center_point_box", 1);
    const NDArray boxes = NDArray::FromVector<float>({1, 2, 4}, {5, 5, width, 2, 5, 5, width, 2});
    return Computed(model, {{"boxes", boxes}})[0].shape()[0];
  };
  EXPECT_EQ(kept(3), 1);
  EXPECT_EQ(kept(-3), 2);
}

TEST(RunTimeExtentsTest, ATwoStageDetectorRuns) {
  Model model(16);
  model.Input("image", {1, 2, 16, 16}).Input("boxes", {1, 12, 4}).Input("scores", {1, 1, 12});
  model.Input("least", {1}).Output("found").Output("regions").Output("classes");
  model.Initializer("many", NDArray::FromVector<std::int64_t>({1}, {100}))
      .Constant("overlap", Floats({0.7F}))
      .Initializer("zero", NDArray::Scalar<std::int64_t>(0))
      .Constant("head", Random({18, 5}, 7))
      .Constant("half", Floats({0.5F}));
  model.Integers("c2", {2}).Integers("c1", {1}).Integers("axis0", {0}).Integers("five", {5});
  model.Integers("flat", {0, -1}).Integers("batch", {1, -1, 4}).Integers("bc", {1, 5, -1});
  model.Node("NonMaxSuppression", {"boxes", "scores", "many", "overlap", "least"}, {"selected"});
  SetInt(model.Node("Gather", {"selected", "c2"}, {"column"}), "axis", 1);
  model.Node("Squeeze", {"column", "c1"}, {"place"});
  model.Node("Squeeze", {"boxes", "axis0"}, {"all"});
  model.Integers("minus", {-1});
  model.Node("Reshape", {"scores", "minus"}, {"scores1"});
  model.Node("Gather", {"scores1", "place"}, {"kept_scores"});
  model.Node("Gather", {"all", "place"}, {"kept"});
  model.Node("Shape", {"kept_scores"}, {"count"});
  SetInt(model.Node("Concat", {"count", "five"}, {"both"}), "axis", 0);
  SetInt(model.Node("ReduceMin", {"both"}, {"top"}), "keepdims", 1);
  model.Node("TopK", {"kept_scores", "top"}, {"best", "order"});
  model.Node("Gather", {"kept", "order"}, {"rois"});
  model.Node("Shape", {"best"}, {"n"});
  model.Node("ConstantOfShape", {"n"}, {"zeros"});
  SetInt(model.Node("Cast", {"zeros"}, {"images"}), "to", kInt64);
  NodeProto& pooled = model.Node("RoiAlign", {"image", "rois", "images"}, {"regions"});
  SetInt(pooled, "output_height", 3);
  SetInt(pooled, "output_width", 3);
  model.Node("Reshape", {"regions", "flat"}, {"vectors"});
  model.Node("MatMul", {"vectors", "head"}, {"logits"});
  SetInt(model.Node("Softmax", {"logits"}, {"classes"}), "axis", 1);
  SetInts(model.Node("Transpose", {"classes"}, {"by_class"}), "perm", {1, 0});
  model.Node("Unsqueeze", {"by_class", "axis0"}, {"class_scores"});
  model.Node("Unsqueeze", {"rois", "axis0"}, {"batched"});
  model.Node("NonMaxSuppression", {"batched", "class_scores", "many", "half"}, {"final"});
  SetInt(model.Node("Gather", {"final", "c2"}, {"final_box"}), "axis", 1);
  model.Node("Squeeze", {"final_box", "c1"}, {"final_place"});
  model.Node("Gather", {"rois", "final_place"}, {"found"});
  std::vector<runtime::Inputs> runs;
  for (const float least : {0.2F, 0.9F, 2.F, -1.F}) {
    runs.push_back(Detections(3, least));
    NDArray& boxes = runs.back().at("boxes");
    for (std::int64_t i = 0; i < boxes.size(); ++i) boxes.data<float>()[i] *= 7;
    runs.back()["scores"] = Random({1, 1, 12}, Float32, 9, 0, 1);
    runs.back()["image"] = Random({1, 2, 16, 16}, 8);
  }
  const auto results = Ran(model, runs);
  EXPECT_EQ(results[3][1].shape()[0], 5);
  EXPECT_EQ(results[2][1].shape(), (Shape{0, 2, 3, 3}));
}

// Rows of a mask through a layer, and written back.
TEST(RunTimeExtentsTest, RowsOfAMaskAreGatheredAndScatteredBack) {
  Model model(16);
  model.Input("x", {9, 4}).Input("mask", {9}, TensorProto::BOOL).Output("y").Output("mean");
  model.Constant("w", Random({4, 4}, 3));
  model.Node("NonZero", {"mask"}, {"at"});
  SetInts(model.Node("Transpose", {"at"}, {"places"}), "perm", {1, 0});
  model.Node("GatherND", {"x", "places"}, {"rows"});
  model.Node("MatMul", {"rows", "w"}, {"made"});
  model.Node("Relu", {"made"}, {"values"});
  model.Node("ScatterND", {"x", "places", "values"}, {"y"});
  SetInts(model.Node("ReduceMean", {"rows"}, {"mean"}), "axes", {0});
  const auto mask = [](std::vector<int> bits) {
    NDArray flags = NDArray::Empty({9}, Bool);
    for (std::size_t i = 0; i < 9; ++i) flags.data<bool>()[i] = bits[i] != 0;
    return flags;
  };
  const NDArray x = Random({9, 4}, 5);
  const auto results = Ran(model, {{{"x", x}, {"mask", mask({1, 0, 0, 1, 1, 0, 0, 0, 1})}},
                                   {{"x", x}, {"mask", mask({0, 0, 0, 0, 0, 0, 0, 0, 0})}},
                                   {{"x", x}, {"mask", mask({1, 1, 1, 1, 1, 1, 1, 1, 1})}},
                                   {{"x", x}, {"mask", mask({0, 0, 0, 0, 0, 0, 1, 0, 0})}}});
  ExpectClose(results[1][0], x);
  for (int c = 0; c < 4; ++c) {
    double sum = 0;
    for (const int row : {0, 3, 4, 8}) sum += x.data<float>()[4 * row + c];
    EXPECT_NEAR(results[0][1].data<float>()[c], sum / 4, 1e-5);
    EXPECT_TRUE(std::isnan(results[1][1].data<float>()[c]));
    EXPECT_EQ(results[3][1].data<float>()[c], x.data<float>()[24 + c]);
  }
}

TEST(RunTimeExtentsTest, CompressedRowsGoThroughSoftmaxAndALayerOfSteps) {
  Model model;
  model.Input("x", {7, 1, 3}).Input("keep", {7}, TensorProto::BOOL).Output("y").Output("h");
  model.Constant("w", Random({1, 8, 3}, 1)).Constant("r", Random({1, 8, 2}, 2));
  SetInt(model.Node("Compress", {"x", "keep"}, {"rows"}), "axis", 0);
  SetInt(model.Node("Softmax", {"rows"}, {"y"}), "axis", 0);
  SetInt(model.Node("LSTM", {"rows", "w", "r"}, {"all", "h"}), "hidden_size", 2);
  const auto keep = [](int count) {
    NDArray flags = NDArray::Zeros({7}, Bool);
    for (int i = 0; i < count; ++i) flags.data<bool>()[(3 * i) % 7] = true;
    return flags;
  };
  std::vector<runtime::Inputs> runs;
  for (const int count : {3, 1, 7, 0, 3})
    runs.push_back({{"x", Random({7, 1, 3}, 4)}, {"keep", keep(count)}});
  Ran(model, runs);
}

TEST(RunTimeExtentsTest, DistinctElementsAreCounted) {
  Model model;
  model.Input("x", {8}).Output("y").Output("share");
  model.Node("Unique", {"x"}, {"values", "first", "which", "counts"});
  SetInt(model.Node("Cast", {"counts"}, {"many"}), "to", TensorProto::FLOAT);
  model.Node("Mul", {"values", "many"}, {"y"});
  model.Node("ReduceSum", {"many"}, {"all"});
  model.Node("Div", {"many", "all"}, {"share"});
  const auto results = Ran(model, {{{"x", Floats({3, 1, 3, 2, 1, 3, 3, 2})}},
                                   {{"x", Floats({5, 5, 5, 5, 5, 5, 5, 5})}},
                                   {{"x", Floats({8, 7, 6, 5, 4, 3, 2, 1})}}});
  EXPECT_THAT(results[0][0].ToVector<float>(), ElementsAre(2, 4, 12));
  EXPECT_THAT(results[1][0].ToVector<float>(), ElementsAre(40));
}

// Position ids and a mask of as many as there are tokens that count.
TEST(RunTimeExtentsTest, RangesTilesAndConstantsHaveTheExtent) {
  Model model;
  model.Input("tokens", {10}, kInt64).Output("y").Output("mask").Output("tiled").Output("ones");
  model.Constant("table", Random({10, 3}, 1))
      .Initializer("zero", NDArray::Scalar<std::int64_t>(0))
      .Initializer("one", NDArray::Scalar<std::int64_t>(1));
  model.Integers("i0", {0}).Integers("two", {2}).Integers("axis1", {1});
  model.Node("NonZero", {"tokens"}, {"at"});
  model.Node("Squeeze", {"at", "i0"}, {"places"});
  model.Node("Shape", {"places"}, {"shape"});
  model.Node("Squeeze", {"shape", "i0"}, {"n"});
  model.Node("Range", {"zero", "n", "one"}, {"ids"});
  model.Node("Gather", {"table", "ids"}, {"y"});
  model.Node("Unsqueeze", {"ids", "axis1"}, {"column"});
  model.Node("Less", {"ids", "column"}, {"mask"});
  SetInt(model.Node("Concat", {"shape", "two"}, {"square"}), "axis", 0);
  model.Node("Unsqueeze", {"places", "axis1"}, {"places2"});
  model.Node("Expand", {"places2", "square"}, {"pairs"});
  model.Node("Tile", {"pairs", "square"}, {"tiled"});
  model.Node("ConstantOfShape", {"square"}, {"ones"});
  const auto tokens = [](int count) {
    NDArray ids = NDArray::Zeros({10}, Int64);
    for (int i = 0; i < count; ++i) ids.data<std::int64_t>()[(3 * i) % 10] = 5;
    return ids;
  };
  std::vector<runtime::Inputs> runs;
  for (const int count : {4, 0, 10, 1}) runs.push_back({{"tokens", tokens(count)}});
  const auto results = Ran(model, runs);
  EXPECT_EQ(results[0][2].shape(), (Shape{16, 4}));
  EXPECT_EQ(results[1][1].shape(), (Shape{0, 0}));
}

TEST(RunTimeExtentsTest, TilesOfNoCopiesAreEmpty) {
  Model model;
  model.Input("x", {3, 2}).Input("counts", {2}, kInt64).Output("y").Output("sums");
  model.Integers("axis0", {0});
  model.Node("Tile", {"x", "counts"}, {"y"});
  SetInt(model.Node("ReduceSum", {"y", "axis0"}, {"sums"}), "keepdims", 0);
  std::vector<runtime::Inputs> runs;
  const std::vector<std::vector<std::int64_t>> counts = {{2, 3}, {0, 3}, {2, 0}, {0, 0}, {1, 1}};
  for (const std::vector<std::int64_t>& two : counts)
    runs.push_back(
        {{"x", Random({3, 2}, 1)}, {"counts", NDArray::FromVector<std::int64_t>({2}, two)}});
  const auto results = Ran(model, runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    EXPECT_EQ(results[i][0].shape(), (Shape{3 * counts[i][0], 2 * counts[i][1]}));
}

// Of an array whose extent values decide, too: none of it, copies of nothing, and both.
TEST(RunTimeExtentsTest, TilesOfNoCopiesOfWhatIsFoundAreEmpty) {
  Model model;
  model.Input("x", {5}).Input("count", {1}, kInt64).Output("rows").Output("columns");
  model.Integers("one", {1});
  model.Node("NonZero", {"x"}, {"at"});
  SetInt(model.Node("Concat", {"count", "one"}, {"down"}), "axis", 0);
  SetInt(model.Node("Concat", {"one", "count"}, {"along"}), "axis", 0);
  model.Node("Tile", {"at", "down"}, {"rows"});
  model.Node("Tile", {"at", "along"}, {"columns"});
  std::vector<runtime::Inputs> runs;
  for (const std::vector<float>& x :
       {std::vector<float>{1, 0, 1, 0, 1}, {0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}}) {
    for (const std::int64_t count : {2, 0, 1})
      runs.push_back(
          {{"x", Floats(x)}, {"count", NDArray::FromVector<std::int64_t>({1}, {count})}});
  }
  const auto results = Ran(model, runs);
  EXPECT_EQ(results[1][0].shape(), (Shape{0, 3}));
  EXPECT_EQ(results[1][1].shape(), (Shape{1, 0}));
}

// Position ids of a text whose length is a variable of the input.
TEST(RunTimeExtentsTest, RangesAndMasksOfSymbolicLengths) {
  Model model;
  model.Input("x", {-1, -1, 4}).Output("y").Output("wide");
  model.Constant("table", Random({40, 4}, 1))
      .Initializer("zero", NDArray::Scalar<std::int64_t>(0))
      .Initializer("one", NDArray::Scalar<std::int64_t>(1))
      .Initializer("i1", NDArray::Scalar<std::int64_t>(1));
  model.Integers("three", {3}).Integers("axis0", {0});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Gather", {"shape", "i1"}, {"length"});
  model.Node("Range", {"zero", "length", "one"}, {"ids"});
  model.Node("Gather", {"table", "ids"}, {"positions"});
  model.Node("Add", {"x", "positions"}, {"y"});
  model.Node("Expand", {"positions", "shape"}, {"wide"});
  std::vector<runtime::Inputs> runs;
  for (const Shape& shape : {Shape{2, 5, 4}, Shape{1, 1, 4}, Shape{3, 33, 4}})
    runs.push_back({{"x", Random(shape, 3)}});
  Ran(model, runs, true);
}

TEST(RunTimeExtentsTest, SlicesEndWhereARunSays) {
  Model model;
  model.Input("x", {9, 3}).Input("from", {1}, kInt64).Input("to", {1}, kInt64);
  model.Output("y").Output("first").Output("sum");
  model.Integers("axis0", {0}).Integers("two", {2}).Integers("zero", {0});
  model.Node("Slice", {"x", "from", "to", "axis0", "two"}, {"y"});
  model.Node("Slice", {"x", "zero", "to", "axis0"}, {"first"});
  model.Node("Relu", {"first"}, {"positive"});
  SetInt(model.Node("ReduceSum", {"positive", "axis0"}, {"sum"}), "keepdims", 0);
  std::vector<runtime::Inputs> runs;
  std::vector<std::pair<std::int64_t, std::int64_t>> bounds = {{0, 9}, {2, 7},      {-4, -1},
                                                               {7, 2}, {-100, 100}, {9, 9}};
  for (const auto& [from, to] : bounds)
    runs.push_back({{"x", Random({9, 3}, 1)},
                    {"from", NDArray::FromVector<std::int64_t>({1}, {from})},
                    {"to", NDArray::FromVector<std::int64_t>({1}, {to})}});
  const auto results = Ran(model, runs);
  const float* x = runs[0].at("x").data<float>();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto clamped = [](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + 9 : at, 0, 9);
    };
    std::vector<float> expected;
    for (std::int64_t row = clamped(bounds[i].first); row < clamped(bounds[i].second); row += 2)
      expected.insert(expected.end(), x + 3 * row, x + 3 * row + 3);
    EXPECT_EQ(results[i][0].ToVector<float>(), expected);
    EXPECT_EQ(results[i][1].shape()[0], clamped(bounds[i].second));
  }
}

TEST(RunTimeExtentsTest, AsManyOfTheGreatestAsARunSays) {
  Model model;
  model.Input("x", {2, 6}).Input("k", {1}, kInt64).Output("y").Output("at");
  model.Node("TopK", {"x", "k"}, {"best", "at"});
  model.Node("Neg", {"best"}, {"y"});
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t k : {2, 0, 6, 1})
    runs.push_back({{"x", Random({2, 6}, 1)}, {"k", NDArray::FromVector<std::int64_t>({1}, {k})}});
  EXPECT_EQ(Ran(model, runs)[0][1].shape(), (Shape{2, 2}));
}

// Equal searches find equal extents, which the types know.
TEST(RunTimeExtentsTest, EqualSearchesHaveOneVariable) {
  Model model;
  model.Input("x", {5}).Output("y");
  for (const char* i : {"a", "b"}) {
    model.Node("NonZero", {"x"}, {StrCat(i, "0")});
    SetInt(model.Node("Cast", {StrCat(i, "0")}, {i}), "to", TensorProto::FLOAT);
  }
  model.Node("Add", {"a", "b"}, {"y"});
  EXPECT_EQ(ir::ToString(ImportedAs(model, false).Main().body.checked_type()),
            "Tensor[(1, #NonZero), float32]");
  Ran(model, {{{"x", Floats({0, 1, 0, 2, 3})}}, {{"x", Floats({0, 0, 0, 0, 0})}}});
}

TEST(RunTimeExtentsTest, ARefusalNamesTheNodeThatFoundTheExtent) {
  Model model;
  model.Input("x", {2, 2}).Output("y");
  model.Node("NonZero", {"x"}, {"at"}, "found");
  model.Initializer("two", NDArray::FromVector<std::int64_t>({}, {2}));
  SetInt(model.Node("SplitToSequence", {"at", "two"}, {"parts"}, "reads"), "axis", 1);
  model.Node("SequenceLength", {"parts"}, {"y"});
  const auto module = Imported(model);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(
      std::string(module.status().message()),
      AllOf(HasSubstr("reads (SplitToSequence)"), HasSubstr("#NonZero, which the node found "
                                                            "(NonZero) finds")));
}

}  // namespace
}  // namespace tenon::onnx_import
