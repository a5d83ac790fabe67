// Operators whose results have the elements of arguments at other places.
#include <algorithm>
#include <cctype>
#include <map>

#include "tenon/ops/boxes/region_attrs.h"
#include "tenon/ops/layout/layout_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/verify/define/defined_places.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

Definitions Transpose(const DefinedCall& call) {
  const auto& axes = call.call.attrs.As<ops::TransposeAttrs>().axes;
  const Shape& x = call.shape(0);
  std::vector<std::size_t> of;  // for each axis of the result that of the data
  for (std::size_t d = 0; d < x.size(); ++d)
    of.push_back(axes ? AxisOf((*axes)[d], x.size()) : x.size() - 1 - d);
  Shape to;
  for (const std::size_t axis : of) to.push_back(x[axis]);
  return {MovedTo(to, call.args[0], [&](const Shape& at) {
    Shape from(at.size());
    for (std::size_t d = 0; d < at.size(); ++d) from[of[d]] = at[d];
    return from;
  })};
}

Definitions Reverse(const DefinedCall& call) {
  const Shape& x = call.shape(0);
  const std::size_t axis = AxisOf(call.call.attrs.As<ops::ReverseAttrs>().axis, x.size());
  return {MovedTo(x, call.args[0], [&](Shape at) {
    at[axis] = x[axis] - 1 - at[axis];
    return at;
  })};
}

Definitions Concatenate(const DefinedCall& call) {
  Shape to = call.shape(0);
  const std::size_t axis = AxisOf(call.call.attrs.As<ops::ConcatenateAttrs>().axis, to.size());
  for (std::size_t f = 1; f < call.args.size(); ++f) to[axis] += call.shape(f)[axis];
  Definition made{.shape = to};
  for (Shape at : AllPlaces(to)) {
    std::size_t field = 0;
    for (; at[axis] >= call.shape(field)[axis]; ++field) at[axis] -= call.shape(field)[axis];
    made.Add(ElementOf(call.args[field], at), 0);
  }
  return {made};
}

Definitions Stack(const DefinedCall& call) {
  Shape to = call.shape(0);
  const std::size_t axis = AxisOf(call.call.attrs.As<ops::StackAttrs>().axis, to.size() + 1);
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis),
            static_cast<std::int64_t>(call.args.size()));
  Definition made{.shape = to};
  for (Shape at : AllPlaces(to)) {
    const NDArray& field = call.args[At(at[axis])];
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
    made.Add(ElementOf(field, at), 0);
  }
  return {made};
}

Definitions Split(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::SplitAttrs>();
  const Shape& x = call.shape(0);
  const std::size_t axis = AxisOf(attrs.axis, x.size());
  ops::Ints cuts;
  if (const auto* sections = std::get_if<std::int64_t>(&attrs.indices_or_sections)) {
    for (std::int64_t i = 1; i < *sections; ++i) cuts.push_back(x[axis] / *sections * i);
  } else {
    cuts = std::get<ops::Ints>(attrs.indices_or_sections);
  }
  cuts.push_back(x[axis]);
  Definitions made;
  std::int64_t begin = 0;
  for (const std::int64_t cut : cuts) {
    Shape part = x;
    part[axis] = cut - begin;
    made.push_back(MovedTo(part, call.args[0], [&](Shape at) {
      at[axis] += begin;
      return at;
    }));
    begin = cut;
  }
  return made;
}

Definitions StridedSlice(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::StridedSliceAttrs>();
  const Shape& x = call.shape(0);
  std::vector<std::vector<std::int64_t>> places;
  for (const std::int64_t extent : x) places.push_back(SlicePlaces(0, extent, 1, extent));
  for (std::size_t i = 0; i < attrs.begin.size(); ++i) {
    const std::size_t axis = attrs.axes ? AxisOf((*attrs.axes)[i], x.size()) : i;
    const Whole extent = x[axis], begin = attrs.begin[i], end = attrs.end[i];
    if (attrs.slice_mode == "size") {
      // `end` is a length; -1 to the end.
      const Whole first = std::clamp<Whole>(begin < 0 ? begin + extent : begin, 0, extent);
      const Whole last = end == -1 ? extent : first + std::max<Whole>(end, 0);
      places[axis] = SlicePlaces(first, last, 1, x[axis]);
    } else {
      const std::size_t one = attrs.strides.size() == 1 ? 0 : i;
      places[axis] =
          SlicePlaces(begin, end, one < attrs.strides.size() ? attrs.strides[one] : 1, x[axis]);
    }
  }
  Shape to;
  for (const auto& of_axis : places) to.push_back(static_cast<std::int64_t>(of_axis.size()));
  return {MovedTo(to, call.args[0], [&](Shape at) {
    for (std::size_t d = 0; d < at.size(); ++d) at[d] = places[d][At(at[d])];
    return at;
  })};
}

Definitions SliceLike(const DefinedCall& call) {
  const auto& axes = call.call.attrs.As<ops::SliceLikeAttrs>().axes;
  const Shape& like = call.shape(1);
  Shape to = call.shape(0);
  for (std::size_t d = 0; d < std::min(to.size(), like.size()); ++d) {
    const bool is_named =
        !axes || axes->empty() ||
        std::ranges::any_of(*axes, [&](std::int64_t axis) { return AxisOf(axis, to.size()) == d; });
    if (is_named) to[d] = like[d];
  }
  return {MovedTo(to, call.args[0], [](const Shape& at) { return at; })};
}

Definitions Repeat(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::RepeatAttrs>();
  Shape to = call.shape(0);
  const std::size_t axis = AxisOf(attrs.axis.value_or(0), to.size());
  to[axis] *= attrs.repeats;
  return {MovedTo(to, call.args[0], [&](Shape at) {
    at[axis] /= attrs.repeats;
    return at;
  })};
}

Definitions Tile(const DefinedCall& call) {
  ops::Ints reps = call.call.attrs.As<ops::TileAttrs>().reps;
  const Shape& x = call.shape(0);
  Shape wide = x;
  if (wide.size() < reps.size()) wide.insert(wide.begin(), reps.size() - wide.size(), 1);
  if (reps.size() < wide.size()) reps.insert(reps.begin(), wide.size() - reps.size(), 1);
  Shape to = wide;
  for (std::size_t d = 0; d < to.size(); ++d) to[d] *= reps[d];
  return {MovedTo(to, call.args[0], [&](Shape at) {
    for (std::size_t d = 0; d < at.size(); ++d) at[d] %= wide[d];
    return Part(at, at.size() - x.size(), at.size());
  })};
}

Definitions Meshgrid(const DefinedCall& call) {
  Shape to;
  for (const NDArray& field : call.args) to.push_back(field.size());
  const bool is_swapped =
      call.call.attrs.As<ops::MeshgridAttrs>().indexing == "xy" && to.size() >= 2;
  if (is_swapped) std::swap(to[0], to[1]);
  Definitions made;
  for (std::size_t f = 0; f < call.args.size(); ++f) {
    const std::size_t axis = is_swapped && f < 2 ? 1 - f : f;
    Definition grid{.shape = to};
    for (const Shape& at : AllPlaces(to)) grid.Add(ElementAt(call.args[f], at[axis]), 0);
    made.push_back(grid);
  }
  return made;
}

Definition BroadcastTo(const NDArray& x, const Shape& to) {
  return MovedTo(to, x, [&](const Shape& at) { return BroadcastPlace(x.shape(), at); });
}

// The letters of a layout with the block size of each, 0 for a whole axis or the count of blocks.
std::vector<std::pair<char, std::int64_t>> LettersOf(const std::string& layout) {
  std::vector<std::pair<char, std::int64_t>> letters;
  std::int64_t block = 0;
  for (const char c : layout) {
    if (std::isdigit(c) != 0) {
      block = block * 10 + (c - '0');
    } else {
      letters.emplace_back(c, block);
      block = 0;
    }
  }
  return letters;
}

// In each layout an index of a whole axis is the number of its block times the block's size, and
// the place in the block.
Definitions LayoutTransform(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::LayoutTransformAttrs>();
  const auto from = LettersOf(attrs.src_layout), to = LettersOf(attrs.dst_layout);
  const auto block_of = [](const auto& layout, char letter) {
    for (const auto& [c, block] : layout) {
      if (c == std::tolower(letter) && block > 0) return block;
    }
    return std::int64_t{1};
  };
  const Shape& x = call.shape(0);
  std::map<char, std::int64_t> extents;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (from[d].second == 0) extents[from[d].first] = x[d] * block_of(from, from[d].first);
  }
  Shape shape;
  for (const auto& [c, block] : to) {
    const std::int64_t size = block_of(to, c);
    shape.push_back(block > 0 ? block : (extents[c] + size - 1) / size);
  }
  Definition made{.shape = shape};
  for (const Shape& at : AllPlaces(shape)) {
    std::map<char, std::int64_t> index;
    for (std::size_t d = 0; d < to.size(); ++d) {
      const char whole = static_cast<char>(std::toupper(to[d].first));
      index[whole] += to[d].second > 0 ? at[d] : at[d] * block_of(to, whole);
    }
    Shape place;
    bool is_inside = true;
    for (const auto& [c, block] : from) {
      const char whole = static_cast<char>(std::toupper(c));
      is_inside = is_inside && index[whole] < extents[whole];
      place.push_back(block > 0 ? index[whole] % block : index[whole] / block_of(from, whole));
    }
    made.Add(is_inside ? ElementOf(call.args[0], place) : Number{}, 0);
  }
  return {made};
}

Definitions SlidingWindow(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::SlidingWindowAttrs>();
  const Shape& x = call.shape(0);
  const std::size_t axis = AxisOf(attrs.axis, x.size()), count = x.size() - axis;
  Shape to = Part(x, 0, axis);
  for (std::size_t d = 0; d < count; ++d) {
    std::int64_t windows = 0;
    while (windows * attrs.strides[d] + attrs.window_shape[d] <= x[axis + d]) ++windows;
    to.push_back(windows);
  }
  Append(attrs.window_shape, &to);
  return {MovedTo(to, call.args[0], [&](const Shape& at) {
    Shape from = Part(at, 0, axis);
    for (std::size_t d = axis; d < x.size(); ++d)
      from.push_back(at[d] * attrs.strides[d - axis] + at[d + count]);
    return from;
  })};
}

}  // namespace

void AddMovedDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["broadcast_to"] = [](const DefinedCall& call) {
    return Definitions{BroadcastTo(call.args[0], *call.call.attrs.As<ops::InitOpAttrs>().shape)};
  };
  t["broadcast_to_like"] = [](const DefinedCall& call) {
    return Definitions{BroadcastTo(call.args[0], call.shape(1))};
  };
  t["concatenate"] = Concatenate;
  t["layout_transform"] = LayoutTransform;
  t["meshgrid"] = Meshgrid;
  t["repeat"] = Repeat;
  t["reverse"] = Reverse;
  t["slice_like"] = SliceLike;
  t["sliding_window"] = SlidingWindow;
  t["split"] = Split;
  t["stack"] = Stack;
  t["strided_slice"] = StridedSlice;
  t["tile"] = Tile;
  t["transpose"] = Transpose;
}

}  // namespace tenon::verify
