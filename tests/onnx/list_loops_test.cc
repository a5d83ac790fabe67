// Loops that append to sequences, as scripted functions of PyTorch are exported, and sequences of
// which only a run knows the length. The tests compute by loops of their own what the models do.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "tenon/tests/onnx/any_shapes.h"
#include "tenon/tests/onnx/subgraphs.h"

namespace tenon::onnx_import {
namespace {

using onnx::GraphProto;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::Random;

constexpr auto kInt64 = TensorProto::INT64;

Model RowsModel() {
  Model model(13);
  NamedInput(model, "x", {"n", "m"}).Integers("0", {0}).Integers("1", {1});
  model.Initializer("first", NDArray::Scalar<std::int64_t>(0));
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Gather", {"shape", "first"}, {"rows"});
  model.Node("SequenceEmpty", {}, {"none"});
  return model;
}

std::vector<runtime::Inputs> Rows(const std::vector<Shape>& shapes) {
  std::vector<runtime::Inputs> runs;
  for (const Shape& shape : shapes) runs.push_back({{"x", Random(shape, 1)}});
  return runs;
}

// A loop over the rows of x that appends what `element` adds to its body.
template <typename Element>
void AppendForRows(Model& model, const std::string& start, const Element& element) {
  GraphProto* body = GraphOf(model.Node("Loop", {"rows", "", start}, {"list"}, "loop"), "body");
  Takes(body, {"turn", "was", "before"});
  element(body);
  Add(body, "Identity", {"was"}, {"goes_on"});
  Add(body, "SequenceInsert", {"before", "element"}, {"after"});
  Gives(body, {"goes_on", "after"});
}

void Join(Model& model, const std::string& y, std::int64_t axis, bool is_new) {
  NodeProto& node = model.Node("ConcatFromSequence", {"list"}, {y}, "join");
  SetInt(node, "axis", axis);
  SetInt(node, "new_axis", is_new ? 1 : 0);
  model.Output(y);
}

void TwiceARow(GraphProto* body) {
  Add(body, "Gather", {"x", "turn"}, {"row"});
  Add(body, "Add", {"row", "row"}, {"element"});
}

TEST(ListLoopsTest, WhatEachTurnAppendsIsJoinedCountedAndRead) {
  Model model = RowsModel();
  AppendForRows(model, "none", TwiceARow);
  Join(model, "columns", 1, true);
  Join(model, "flat", -1, false);
  model.Node("SequenceLength", {"list"}, {"length"});
  model.Output("length").Initializer("last", NDArray::Scalar<std::int64_t>(-1));
  model.Node("SequenceAt", {"list", "last"}, {"end"});
  model.Output("end");
  const auto runs = Rows({{1, 1}, {3, 5}, {17, 2}, {40, 7}});
  const auto results = ExpectRightForAll(model, runs, true);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const NDArray& x = runs[run].at("x");
    const std::int64_t n = x.shape()[0], m = x.shape()[1];
    ASSERT_EQ(results[run][0].shape(), (Shape{m, n}));
    ASSERT_EQ(results[run][1].shape(), Shape{n * m});
    for (std::int64_t i = 0; i < n * m; ++i) {
      EXPECT_EQ(results[run][0].data<float>()[i % m * n + i / m], 2 * x.data<float>()[i]);
      EXPECT_EQ(results[run][1].data<float>()[i], 2 * x.data<float>()[i]);
    }
    EXPECT_EQ(results[run][2].ToVector<std::int64_t>(), (std::vector<std::int64_t>{n}));
    EXPECT_EQ(results[run][3].data<float>()[0], 2 * x.data<float>()[(n - 1) * m]);
  }
}

TEST(ListLoopsTest, ARunWithTooFewElementsForAPlaceIsRefused) {
  for (const std::int64_t place : {2, -3}) {
    Model model = RowsModel();
    AppendForRows(model, "none", TwiceARow);
    model.Initializer("place", NDArray::Scalar<std::int64_t>(place));
    model.Node("SequenceAt", {"list", "place"}, {"y"}, "read");
    model.Output("y");
    ExpectRightForAll(model, Rows({{3, 5}, {17, 2}, {40, 7}}), true);
    const Executable exe =
        ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
    EXPECT_FALSE(exe.Run({{"x", Random({2, 5}, 1)}}).ok()) << place;
  }
}

TEST(ListLoopsTest, ElementsThatTurnsMakeOfAnyLengthAreJoined) {
  Model model = RowsModel();
  NamedInput(model, "lengths", {"n"}, kInt64);
  AppendForRows(model, "none", [](GraphProto* body) {
    Add(body, "Gather", {"x", "turn"}, {"row"});
    Add(body, "Gather", {"lengths", "turn"}, {"length"});
    Add(body, "Unsqueeze", {"length", "0"}, {"end"});
    Add(body, "Slice", {"row", "0", "end", "0"}, {"element"});
  });
  Join(model, "y", 0, false);
  std::vector<runtime::Inputs> runs;
  std::vector<std::int64_t> sums;
  for (const auto& [n, m] : {std::pair(1, 3), std::pair(4, 5), std::pair(20, 2)}) {
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < n; ++i) lengths.push_back((i * 7 + 3) % (m + 1));
    sums.push_back(0);
    for (const std::int64_t length : lengths) sums.back() += length;
    runs.push_back({{"x", Random({n, m}, 1)}, {"lengths", NDArray::FromVector({n}, lengths)}});
  }
  const auto results = ExpectRightForAll(model, runs, true);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::vector<float> expected;
    const NDArray &x = runs[run].at("x"), &lengths = runs[run].at("lengths");
    const std::int64_t m = x.shape()[1];
    for (std::int64_t i = 0; i < x.shape()[0]; ++i) {
      const float* row = x.data<float>() + i * m;
      expected.insert(expected.end(), row, row + lengths.data<std::int64_t>()[i]);
    }
    EXPECT_EQ(results[run][0].ToVector<float>(), expected);
  }
}

// As repeat_interleave is exported: as many ones as there are rows say how long each part is.
TEST(ListLoopsTest, PartsOfAnArrayAreReadOneByOne) {
  for (const bool has_lengths : {true, false}) {
    Model model = RowsModel();
    model.Node("Unsqueeze", {"rows", "0"}, {"count"});
    AttributeProto* one = model.Node("ConstantOfShape", {"count"}, {"ones"}).add_attribute();
    one->set_name("value");
    one->set_type(AttributeProto::TENSOR);
    one->mutable_t()->set_data_type(kInt64);
    one->mutable_t()->add_dims(1);
    one->mutable_t()->add_int64_data(1);
    model.Node("SplitToSequence", has_lengths ? Names{"x", "ones"} : Names{"x"}, {"parts"});
    AppendForRows(model, "none", [](GraphProto* body) {
      Add(body, "SequenceAt", {"parts", "turn"}, {"part"});
      Add(body, "Neg", {"part"}, {"element"});
    });
    Join(model, "y", 0, false);
    const auto runs = Rows({{1, 1}, {3, 5}, {40, 7}});
    const auto results = ExpectRightForAll(model, runs, true);
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const NDArray& x = runs[run].at("x");
      ASSERT_EQ(results[run][0].shape(), x.shape());
      EXPECT_EQ(results[run][0].data<float>()[x.size() - 1], -x.data<float>()[x.size() - 1]);
    }
  }
}

// As a decoder is exported: a condition ends the loop, whose count is the greatest there is.
TEST(ListLoopsTest, AListMayBeginWithElementsAndEndByACondition) {
  Model model(13);
  NamedInput(model, "x", {"n"}).Initializer("limit", NDArray::Scalar(100.0F));
  model.Initializer("most", NDArray::Scalar(std::numeric_limits<std::int64_t>::max()));
  model.Initializer("yes", NDArray::Scalar(true));
  model.Node("SequenceConstruct", {"x"}, {"start"});
  GraphProto* body =
      GraphOf(model.Node("Loop", {"most", "yes", "x", "start"}, {"last", "list"}, "loop"), "body");
  Takes(body, {"turn", "was", "value", "before"});
  Add(body, "Add", {"value", "value"}, {"next"});
  SetInt(Add(body, "ReduceMax", {"next"}, {"greatest"}), "keepdims", 0);
  Add(body, "Less", {"greatest", "limit"}, {"goes_on"});
  Add(body, "SequenceInsert", {"before", "next"}, {"after"});
  Gives(body, {"goes_on", "next", "after"});
  Join(model, "y", 0, true);
  std::vector<runtime::Inputs> runs;
  for (const float x : {99.0F, 40.0F, 1e-4F})
    runs.push_back({{"x", NDArray::FromVector({2}, std::vector<float>{x, -x})}});
  const auto module = ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()));
  const Executable exe = ValueOrThrow(Compile(module));
  for (const runtime::Inputs& inputs : runs) {
    std::vector<float> expected;
    float x = inputs.at("x").data<float>()[0];
    expected = {x, -x};
    do {
      x += x;
      expected.insert(expected.end(), {x, -x});
    } while (x < 100);
    EXPECT_EQ(ValueOrThrow(exe.Run(inputs)).at(0).ToVector<float>(), expected);
  }
}

TEST(ListLoopsTest, ARunMaySayThePlaceInASequenceOfOneType) {
  Model model(13);
  NamedInput(NamedInput(model, "a", {"n"}), "b", {"n"});
  model.Input("place", {}, kInt64).Output("y");
  model.Node("SequenceConstruct", {"a", "b"}, {"both"});
  model.Node("SequenceAt", {"both", "place"}, {"y"});
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t place : {0, 1, -1, -2})
    runs.push_back({{"a", Random({3}, 1)},
                    {"b", Random({3}, 2)},
                    {"place", NDArray::Scalar<std::int64_t>(place)}});
  const auto results = ExpectRightForAll(model, runs, true);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const bool is_second = run == 1 || run == 2;
    EXPECT_EQ(results[run][0].ToVector<float>(),
              runs[run].at(is_second ? "b" : "a").ToVector<float>());
  }
}

TEST(ListLoopsTest, ElementsOfAnyLengthAreJoinedAlongItAlone) {
  Model model = RowsModel();
  NamedInput(model, "lengths", {"n"}, kInt64);
  AppendForRows(model, "none", [](GraphProto* body) {
    Add(body, "Gather", {"lengths", "turn"}, {"length"});
    Add(body, "Unsqueeze", {"length", "0"}, {"end"});
    Add(body, "Slice", {"x", "0", "end", "1"}, {"element"});
  });
  Join(model, "y", 0, false);
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kUnimplemented),
              AllOf(HasSubstr("join (ConcatFromSequence)"),
                    HasSubstr("joined along the axis along which they differ")));
}

TEST(ListLoopsTest, AMistakeOfTheBodyIsWhatIsSaid) {
  Model model = RowsModel();
  AppendForRows(model, "none", [](GraphProto* body) {
    Add(body, "Gather", {"x", "turn"}, {"row"});
    Add(body, "Add", {"row", "turn"}, {"element"}).set_name("sum");
  });
  Join(model, "y", 0, false);
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kInvalidArgument),
              HasSubstr("sum (Add)"));
}

}  // namespace
}  // namespace tenon::onnx_import
