// Maximum pooling with the places of what it takes.
#include <limits>

#include "tenon/tests/onnx/written_model.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::Random;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Pooling {
  const char* name;
  Shape shape;
  Ints kernel, strides, dilations, pads;
  bool columns_first = false;
};

Model Written(const Pooling& c) {
  Model model(12);
  model.Input("x", c.shape).Output("y").Output("places");
  NodeProto& node = model.Node("MaxPool", {"x"}, {"y", "places"}, "pool");
  SetInts(node, "kernel_shape", c.kernel);
  SetInts(node, "strides", c.strides);
  SetInts(node, "dilations", c.dilations);
  SetInts(node, "pads", c.pads);
  SetInt(node, "storage_order", c.columns_first ? 1 : 0);
  return model;
}

// Where the first greatest element in the image of the window from (top, left) lies.
std::int64_t Place(const Pooling& c, const NDArray& x, std::int64_t plane, std::int64_t top,
                   std::int64_t left) {
  const std::int64_t height = c.shape[2], width = c.shape[3];
  float most = -std::numeric_limits<float>::infinity();
  std::int64_t place = -1;
  for (std::int64_t i = 0; i < c.kernel[0]; ++i) {
    for (std::int64_t j = 0; j < c.kernel[1]; ++j) {
      const std::int64_t row = top + i * c.dilations[0], column = left + j * c.dilations[1];
      if (row < 0 || row >= height || column < 0 || column >= width) continue;
      const float value = x.data<float>()[(plane * height + row) * width + column];
      if (place >= 0 && !(value > most)) continue;
      most = value;
      place =
          plane * height * width + (c.columns_first ? column * height + row : row * width + column);
    }
  }
  return place;
}

void ExpectPlaces(const Pooling& c, const NDArray& x) {
  const std::vector<NDArray> results = Computed(Written(c), {{"x", x}});
  ASSERT_EQ(results.size(), 2);
  const Shape shape = results[1].shape();
  ASSERT_EQ(shape, results[0].shape());
  const std::vector<std::int64_t> places = results[1].ToVector<std::int64_t>();
  std::size_t at = 0;
  for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane) {
    for (std::int64_t y = 0; y < shape[2]; ++y) {
      for (std::int64_t column = 0; column < shape[3]; ++column, ++at)
        ASSERT_EQ(places[at], Place(c, x, plane, y * c.strides[0] - c.pads[0],
                                    column * c.strides[1] - c.pads[1]))
            << "window " << at;
    }
  }
}

TEST(OnnxPoolTest, ThePlacesAreThoseOfTheFirstGreatestElements) {
  const std::vector<Pooling> cases = {
      {"plain", {1, 1, 4, 6}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
      {"overlapping and padded", {2, 3, 7, 5}, {3, 3}, {2, 1}, {1, 1}, {1, 1, 1, 1}},
      {"dilated and padded at one side", {1, 2, 9, 11}, {2, 3}, {1, 2}, {3, 2}, {2, 0, 1, 3}},
      {"columns first", {2, 2, 5, 7}, {3, 2}, {1, 3}, {1, 1}, {1, 0, 0, 1}, true},
      {"one row", {1, 1, 1, 33}, {1, 5}, {1, 1}, {1, 1}, {0, 2, 0, 2}},
  };
  for (const Pooling& c : cases) {
    SCOPED_TRACE(c.name);
    const NDArray x = Random(c.shape, 3);
    ExpectPlaces(c, x);
  }
}

// Elements that are as low as padding is taken to be: minus infinity.
TEST(OnnxPoolTest, ThePlaceIsNeverThatOfPadding) {
  const std::vector<Pooling> cases = {
      {"padded", {1, 2, 5, 4}, {3, 3}, {2, 1}, {1, 1}, {1, 1, 1, 1}},
      {"dilated", {1, 1, 8, 6}, {1, 2}, {1, 1}, {2, 3}, {0, 1, 0, 1}},
      {"dilated over two of padding", {1, 1, 6, 7}, {2, 3}, {1, 1}, {3, 2}, {2, 1, 1, 3}},
      {"columns first", {1, 2, 5, 7}, {3, 2}, {1, 3}, {1, 1}, {1, 1, 0, 1}, true},
  };
  for (const Pooling& c : cases) {
    SCOPED_TRACE(c.name);
    NDArray x = Random(c.shape, 3);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      if (i % 5 != 4) x.data<float>()[i] = -std::numeric_limits<float>::infinity();
    }
    ExpectPlaces(c, x);
  }
}

// The fuzzer of the front end asked for two gigabytes of places with a padding of 2^24 columns.
// Where there is one window, its stride means nothing.
TEST(OnnxPoolTest, AStrideBesideOneWindowMayBeAnyNumber) {
  const Model model = Written({.name = "far",
                               .shape = {1, 1, 3, 5},
                               .kernel = {3, 5},
                               .strides = {std::int64_t{1} << 62, std::int64_t{1} << 62},
                               .dilations = {1, 1},
                               .pads = {0, 0, 0, 0}});
  EXPECT_TRUE(Imported(model).ok()) << Imported(model).status();
}

TEST(OnnxPoolTest, RefusesPlacesOfTooManyTaps) {
  const Pooling wide{"", {1, 1, 5, 5}, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 18874367}};
  EXPECT_THAT(MessageOf(Imported(Written(wide)), kInvalid),
              AllOf(HasSubstr("pool"), HasSubstr("18874370 x 5 taps along an axis are asked for; "
                                                 "at most 1048576 are supported")));
  const Pooling many{"", {std::int64_t{1} << 40, 1, 5, 5}, {5, 5}, {1, 1}, {1, 1}, {0, 0, 0, 0}};
  EXPECT_THAT(MessageOf(Imported(Written(many)), kInvalid),
              HasSubstr("1099511627776 x 1 planes or windows"));
}

}  // namespace
}  // namespace tenon::onnx_import
