// Quantisation by blocks, n-grams, determinants and masks of Dropout over extents that are
// variables, each against loops over its definition.
#include <algorithm>
#include <cmath>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

std::string RefusalOf(const Model& model, const runtime::Inputs& inputs) {
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  const auto result = exe.Run(inputs);
  return result.ok() ? "it was taken" : std::string(result.status().message());
}

// --- QuantizeLinear and DequantizeLinear

Model Blocked(const std::string& type, const Names& data, const Names& scales, std::int64_t axis,
              std::int64_t block) {
  Model model(21);
  NamedInput(model, "x", data, type == "QuantizeLinear" ? TensorProto::FLOAT : TensorProto::INT8);
  NamedInput(model, "scale", scales);
  NamedInput(model, "zero", scales, TensorProto::INT8).Output("y");
  NodeProto& node = model.Node(type, {"x", "scale", "zero"}, {"y"}, "blocks");
  SetInt(node, "axis", axis);
  SetInt(node, "block_size", block);
  return model;
}

struct Blocks {
  Names data, scales;
  std::int64_t axis, block;
  std::vector<Shape> shapes;
};

TEST(OpenBlocksTest, EachBlockHasItsScaleAndZeroPoint) {
  const Blocks cases[] = {
      {{"n", "16"}, {"n", "4"}, 1, 4, {{3, 16}, {1, 16}}},
      {{"n", "16"}, {"n", "b"}, -1, 4, {{3, 16}, {1, 16}}},
      {{"n", "k"}, {"n", "b"}, 1, 4, {{3, 16}, {2, 1}, {5, 9}}},
      {{"n", "k"}, {"m", "b"}, 0, 3, {{3, 16}, {1, 1}, {7, 2}}},
      {{"n", "k"}, {"1", "k"}, 0, 32, {{31, 3}, {1, 1}, {32, 2}}},
      {{"k"}, {"b"}, 0, 2, {{5}, {1}, {64}}},
      {{"n", "5", "k"}, {"n", "3", "k"}, 1, 2, {{3, 5, 4}, {1, 5, 1}}},
  };
  for (const Blocks& c : cases) {
    const auto at = static_cast<std::size_t>(c.axis < 0 ? c.axis + 2 : c.axis);
    std::vector<runtime::Inputs> runs, back;
    std::vector<NDArray> values;
    for (const Shape& shape : c.shapes) {
      Shape blocks = shape;
      blocks[at] = (shape[at] + c.block - 1) / c.block;
      const NDArray x = Random(shape, Int8, 1), scale = Random(blocks, Float32, 2, 0.1, 1),
                    zero = Random(blocks, Int8, 3);
      runs.push_back({{"x", x}, {"scale", scale}, {"zero", zero}});
      std::int64_t inner = 1;
      for (std::size_t d = at + 1; d < shape.size(); ++d) inner *= shape[d];
      std::vector<float> expected;
      for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t from =
            (i / inner / shape[at] * blocks[at] + i / inner % shape[at] / c.block) * inner +
            i % inner;
        expected.push_back(
            static_cast<float>(x.data<std::int8_t>()[i] - zero.data<std::int8_t>()[from]) *
            scale.data<float>()[from]);
      }
      values.push_back(NDArray::FromVector(shape, expected));
      back.push_back({{"x", values.back()}, {"scale", scale}, {"zero", zero}});
    }
    SCOPED_TRACE(StrCat(StrJoin(c.data, ","), " ", StrJoin(c.scales, ",")));
    const auto all = ExpectRightForAll(
        Blocked("DequantizeLinear", c.data, c.scales, c.axis, c.block), runs, true);
    const auto quantized =
        ExpectRightForAll(Blocked("QuantizeLinear", c.data, c.scales, c.axis, c.block), back, true);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      EXPECT_EQ(all.at(i).at(0).ToVector<float>(), values[i].ToVector<float>());
      EXPECT_EQ(quantized.at(i).at(0).ToVector<std::int8_t>(),
                runs[i].at("x").ToVector<std::int8_t>());
    }
  }
}

TEST(OpenBlocksTest, ScalesOfOtherBlocksAreRefused) {
  const auto inputs = [](const Shape& x, const Shape& scales) {
    return runtime::Inputs{{"x", Random(x, Int8, 1)},
                           {"scale", Random(scales, 2)},
                           {"zero", NDArray::Zeros(scales, Int8)}};
  };
  const Model model = Blocked("DequantizeLinear", {"n", "k"}, {"m", "b"}, 1, 4);
  for (const auto& [x, scales] : std::initializer_list<std::pair<Shape, Shape>>{
           {{3, 16}, {2, 4}}, {{3, 16}, {3, 5}}, {{3, 17}, {3, 4}}, {{2, 24}, {3, 4}}})
    EXPECT_THAT(RefusalOf(model, inputs(x, scales)), HasSubstr("blocks (DequantizeLinear)"));
  EXPECT_THAT(
      MessageOf(ImportOnnx(Blocked("DequantizeLinear", {"n", "16"}, {"n", "5"}, 1, 4).Bytes(),
                           AnyShapes()),
                absl::StatusCode::kInvalidArgument),
      AllOf(HasSubstr("blocks (DequantizeLinear)"), HasSubstr("(n, 4), not (n, 5)")));
}

// --- TfIdfVectorizer

struct Grams {
  Ints counts, columns, items;
  std::int64_t shortest, longest, skips;
};

// How often each n-gram occurs in a row, by the standard's reference: each distance for itself.
std::vector<float> Counted(const Grams& g, const Ints& row) {
  std::vector<float> found(static_cast<std::size_t>(*std::ranges::max_element(g.columns)) + 1);
  std::size_t gram = 0;
  for (std::size_t i = 0; i < g.counts.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i) + 1;
    const std::size_t end =
        i + 1 < g.counts.size() ? static_cast<std::size_t>(g.counts[i + 1]) : g.items.size();
    for (auto at = static_cast<std::size_t>(g.counts[i]); at < end; at += i + 1, ++gram) {
      if (n < g.shortest || n > g.longest) continue;
      for (std::int64_t step = 1; step <= (n == 1 ? 1 : g.skips + 1); ++step)
        for (std::int64_t first = 0; first + step * (n - 1) < static_cast<std::int64_t>(row.size());
             ++first) {
          bool is_same = true;
          for (std::int64_t k = 0; k < n; ++k)
            is_same = is_same && row[static_cast<std::size_t>(first + k * step)] ==
                                     g.items[at + static_cast<std::size_t>(k)];
          found[static_cast<std::size_t>(g.columns[gram])] += is_same ? 1 : 0;
        }
    }
  }
  return found;
}

Model VectorizerOf(const Grams& g, const Names& extents) {
  Model model;
  NamedInput(model, "x", extents, TensorProto::INT64).Output("y");
  NodeProto& node = model.Node("TfIdfVectorizer", {"x"}, {"y"}, "grams");
  SetString(node, "mode", "TF");
  SetInt(node, "min_gram_length", g.shortest);
  SetInt(node, "max_gram_length", g.longest);
  SetInt(node, "max_skip_count", g.skips);
  SetInts(node, "ngram_counts", g.counts);
  SetInts(node, "ngram_indexes", g.columns);
  SetInts(node, "pool_int64s", g.items);
  return model;
}

TEST(OpenBlocksTest, NGramsAreCountedInRowsOfAnyLength) {
  const Grams all[] = {{{0, 2}, {3, 0, 2, 1}, {1, 2, 1, 2, 2, 2}, 1, 2, 0},
                       {{0, 2, 4}, {0, 1, 2, 4}, {0, 1, 1, 1, 0, 1, 2}, 2, 3, 3}};
  for (const Grams& g : all) {
    for (const Names& extents : {Names{"n", "l"}, {"n", "7"}, {"#n", "#l"}, {"l"}}) {
      std::vector<runtime::Inputs> runs;
      std::vector<Shape> shapes = {{3, 7}, {1, 7}};
      if (extents[1 % extents.size()] != "7")
        shapes.insert(shapes.end(), {{2, 1}, {1, 2}, {4, 40}, {2, 3}});
      if (extents[0] == "#n") shapes.insert(shapes.end(), {{3, 0}, {0, 4}});
      for (Shape shape : shapes) {
        if (extents.size() == 1) shape.erase(shape.begin());
        Ints values(static_cast<std::size_t>(NumElements(shape)));
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = static_cast<std::int64_t>((i * i * 7 + i / 2) % 3);
        runs.push_back({{"x", NDArray::FromVector<std::int64_t>(shape, values)}});
      }
      SCOPED_TRACE(StrJoin(extents, ","));
      const auto results = ExpectRightForAll(VectorizerOf(g, extents), runs, true);
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const NDArray& x = runs[i].at("x");
        const Ints values = x.ToVector<std::int64_t>();
        const std::int64_t length = x.shape().back();
        std::vector<float> expected;
        for (std::int64_t row = 0; row < (extents.size() == 1 ? 1 : x.shape()[0]); ++row) {
          const auto begin = values.begin() + row * length;
          const auto counted = Counted(g, Ints(begin, begin + length));
          expected.insert(expected.end(), counted.begin(), counted.end());
        }
        EXPECT_EQ(results.at(i).at(0).ToVector<float>(), expected);
      }
    }
  }
}

// --- Det

// By Leibniz' formula: permutations in order, with their signs.
double Leibniz(const float* a, std::int64_t n) {
  Ints columns(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<std::int64_t>(i);
  double sum = 0;
  do {
    double product = 1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      product *= a[static_cast<std::int64_t>(i) * n + columns[i]];
      for (std::size_t j = 0; j < i; ++j) product *= columns[j] > columns[i] ? -1 : 1;
    }
    sum += product;
  } while (std::ranges::next_permutation(columns).found);
  return sum;
}

Model DetOf(const Names& extents) {
  Model model;
  NamedInput(model, "x", extents).Output("y");
  model.Node("Det", {"x"}, {"y"}, "det");
  return model;
}

TEST(OpenBlocksTest, MatricesOfAnyNumberAndSizeHaveDeterminants) {
  for (const auto& [extents, shapes] : std::initializer_list<std::pair<Names, std::vector<Shape>>>{
           {{"n", "3", "3"}, {{2, 3, 3}, {1, 3, 3}}},
           {{"n", "5", "5"}, {{2, 5, 5}, {1, 5, 5}, {33, 5, 5}}},
           {{"n", "m", "8", "8"}, {{2, 3, 8, 8}}},
           {{"#n", "r", "r"}, {{2, 3, 3}, {0, 4, 4}, {1, 1, 1}, {3, 7, 7}}},
           {{"r", "c"}, {{4, 4}, {1, 1}, {6, 6}}}}) {
    std::vector<runtime::Inputs> runs;
    for (const Shape& shape : shapes) runs.push_back({{"x", Random(shape, 1)}});
    SCOPED_TRACE(StrJoin(extents, ","));
    const auto results = ExpectRightForAll(DetOf(extents), runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const NDArray& x = runs[i].at("x");
      const std::int64_t n = x.shape().back();
      std::vector<float> expected;
      for (std::int64_t at = 0; at < x.size(); at += n * n)
        expected.push_back(static_cast<float>(Leibniz(x.data<float>() + at, n)));
      const Shape shape(x.shape().begin(), x.shape().end() - 2);
      ExpectClose(results.at(i).at(0), NDArray::FromVector(shape, expected));
    }
  }
}

// The first pivot is 0, two rows are equal, one element is NaN.
TEST(OpenBlocksTest, SingularMatricesAreZeroAndNaNStays) {
  NDArray x = NDArray::Zeros({3, 5, 5}, Float32);
  const Ints order = {2, 0, 1, 4, 3};
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 5; ++j)
      x.data<float>()[25 + i * 5 + j] = static_cast<float>((i % 4 + 1) * (j * j + 1));
    for (const std::int64_t at : {0, 50}) x.data<float>()[at + i * 5 + order[std::size_t(i)]] = 2;
  }
  x.data<float>()[50 + 7] = std::nanf("");
  const auto results = ExpectRightForAll(DetOf({"n", "5", "5"}), {{{"x", x}}});
  const auto y = results.at(0).at(0).ToVector<float>();
  EXPECT_EQ(y.at(0), -32);  // an even cycle of three, and a swap
  EXPECT_EQ(y.at(1), 0);
  EXPECT_TRUE(std::isnan(y.at(2)));
}

TEST(OpenBlocksTest, OnlySquareMatricesHaveDeterminants) {
  EXPECT_THAT(RefusalOf(DetOf({"r", "c"}), {{"x", Random({3, 4}, 1)}}), HasSubstr("det (Det)"));
  EXPECT_THAT(MessageOf(ImportOnnx(DetOf({"n", "3", "4"}).Bytes(), AnyShapes()),
                        absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("det (Det)"), HasSubstr("the last two axes must have one extent")));
  EXPECT_THAT(
      MessageOf(ImportOnnx(DetOf({"n"}).Bytes(), AnyShapes()), absl::StatusCode::kInvalidArgument),
      AllOf(HasSubstr("det (Det)"), HasSubstr("rank 1")));
}

TEST(OpenBlocksTest, DropoutKeepsAllOfAnyShape) {
  Model model;
  NamedInput(model, "x", {"n", "3", "m"}).Output("y").Output("mask");
  model.Node("Dropout", {"x"}, {"y", "mask"});
  const auto results = ExpectRightForAll(
      model, {{{"x", Random({2, 3, 5}, 1)}}, {{"x", Random({1, 3, 1}, 2)}}}, true);
  EXPECT_EQ(results.at(0).at(1).shape(), (Shape{2, 3, 5}));
  EXPECT_THAT(results[0][1].ToVector<bool>(), Each(true));
}

}  // namespace
}  // namespace tenon::onnx_import
