// Loops of which only a run knows the end, as decoders and detectors are exported: what they carry
// grows from turn to turn, and outputs have an element for each turn. The tests compute by loops of
// their own what the models compute.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tenon/compiler/save_executable.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/support/strings.h"
#include "tenon/tests/onnx/subgraphs.h"
#include "tenon/tests/onnx/written_model.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/verify/interpret.h"

namespace tenon::onnx_import {
namespace {

using onnx::GraphProto;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr auto kInt64 = TensorProto::INT64;

NDArray Number(std::int64_t value) { return NDArray::Scalar(value); }
NDArray Floats(const std::vector<float>& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}

// The model for all runs: interpreted, compiled, and saved.
class AllForms {
 public:
  explicit AllForms(const Model& model, bool symbolic = false) {
    strategies::RegisterStrategies(ops::OpRegistry::Global());
    const ir::Module module = ValueOrThrow(
        ImportOnnx(model.Bytes(), {.symbolic = symbolic, .evaluate = strategies::EvaluateCall}));
    typed_ = passes::InferType(module);
    compiled_ = ValueOrThrow(Compile(module, {.verify = true, .check_bounds = true}));
    const LoweredProgram lowered =
        ValueOrThrow(LowerProgram(module, {.library = LibraryChoice::kTe}));
    EXPECT_EQ(SaveExecutable(lowered, folder_ / "net"), absl::OkStatus());
    loaded_ = ValueOrThrow(runtime::LoadExecutable(folder_ / "net")).executable;
  }

  std::vector<NDArray> Results(const runtime::Inputs& inputs) const {
    std::vector<NDArray> in_order;
    for (const ir::Expr& param : typed_.Main().params)
      in_order.push_back(inputs.at(ir::Var(param).name()));
    const std::vector<NDArray> results = ValueOrThrow(compiled_->Run(inputs));
    ExpectClose(results, verify::Interpret(typed_, in_order));
    ExpectClose(ValueOrThrow(loaded_->Run(inputs)), results);
    return results;
  }
  const ir::Module& module() const { return typed_; }

 private:
  const jit::ScopedFolder folder_;
  ir::Module typed_;
  std::optional<Executable> compiled_, loaded_;
};

std::vector<float> Halved(float x, float least) {
  std::vector<float> all;
  for (; x > least; x *= 0.5F) all.push_back(x);
  return all;
}

// Halves x while it is above `least`, and gives each value.
Model Halving() {
  Model model;
  model.Input("x", {}).Input("least", {}).Output("last").Output("all");
  model.Constant("half", Floats({0.5}).Reshape({}));
  model.Node("Greater", {"x", "least"}, {"begins"});
  NodeProto& node = model.Node("Loop", {"", "begins", "x"}, {"last", "all"}, "halving");
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "was", "value"});
  Add(body, "Mul", {"value", "half"}, {"next"});
  Add(body, "Greater", {"next", "least"}, {"goes_on"});
  Add(body, "Identity", {"value"}, {"each"});
  Gives(body, {"goes_on", "next", "each"});
  return model;
}

TEST(GrowingLoopsTest, OutputsHaveAnElementForEachOfAnyNumberOfTurns) {
  const AllForms forms(Halving());
  for (const int turns : {0, 1, 2, 15, 16, 17, 33, 100}) {
    const float x = std::ldexp(1.25F, turns - 1), least = 1;
    const auto results =
        forms.Results({{"x", NDArray::Scalar(x)}, {"least", NDArray::Scalar(least)}});
    const std::vector<float> expected = Halved(x, least);
    ASSERT_EQ(static_cast<int>(expected.size()), turns);
    EXPECT_EQ(results[1].shape(), Shape{turns});
    EXPECT_EQ(results[1].ToVector<float>(), expected);
  }
}

TEST(GrowingLoopsTest, WhatComesAfterAnOutputIsCompiled) {
  Model model = Halving();
  model.Integers("axis", {0});
  model.Node("Neg", {"all"}, {"negative"}).set_name("negated");
  SetInt(model.Node("Softmax", {"negative"}, {"soft"}), "axis", 0);
  model.Output("soft");
  const AllForms forms(model);
  for (const int turns : {0, 1, 3, 20}) {
    const auto results = forms.Results(
        {{"x", NDArray::Scalar(std::ldexp(1.25F, turns - 1))}, {"least", NDArray::Scalar(1.0F)}});
    ASSERT_EQ(results[2].shape(), Shape{turns});
    const std::vector<float> all = results[1].ToVector<float>();
    double sum = 0;
    for (const float value : all) sum += std::exp(-static_cast<double>(value));
    for (int i = 0; i < turns; ++i)
      EXPECT_NEAR(results[2].data<float>()[i],
                  std::exp(-static_cast<double>(all[static_cast<std::size_t>(i)])) / sum, 1e-6);
  }
}

// Elements of several axes, one of which is a variable of the model.
TEST(GrowingLoopsTest, ElementsMayBeArraysOfAnyExtents) {
  Model model;
  model.Input("x", {-1, 3})
      .Input("count", {}, kInt64)
      .Input("least", {})
      .Output("last")
      .Output("all");
  model.Constant("half", Floats({0.5}).Reshape({})).Integers("axes", {0, 1});
  NodeProto& node = model.Node("Loop", {"count", "", "x"}, {"last", "all"});
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "was", "value"});
  Add(body, "Identity", {"was"}, {"goes_on"});
  Add(body, "Mul", {"value", "half"}, {"next"});
  Gives(body, {"goes_on", "next", "next"});
  NodeProto& both = model.Node("Greater", {"least", "half"}, {"begins"});
  both.set_name("unread");
  const AllForms forms(model, true);
  for (const std::int64_t rows : {1, 5}) {
    for (const std::int64_t count : {0, 1, 2, 17, 40}) {
      const NDArray x = Random({rows, 3}, 4);
      const auto results =
          forms.Results({{"x", x}, {"count", Number(count)}, {"least", NDArray::Scalar(1.0F)}});
      ASSERT_EQ(results[1].shape(), (Shape{count, rows, 3}));
      for (std::int64_t t = 0; t < count; ++t) {
        for (std::int64_t i = 0; i < x.size(); ++i)
          EXPECT_EQ(results[1].data<float>()[t * x.size() + i],
                    std::ldexp(x.data<float>()[i], -static_cast<int>(t) - 1));
      }
    }
  }
}

// --- a decoder

constexpr std::int64_t kWords = 7, kWidth = 4, kEnd = 3;

struct Weights {
  NDArray embedding = Random({kWords, kWidth}, 21);
  NDArray query = Random({kWidth, kWidth}, 22), key = Random({kWidth, kWidth}, 23),
          value = Random({kWidth, kWidth}, 24), out = Random({kWidth, kWords}, Float32, 25, -4, 4);
};

// The cache of keys and values grows by a row in each turn, the tokens by a column: a greedy
// decoder of one layer, which ends with a token or after `most` turns.
Model Decoder() {
  const Weights w;
  Model model;
  model.Input("start", {1, 1}, kInt64).Input("most", {}, kInt64);
  model.Output("tokens").Output("keys").Output("scores");
  model.Constant("e", w.embedding).Constant("wq", w.query).Constant("wk", w.key);
  model.Constant("wv", w.value).Constant("wo", w.out);
  model.Integers("one", {1}).Integers("last", {-1}).Integers("end", {kEnd});
  model.Initializer("true", NDArray::Scalar(true));
  model.Initializer("no_rows", NDArray::Zeros({0, kWidth}, Float32));
  NodeProto& node = model.Node("Loop", {"most", "true", "start", "no_rows", "no_rows"},
                               {"tokens", "keys", "values", "scores"}, "decoding");
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "was", "tokens_now", "keys_now", "values_now"});
  SetInt(Add(body, "Gather", {"tokens_now", "last"}, {"newest"}), "axis", 1);
  Add(body, "Squeeze", {"newest", "one"}, {"word"});
  Add(body, "Gather", {"e", "word"}, {"x"});
  Add(body, "MatMul", {"x", "wk"}, {"k"});
  Add(body, "MatMul", {"x", "wv"}, {"v"});
  Add(body, "MatMul", {"x", "wq"}, {"q"});
  SetInt(Add(body, "Concat", {"keys_now", "k"}, {"keys_next"}), "axis", 0);
  SetInt(Add(body, "Concat", {"values_now", "v"}, {"values_next"}), "axis", 0);
  Add(body, "Transpose", {"keys_next"}, {"keys_t"});
  Add(body, "MatMul", {"q", "keys_t"}, {"products"});
  Add(body, "Softmax", {"products"}, {"weights"});
  Add(body, "MatMul", {"weights", "values_next"}, {"mixed"});
  Add(body, "MatMul", {"mixed", "wo"}, {"scores_now"});
  SetInt(Add(body, "ArgMax", {"scores_now"}, {"best"}), "axis", 1);
  SetInt(Add(body, "Concat", {"tokens_now", "best"}, {"tokens_next"}), "axis", 1);
  Add(body, "Equal", {"best", "end"}, {"ends"});
  Add(body, "Not", {"ends"}, {"goes_on_2d"});
  Add(body, "Squeeze", {"goes_on_2d"}, {"goes_on"});
  Gives(body, {"goes_on", "tokens_next", "keys_next", "values_next", "scores_now"});
  return model;
}

std::vector<double> Times(const std::vector<double>& x, const NDArray& w) {
  const std::int64_t columns = w.shape()[1];
  std::vector<double> y(static_cast<std::size_t>(columns), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      y[static_cast<std::size_t>(j)] +=
          x[i] * static_cast<double>(w.data<float>()[static_cast<std::int64_t>(i) * columns + j]);
  }
  return y;
}

std::vector<std::int64_t> Decoded(std::int64_t start, std::int64_t most) {
  const Weights w;
  std::vector<std::int64_t> tokens = {start};
  std::vector<std::vector<double>> keys, values;
  for (std::int64_t turn = 0; turn < most; ++turn) {
    const float* row = w.embedding.data<float>() + tokens.back() * kWidth;
    const std::vector<double> x(row, row + kWidth), q = Times(x, w.query);
    keys.push_back(Times(x, w.key));
    values.push_back(Times(x, w.value));
    std::vector<double> mixed(kWidth, 0);
    double sum = 0;
    for (std::size_t t = 0; t < keys.size(); ++t) {
      double product = 0;
      for (std::size_t i = 0; i < q.size(); ++i) product += q[i] * keys[t][i];
      sum += std::exp(product);
      for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] += std::exp(product) * values[t][i];
    }
    for (double& value : mixed) value /= sum;
    const std::vector<double> scores = Times(mixed, w.out);
    tokens.push_back(std::max_element(scores.begin(), scores.end()) - scores.begin());
    if (tokens.back() == kEnd) break;
  }
  return tokens;
}

TEST(GrowingLoopsTest, ADecoderKeepsAndReadsAGrowingCache) {
  const AllForms forms(Decoder());
  for (std::int64_t start = 0; start < kWords; ++start) {
    for (const std::int64_t most : {0, 1, 5, 30}) {
      SCOPED_TRACE(StrCat("from ", start, ", at most ", most));
      const auto results =
          forms.Results({{"start", Number(start).Reshape({1, 1})}, {"most", Number(most)}});
      const std::vector<std::int64_t> expected = Decoded(start, most);
      const auto turns = static_cast<std::int64_t>(expected.size()) - 1;
      EXPECT_EQ(results[0].ToVector<std::int64_t>(), expected);
      EXPECT_EQ(results[0].shape(), (Shape{1, turns + 1}));
      EXPECT_EQ(results[1].shape(), (Shape{turns, kWidth}));
      EXPECT_EQ(results[2].shape(), (Shape{turns, 1, kWords}));
    }
  }
}

// Keys and values begin with as many rows and get as many, so they have one variable: no run can
// multiply what does not fit.
TEST(GrowingLoopsTest, ExtentsThatGrowInTheSameWayHaveOneVariable) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const ir::Module module =
      ValueOrThrow(ImportOnnx(Decoder().Bytes(), {.evaluate = strategies::EvaluateCall}));
  const ir::FunctionNode* loop = nullptr;
  for (const auto& [name, function] : module.functions()) {
    if (name != "main") loop = function.As<ir::FunctionNode>();
  }
  ASSERT_NE(loop, nullptr);
  std::vector<std::string> types;
  for (const ir::Expr& param : loop->params) types.push_back(ir::ToString(param.checked_type()));
  const auto keys = std::ranges::find(types, "Tensor[(#Loop_1, 4), float32]");
  EXPECT_EQ(std::ranges::count(types, "Tensor[(#Loop_1, 4), float32]"), 2) << StrJoin(types, "; ");
  EXPECT_NE(keys, types.end());
}

// --- a detector

// Each turn keeps the boxes with a score above a falling limit, behind those of the turns before.
TEST(GrowingLoopsTest, ALoopCollectsAsManyRowsAsEachTurnFinds) {
  Model model;
  model.Input("boxes", {9, 4}).Input("scores", {9}).Input("count", {}, kInt64).Output("found");
  model.Output("area");
  model.Initializer("none", NDArray::Zeros({0, 4}, Float32));
  model.Initializer("limit", NDArray::Scalar(0.9F)).Initializer("step", NDArray::Scalar(0.2F));
  NodeProto& node =
      model.Node("Loop", {"count", "", "none", "limit"}, {"found", "limit_after"}, "collecting");
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "was", "found_now", "limit_now"});
  Add(body, "Identity", {"was"}, {"goes_on"});
  Add(body, "Greater", {"scores", "limit_now"}, {"kept"});
  SetInt(Add(body, "Compress", {"boxes", "kept"}, {"more"}), "axis", 0);
  SetInt(Add(body, "Concat", {"found_now", "more"}, {"found_next"}), "axis", 0);
  Add(body, "Sub", {"limit_now", "step"}, {"limit_next"});
  Gives(body, {"goes_on", "found_next", "limit_next"});
  SetInt(model.Node("ReduceSum", {"found"}, {"area"}), "keepdims", 0);
  const AllForms forms(model);
  const NDArray boxes = Random({9, 4}, 31), scores = Random({9}, Float32, 32, 0, 1);
  for (const std::int64_t count : {0, 1, 2, 5}) {
    std::vector<float> expected;
    float limit = 0.9F;
    for (std::int64_t turn = 0; turn < count; ++turn, limit -= 0.2F) {
      for (std::int64_t i = 0; i < 9; ++i) {
        if (scores.data<float>()[i] > limit)
          expected.insert(expected.end(), boxes.data<float>() + 4 * i,
                          boxes.data<float>() + 4 * i + 4);
      }
    }
    const auto results =
        forms.Results({{"boxes", boxes}, {"scores", scores}, {"count", Number(count)}});
    EXPECT_EQ(results[0].ToVector<float>(), expected);
  }
}

// --- others

// Halves and doubles rows, so that extents fall, too.
TEST(GrowingLoopsTest, ExtentsMayFallAndFollowVariablesOfTheModel) {
  Model model;
  model.Input("x", {-1, 2}).Input("count", {}, kInt64).Output("y");
  model.Integers("from", {1}).Integers("to", {1000}).Integers("axis", {0});
  NodeProto& node = model.Node("Loop", {"count", "", "x"}, {"rest"}, "peeling");
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "was", "rows"});
  Add(body, "Identity", {"was"}, {"goes_on"});
  Add(body, "Slice", {"rows", "from", "to", "axis"}, {"fewer"});
  Gives(body, {"goes_on", "fewer"});
  model.Node("Exp", {"rest"}, {"y"});
  const AllForms forms(model, true);
  for (const std::int64_t rows : {1, 6, 20}) {
    for (const std::int64_t count : {0, 1, 5, 21}) {
      const NDArray x = Random({rows, 2}, 5);
      const auto results = forms.Results({{"x", x}, {"count", Number(count)}});
      const std::int64_t left = std::max<std::int64_t>(rows - count, 0);
      ASSERT_EQ(results[0].shape(), (Shape{left, 2}));
      for (std::int64_t i = 0; i < 2 * left; ++i)
        EXPECT_NEAR(results[0].data<float>()[i], std::exp(x.data<float>()[2 * (rows - left) + i]),
                    1e-5);
    }
  }
}

TEST(GrowingLoopsTest, AScanMayCarryWhatGrows) {
  Model model;
  model.Input("x", {-1, 3}).Output("all").Output("sums");
  model.Initializer("none", NDArray::Zeros({0, 3}, Float32)).Integers("axis", {0});
  NodeProto& node = model.Node("Scan", {"none", "x"}, {"all", "sums"});
  SetInt(node, "num_scan_inputs", 1);
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"rows", "row"});
  Add(body, "Unsqueeze", {"row", "axis"}, {"one_row"});
  SetInt(Add(body, "Concat", {"one_row", "rows"}, {"more"}), "axis", 0);
  SetInt(Add(body, "ReduceSum", {"more", "axis"}, {"sum"}), "keepdims", 0);
  Gives(body, {"more", "sum"});
  const AllForms forms(model, true);
  for (const std::int64_t rows : {1, 4, 19}) {
    const NDArray x = Random({rows, 3}, 6);
    const auto results = forms.Results({{"x", x}});
    ASSERT_EQ(results[0].shape(), (Shape{rows, 3}));
    for (std::int64_t column = 0; column < 3; ++column) {
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        EXPECT_EQ(results[0].data<float>()[3 * (rows - 1 - i) + column],
                  x.data<float>()[3 * i + column]);
        sum += static_cast<double>(x.data<float>()[3 * i + column]);
        EXPECT_NEAR(results[1].data<float>()[3 * i + column], sum, 1e-5);
      }
    }
  }
}

// A detector that has found nothing gives no rows.
TEST(GrowingLoopsTest, BranchesOfAnIfMayHaveOtherExtents) {
  Model model;
  model.Input("x", {6, 4}).Input("c", {}, TensorProto::BOOL).Output("y").Output("total");
  model.Integers("axis", {0}).Initializer("two", NDArray::Scalar(2.0F));
  NodeProto& node = model.Node("If", {"c"}, {"rows", "row_numbers"}, "choice");
  GraphProto* yes = GraphOf(node, "then_branch");
  Add(yes, "Concat", {"x", "x"}, {"twice"});
  SetInt(*yes->mutable_node(0), "axis", 0);
  SetInt(Add(yes, "ReduceSum", {"twice"}, {"unread"}), "keepdims", 0);
  Add(yes, "Mul", {"twice", "two"}, {"rows_yes"});
  AttributeProto* a = Add(yes, "ArgMax", {"rows_yes"}, {"numbers_yes"}).add_attribute();
  a->set_name("axis");
  a->set_type(AttributeProto::INT);
  a->set_i(1);
  Gives(yes, {"rows_yes", "numbers_yes"});
  GraphProto* no = GraphOf(node, "else_branch");
  ToTensorProto(NDArray::Zeros({0, 4}, Float32), "no_rows", no->add_initializer());
  ToTensorProto(NDArray::Zeros({0, 1}, Int64), "no_numbers", no->add_initializer());
  Add(no, "Identity", {"no_rows"}, {"rows_no"});
  Add(no, "Identity", {"no_numbers"}, {"numbers_no"});
  Gives(no, {"rows_no", "numbers_no"});
  SetInt(model.Node("Cast", {"row_numbers"}, {"places"}), "to", TensorProto::FLOAT);
  model.Node("Add", {"rows", "places"}, {"y"});
  SetInt(model.Node("ReduceSum", {"y"}, {"total"}), "keepdims", 0);
  const AllForms forms(model);
  const NDArray x = Random({6, 4}, 7);
  for (const bool c : {true, false}) {
    const auto results = forms.Results({{"x", x}, {"c", NDArray::Scalar(c)}});
    ASSERT_EQ(results[0].shape(), (Shape{c ? 12 : 0, 4}));
    if (!c) {
      EXPECT_EQ(*results[1].data<float>(), 0);
    }
    for (std::int64_t row = 0; c && row < 12; ++row) {
      const float* of_x = x.data<float>() + 4 * (row % 6);
      const auto best = static_cast<float>(std::max_element(of_x, of_x + 4) - of_x);
      for (std::int64_t i = 0; i < 4; ++i)
        EXPECT_FLOAT_EQ(results[0].data<float>()[4 * row + i], 2 * of_x[i] + best);
    }
  }
}

TEST(GrowingLoopsTest, WhatALoopMayNotChangeIsRefusedInWords) {
  const auto refusal = [](const char* type, const std::string& attribute, std::int64_t value) {
    Model model;
    model.Input("x", {4, 3}).Input("count", {}, kInt64).Output("y");
    NodeProto& node = model.Node("Loop", {"count", "", "x"}, {"y"}, "loop");
    GraphProto* body = GraphOf(node, "body");
    Takes(body, {"turn", "was", "value"});
    Add(body, "Identity", {"was"}, {"goes_on"});
    NodeProto& made = Add(body, type, {"value"}, {"next"});
    if (!attribute.empty()) SetInt(made, attribute, value);
    Gives(body, {"goes_on", "next"});
    return std::string(Imported(model).status().message());
  };
  EXPECT_THAT(refusal("Cast", "to", TensorProto::DOUBLE),
              AllOf(HasSubstr("in the node loop (Loop)"), HasSubstr("Tensor[(4, 3), float32]"),
                    HasSubstr("Tensor[(4, 3), float64]"), HasSubstr("may change extents")));
  EXPECT_THAT(refusal("ReduceSum", "keepdims", 0), HasSubstr("no number of axes"));
}

TEST(GrowingLoopsTest, AnOutputWhoseElementsGrowIsRefused) {
  Model model;
  model.Input("x", {1, 3}).Input("count", {}, kInt64).Output("y").Output("all");
  NodeProto& node = model.Node("Loop", {"count", "", "x"}, {"y", "all"}, "loop");
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "was", "value"});
  Add(body, "Identity", {"was"}, {"goes_on"});
  SetInt(Add(body, "Concat", {"value", "x"}, {"next"}), "axis", 0);
  Add(body, "Neg", {"next"}, {"element"});
  Gives(body, {"goes_on", "next", "element"});
  EXPECT_THAT(std::string(Imported(model).status().message()),
              AllOf(HasSubstr("the output element is"),
                    HasSubstr("elements of one output must have one shape")));
}

// A turn finds how many rows an element has, which nobody knows around it.
TEST(GrowingLoopsTest, AnOutputWhoseElementsHaveExtentsOfATurnIsRefused) {
  Model model;
  model.Input("x", {5}).Input("count", {}, kInt64).Output("all");
  NodeProto& node = model.Node("Loop", {"count", ""}, {"all"}, "loop");
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "was"});
  Add(body, "Identity", {"was"}, {"goes_on"});
  Add(body, "NonZero", {"x"}, {"places"});
  Gives(body, {"goes_on", "places"});
  EXPECT_THAT(std::string(Imported(model).status().message()),
              AllOf(HasSubstr("the output places is"), HasSubstr("turns decide #NonZero")));
}

// As exporters write an element of a sequence: a slice between values, declared to have one
// element.
TEST(GrowingLoopsTest, ExtentsThatTheGraphDeclaresAreTaken) {
  Model model;
  model.Input("x", {6}).Input("start", {1}).Input("count", {}, kInt64).Output("y").Output("all");
  model.Integers("axis", {0}).Integers("one", {1});
  NodeProto& node = model.Node("Loop", {"count", "", "start"}, {"y", "all"}, "summing");
  GraphProto* body = GraphOf(node, "body");
  Takes(body, {"turn", "was", "sum"});
  Add(body, "Identity", {"was"}, {"goes_on"});
  Add(body, "Unsqueeze", {"turn", "axis"}, {"from"});
  Add(body, "Add", {"from", "one"}, {"to"});
  Add(body, "Slice", {"x", "from", "to"}, {"element"});
  Add(body, "Add", {"sum", "element"}, {"next"});
  Add(body, "Identity", {"next"}, {"each"});
  Gives(body, {"goes_on", "next", "each"});
  for (const int output : {1, 2}) {
    auto* type = body->mutable_output(output)->mutable_type()->mutable_tensor_type();
    type->set_elem_type(TensorProto::FLOAT);
    type->mutable_shape()->add_dim()->set_dim_value(1);
  }
  const AllForms forms(model);
  const NDArray x = Random({6}, 3), start = Floats({2});
  for (const std::int64_t count : {0, 1, 6}) {
    const auto results = forms.Results({{"x", x}, {"start", start}, {"count", Number(count)}});
    float sum = 2;
    ASSERT_EQ(results[1].shape(), (Shape{count, 1}));
    for (std::int64_t i = 0; i < count; ++i) {
      sum += x.data<float>()[i];
      EXPECT_FLOAT_EQ(results[1].data<float>()[i], sum);
    }
    EXPECT_FLOAT_EQ(results[0].data<float>()[0], sum);
  }
}

}  // namespace
}  // namespace tenon::onnx_import
