// Indices of MaxPool over one, two and three spatial axes, of extents that are variables and
// numbers, against a loop over the windows.
#include <limits>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

struct Windows {
  Names extents;
  Ints kernel, strides, dilations, before, after;
  bool columns_first = false, ceils = false;
};

// The place in the tensor of the first greatest element of a window that begins at `starts`.
std::int64_t PlaceOf(const Windows& w, const NDArray& x, std::int64_t plane, const Ints& starts) {
  const Shape& shape = x.shape();
  const std::size_t dims = w.kernel.size();
  std::int64_t taps = 1, size = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    taps *= w.kernel[d];
    size *= shape[d + 2];
  }
  float most = -std::numeric_limits<float>::infinity();
  std::int64_t found = -1;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    Ints at(dims);
    bool is_inside = true;
    std::int64_t rest = tap, row_major = 0, place = 0;
    for (std::size_t d = dims; d-- > 0; rest /= w.kernel[d]) {
      at[d] = starts[d] + rest % w.kernel[d] * w.dilations[d];
      is_inside = is_inside && at[d] >= 0 && at[d] < shape[d + 2];
    }
    if (!is_inside) continue;
    for (std::size_t d = 0; d < dims; ++d) row_major = row_major * shape[d + 2] + at[d];
    for (std::size_t i = 0; i < dims; ++i) {
      const std::size_t d = w.columns_first ? dims - 1 - i : i;
      place = place * shape[d + 2] + at[d];
    }
    const float value = x.data<float>()[plane * size + row_major];
    if (found >= 0 && !(value > most)) continue;
    most = value;
    found = plane * size + place;
  }
  return found;
}

Ints PlacesOf(const Windows& w, const NDArray& x, const Shape& result) {
  Ints places;
  const std::size_t dims = w.kernel.size();
  std::int64_t count = 1;
  for (std::size_t d = 0; d < dims; ++d) count *= result[d + 2];
  for (std::int64_t i = 0; i < NumElements(result); ++i) {
    Ints starts(dims);
    std::int64_t rest = i;
    for (std::size_t d = dims; d-- > 0; rest /= result[d + 2])
      starts[d] = rest % result[d + 2] * w.strides[d] - w.before[d];
    places.push_back(PlaceOf(w, x, i / count, starts));
  }
  return places;
}

// Few values, so that several are the greatest.
NDArray Few(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(NumElements(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * i * 31 + i / 7) % 11 % 6);
  values[0] = -std::numeric_limits<float>::infinity();
  return NDArray::FromVector(shape, values);
}

TEST(PoolPlacesTest, TheyAreThoseOfTheFirstGreatestOverAnyAxes) {
  const Windows cases[] = {
      {{"n", "3", "w"}, {2}, {2}, {1}, {0}, {0}},
      {{"n", "c", "w"}, {3}, {2}, {2}, {1}, {2}, false, true},
      {{"2", "1", "9"}, {4}, {3}, {1}, {2}, {1}, true},
      {{"n", "2", "d", "h", "w"}, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
      {{"n", "2", "d", "h", "w"}, {2, 3, 1}, {1, 2, 1}, {2, 1, 1}, {1, 1, 0}, {0, 2, 0}, true},
      {{"1", "2", "5", "6", "7"}, {3, 2, 2}, {2, 1, 3}, {1, 2, 1}, {1, 0, 1}, {1, 1, 0}, true},
      {{"n", "2", "h", "w"}, {2, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, true, true},
  };
  for (const Windows& w : cases) {
    SCOPED_TRACE(StrCat(StrJoin(w.extents, ","), " ", StrJoin(w.kernel, ",")));
    Model model(12);
    NamedInput(model, "x", w.extents).Output("y").Output("places");
    NodeProto& node = model.Node("MaxPool", {"x"}, {"y", "places"}, "pool");
    SetInts(node, "kernel_shape", w.kernel);
    SetInts(node, "strides", w.strides);
    SetInts(node, "dilations", w.dilations);
    Ints pads = w.before;
    pads.insert(pads.end(), w.after.begin(), w.after.end());
    SetInts(node, "pads", pads);
    SetInt(node, "storage_order", w.columns_first ? 1 : 0);
    SetInt(node, "ceil_mode", w.ceils ? 1 : 0);
    std::vector<runtime::Inputs> runs;
    for (const Shape& like : {Shape{2, 3, 5, 6, 7}, {1, 1, 4, 4, 4}, {1, 2, 8, 5, 11}}) {
      Shape shape;
      for (std::size_t d = 0; d < w.extents.size(); ++d)
        shape.push_back(std::isdigit(w.extents[d][0]) != 0 ? std::stoll(w.extents[d]) : like[d]);
      runs.push_back({{"x", Few(shape)}});
    }
    const bool is_open = w.extents[0] == "n";
    const auto all = is_open ? ExpectRightForAll(model, runs, true)
                             : std::vector<std::vector<NDArray>>{Computed(model, runs[0])};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const NDArray& places = all[i].at(1);
      EXPECT_EQ(places.ToVector<std::int64_t>(), PlacesOf(w, runs[i].at("x"), places.shape()));
    }
  }
}

}  // namespace
}  // namespace tenon::onnx_import
