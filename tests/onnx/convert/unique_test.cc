// Unique along an axis: distinct slices, of which a run says how many there are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Slice = std::vector<float>;
using Integers = std::vector<std::int64_t>;

const float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Found {
  std::vector<Slice> slices;  // in their order
  Integers first, inverse, counts;
};

bool IsLess(float a, float b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

// Each slice is compared with all that were found before. NaN equals nothing, and comes last.
Found Distinct(const std::vector<Slice>& slices, bool sorted) {
  Integers firsts;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (std::ranges::none_of(firsts, [&](auto f) { return slices[std::size_t(f)] == slices[i]; }))
      firsts.push_back(static_cast<std::int64_t>(i));
  }
  const auto at = [&](std::int64_t i) -> const Slice& {
    return slices[static_cast<std::size_t>(i)];
  };
  if (sorted)
    std::ranges::stable_sort(firsts, [&](std::int64_t a, std::int64_t b) {
      return std::ranges::lexicographical_compare(at(a), at(b), IsLess);
    });
  Found found{.first = firsts, .counts = Integers(firsts.size(), 0)};
  for (const std::int64_t i : firsts) found.slices.push_back(at(i));
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(slices.size()); ++i) {
    const auto group =
        std::ranges::find_if(firsts, [&](std::int64_t f) { return f == i || at(f) == at(i); });
    found.inverse.push_back(group - firsts.begin());
    ++found.counts[static_cast<std::size_t>(group - firsts.begin())];
  }
  return found;
}

std::vector<Slice> SlicesOf(const NDArray& x, std::size_t axis) {
  const Shape& shape = x.shape();
  const auto from = static_cast<std::ptrdiff_t>(axis);
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
  };
  const std::int64_t outer = product(shape.begin(), shape.begin() + from),
                     inner = product(shape.begin() + from + 1, shape.end());
  std::vector<Slice> slices(static_cast<std::size_t>(shape[axis]));
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::size_t s = 0; s < slices.size(); ++s)
      for (std::int64_t i = 0; i < inner; ++i)
        slices[s].push_back(
            x.data<float>()[(o * shape[axis] + static_cast<std::int64_t>(s)) * inner + i]);
  return slices;
}

Model UniqueOf(const Names& extents, std::int64_t axis, bool sorted) {
  Model model;
  NamedInput(model, "x", extents);
  for (const char* name : {"y", "first", "inverse", "counts"}) model.Output(name);
  NodeProto& node = model.Node("Unique", {"x"}, {"y", "first", "inverse", "counts"}, "distinct");
  SetInt(node, "axis", axis);
  SetInt(node, "sorted", sorted ? 1 : 0);
  return model;
}

void ExpectDistinct(const std::vector<NDArray>& results, const NDArray& x, std::size_t axis,
                    bool sorted) {
  const Found found = Distinct(SlicesOf(x, axis), sorted);
  Shape shape = x.shape();
  shape[axis] = static_cast<std::int64_t>(found.first.size());
  ASSERT_EQ(results.at(0).shape(), shape);
  const std::vector<Slice> slices = SlicesOf(results[0], axis);
  for (std::size_t i = 0; i < slices.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(slices[i], found.slices[i], [](float a, float b) {
      return a == b || (std::isnan(a) && std::isnan(b));
    }));
  EXPECT_EQ(results.at(1).ToVector<std::int64_t>(), found.first);
  EXPECT_EQ(results.at(2).ToVector<std::int64_t>(), found.inverse);
  EXPECT_EQ(results.at(3).ToVector<std::int64_t>(), found.counts);
}

NDArray Few(const Shape& shape, int seed) {
  std::vector<float> values(static_cast<std::size_t>(NumElements(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * i * 7 + i / 3 + static_cast<std::size_t>(seed)) % 5 % 2);
  return NDArray::FromVector(shape, values);
}

TEST(UniqueTest, SlicesAlongAnAxisAreFoundByARun) {
  for (const auto& [extents, axis] : std::initializer_list<std::pair<Names, std::int64_t>>{
           {{"n", "3"}, 0}, {{"4", "m"}, -1}, {{"n", "m"}, 1}, {{"b", "n", "2"}, 1}}) {
    for (const bool sorted : {true, false}) {
      SCOPED_TRACE(StrCat(StrJoin(extents, ","), " ", axis, " ", sorted));
      const std::size_t at = axis < 0 ? extents.size() - 1 : static_cast<std::size_t>(axis);
      std::vector<runtime::Inputs> runs;
      for (const std::int64_t extent : {5, 1, 70, 2}) {
        Shape shape;
        for (const std::string& name : extents)
          shape.push_back(std::isdigit(name[0]) != 0 ? std::stoll(name)
                          : name == "b"              ? 3
                          : runs.size() == 1         ? 1
                                                     : extent - (name == "m" ? 1 : 0));
        runs.push_back({{"x", Few(shape, static_cast<int>(extent))}});
      }
      const Model model = UniqueOf(extents, axis, sorted);
      const auto all = ExpectRightForAll(model, runs, true);
      for (std::size_t i = 0; i < all.size(); ++i)
        ExpectDistinct(all[i], runs[i].at("x"), at, sorted);
    }
  }
}

TEST(UniqueTest, SlicesOfNumbersAreFoundByARun) {
  for (const bool sorted : {true, false}) {
    const NDArray x = Few({9, 2, 2}, 1);
    ExpectDistinct(Computed(UniqueOf({"9", "2", "2"}, 0, sorted), {{"x", x}}), x, 0, sorted);
  }
}

TEST(UniqueTest, OfNoSlicesNoneAreDistinct) {
  const auto all = ExpectRightForAll(UniqueOf({"#n", "3"}, 0, true),
                                     {{{"x", Few({0, 3}, 1)}}, {{"x", Few({4, 3}, 1)}}}, true);
  EXPECT_EQ(all.at(0).at(0).shape(), (Shape{0, 3}));
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(all[0].at(i).shape(), Shape{0});
}

// numpy.unique gives one of them.
TEST(UniqueTest, SlicesWithoutElementsAreEqual) {
  const Model model = UniqueOf({"n", "#m"}, 0, true);
  const auto all =
      ExpectRightForAll(model, {{{"x", Few({3, 0}, 1)}}, {{"x", Few({3, 2}, 1)}}}, true);
  EXPECT_EQ(all.at(0).at(0).shape(), (Shape{1, 0}));
  EXPECT_THAT(all[0].at(3).ToVector<std::int64_t>(), ElementsAre(3));
}

TEST(UniqueTest, ASliceWithNaNEqualsNoneAndComesLast) {
  const NDArray x =
      NDArray::FromVector<float>({6, 2}, {kNaN, 1, 0, kNaN, 0, 2, kNaN, 1, -0.0F, 2, 0, kNaN});
  for (const bool sorted : {true, false}) {
    const auto all = ExpectRightForAll(UniqueOf({"n", "2"}, 0, sorted), {{{"x", x}}}, true);
    ExpectDistinct(all.at(0), x, 0, sorted);
    EXPECT_EQ(all[0].at(3).shape(), Shape{5});
  }
}

TEST(UniqueTest, AWrongAxisOrOrderIsRefused) {
  EXPECT_THAT(MessageOf(ImportOnnx(UniqueOf({"n", "3"}, 2, true).Bytes(), AnyShapes()),
                        absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("distinct (Unique)"), HasSubstr("axis")));
  Model model = UniqueOf({"n", "3"}, 0, true);
  model.proto.mutable_graph()->mutable_node(0)->mutable_attribute(1)->set_i(2);
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kInvalidArgument),
              HasSubstr("sorted is 2; it may be 0 or 1"));
}

}  // namespace
}  // namespace tenon::onnx_import
