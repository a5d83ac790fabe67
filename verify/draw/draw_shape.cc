// Operators that reshape, cut, concatenate or create values.
#include <algorithm>
#include <numeric>

#include "tenon/onnx/tensor.h"
#include "tenon/verify/draw/onnx_drawers.h"

namespace tenon::verify {
namespace {

NodeDraft Reshape(Draft& d) {
  const Value x = d.Any(kAll, 0, 5);
  Ints target(x.shape.begin(), x.shape.end());
  std::shuffle(target.begin(), target.end(),
               std::minstd_rand(static_cast<unsigned>(d.random().Next())));
  if (target.size() > 1 && d.Chance(50)) {  // two axes become one
    target[1] *= target[0];
    target.erase(target.begin());
  }
  if (d.Chance(30))
    target.insert(target.begin() + d.random().Below(static_cast<std::int64_t>(target.size()) + 1),
                  1);
  if (!target.empty() && d.Chance(50))
    target[static_cast<std::size_t>(d.random().Below(static_cast<std::int64_t>(target.size())))] =
        -1;
  if (d.Chance(10) && !target.empty() && !x.shape.empty()) target[0] = 0;
  NodeDraft node({x.name, d.KnownInts(target)});
  if (d.opset() >= 14 && d.Chance(20)) node.Int("allowzero", d.random().Below(2));
  return node;
}

NodeDraft Transpose(Draft& d) {
  const Value x = d.Any(kAll, 0, 5);
  NodeDraft node({x.name});
  Ints perm(x.shape.size());
  std::iota(perm.begin(), perm.end(), 0);
  std::shuffle(perm.begin(), perm.end(),
               std::minstd_rand(static_cast<unsigned>(d.random().Next())));
  if (d.Chance(80)) node.IntList("perm", perm);
  return node;
}

// Gives the axes as an attribute, or as an input from opset `input_since` on.
void GiveAxes(Draft& d, int input_since, const Ints& axes, NodeDraft* node) {
  if (d.opset() >= input_since) {
    node->proto.add_input(d.KnownInts(axes));
  } else {
    node->IntList("axes", axes);
  }
}

NodeDraft Squeeze(Draft& d) {
  const Value x = d.Any(kAll, 1, 5);
  Ints axes;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if ((x.shape[static_cast<std::size_t>(i)] == 1 && d.Chance(70)) || d.Chance(2))
      axes.push_back(d.Chance(30) ? i - x.rank() : i);
  }
  NodeDraft node({x.name});
  if (d.Chance(80)) GiveAxes(d, 13, axes, &node);
  return node;
}

NodeDraft Unsqueeze(Draft& d) {
  const Value x = d.Any(kAll, 0, 3);
  Ints axes;
  const std::int64_t rank = x.rank() + 1 + d.random().Below(2);
  for (std::int64_t i = rank - x.rank(); i > 0; --i) {
    const std::int64_t axis = d.random().Below(rank);
    axes.push_back(d.Chance(30) ? axis - rank : axis);
  }
  NodeDraft node({x.name});
  GiveAxes(d, 13, axes, &node);
  return node;
}

NodeDraft Flatten(Draft& d) {
  const Value x = d.Any(kAll, 0, 4);
  NodeDraft node({x.name});
  if (d.Chance(80))
    node.Int("axis", d.random().Below(x.rank() + 1) - (d.Chance(30) ? x.rank() : 0));
  return node;
}

NodeDraft Concat(Draft& d) {
  const Value x = d.Any(kAll, 1, 4);
  const std::int64_t axis = d.Axis(x);
  Names inputs = {x.name};
  for (std::int64_t more = d.random().Below(4); more > 0; --more) {
    Shape shape = x.shape;
    shape[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)] = d.Extent();
    inputs.insert(d.Chance(50) ? inputs.begin() : inputs.end(), d.Tensor(x.type, shape).name);
  }
  return NodeDraft(inputs).Int("axis", axis);
}

NodeDraft Split(Draft& d) {
  const Value x = d.Any(kAll, 1, 4);
  const std::int64_t axis = d.Axis(x);
  const std::int64_t extent = x.shape[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)];
  const int outputs = static_cast<int>(1 + d.random().Below(4));
  NodeDraft node({x.name}, outputs);
  if (d.Chance(85)) node.Int("axis", axis);
  if (d.Chance(60)) {
    Ints lengths;
    std::int64_t left = extent;
    for (int i = 1; i < outputs; ++i) {
      lengths.push_back(d.random().Below(left + 1));
      left -= lengths.back();
    }
    lengths.push_back(left);
    if (d.opset() >= 13) {
      node.proto.add_input(d.KnownInts(lengths));
    } else {
      node.IntList("split", lengths);
    }
  } else if (d.opset() >= 18) {
    node.Int("num_outputs", outputs);
  }
  return node;
}

NodeDraft Slice(Draft& d) {
  const Value x = d.Any(kAll, 1, 4);
  Ints starts, ends, axes, steps;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (!d.Chance(60)) continue;
    const std::int64_t extent = x.shape[static_cast<std::size_t>(i)];
    axes.push_back(d.Chance(30) ? i - x.rank() : i);
    const bool backwards = d.opset() >= 10 && d.Chance(25);
    const auto place = [&] { return d.random().Below(2 * extent + 3) - extent - 1; };
    starts.push_back(place());
    ends.push_back(place());
    if (d.Chance(20)) ends.back() = backwards ? INT64_MIN : INT64_MAX;
    steps.push_back((backwards ? -1 : 1) * (1 + d.random().Below(3)));
    if (d.Chance(2)) steps.back() = d.Of(Ints{INT64_MAX, INT64_MIN, 0});
  }
  if (d.opset() < 10) {
    NodeDraft node({x.name});
    return node.IntList("starts", starts).IntList("ends", ends).IntList("axes", axes);
  }
  NodeDraft node({x.name, d.KnownInts(starts), d.KnownInts(ends)});
  if (axes.size() == x.shape.size() && d.Chance(30)) return node;
  node.proto.add_input(d.KnownInts(axes));
  if (d.Chance(80)) node.proto.add_input(d.KnownInts(steps));
  return node;
}

NodeDraft Expand(Draft& d) {
  const Shape target = d.AnyShape(0, 4);
  const Value x = d.Tensor(d.Of(kAll), d.Broadcasting(target));
  Ints given(target.begin(), target.end());
  for (std::int64_t& extent : given) {
    if (d.Chance(10)) extent = 1;
  }
  // Of more bytes than there are numbers.
  if (d.Chance(2))
    given.insert(given.begin(), (std::int64_t{1} << (44 + d.random().Below(19))) + 1);
  return NodeDraft({x.name, d.KnownInts(given)});
}

NodeDraft Tile(Draft& d) {
  const Value x = d.Any(kAll, 0, 3);
  Ints repeats;
  for (std::size_t i = 0; i < x.shape.size(); ++i) repeats.push_back(d.random().Below(4));
  return NodeDraft({x.name, d.KnownInts(repeats)});
}

NodeDraft Pad(Draft& d) {
  const Value x = d.Any(kNumbers, 1, 4);
  Names modes = {"constant", "constant", "reflect", "edge"};
  if (d.opset() >= 19) modes.emplace_back("wrap");
  const std::string mode = d.Of(modes);
  const auto axes = d.opset() >= 18 && d.Chance(40) ? d.Axes(x) : Ints();
  const bool has_axes = !axes.empty();
  Ints pads;
  for (std::size_t i = 0; i < 2 * (has_axes ? axes.size() : x.shape.size()); ++i)
    pads.push_back(d.Chance(15) ? -d.random().Below(3) : d.random().Below(4));
  NodeDraft node({x.name});
  if (d.opset() < 11) {
    node.IntList("pads", pads).String("mode", mode);
    if (d.Chance(40)) node.Float("value", 1.5);
    return node;
  }
  node.proto.add_input(d.KnownInts(pads));
  if (d.Chance(85)) node.String("mode", mode);
  const bool has_value = d.Chance(50);
  if (has_value || has_axes)
    node.proto.add_input(has_value ? d.Known(RandomArray({}, x.type, d.random())) : std::string());
  if (has_axes) node.proto.add_input(d.KnownInts(axes));
  return node;
}

NodeDraft ShapeOf(Draft& d) {
  const Value x = d.Any(kAll, 0, 5);
  NodeDraft node({x.name});
  if (d.opset() < 15) return node;
  for (const char* name : {"start", "end"}) {
    if (d.Chance(30)) node.Int(name, d.random().Below(13) - 6);
  }
  return node;
}

NodeDraft Constant(Draft& d) {
  NodeDraft node({});
  switch (d.random().Below(4)) {
    case 0:
      return node.Int("value_int", d.random().Below(5));
    case 1:
      return node.Float("value_float", 0.5);
    case 2:
      return node.IntList("value_ints", {1, 2, 3});
    default:
      return node.Tensor("value", RandomArray(d.AnyShape(0, 3), d.Of(kAll), d.random()));
  }
}

NodeDraft ConstantOfShape(Draft& d) {
  const Shape shape = d.AnyShape(0, 4);
  NodeDraft node({d.KnownInts(Ints(shape.begin(), shape.end()))});
  if (d.Chance(70)) node.Tensor("value", RandomArray({1}, d.Of(kAll), d.random()));
  return node;
}

NodeDraft EyeLike(Draft& d) {
  NodeDraft node({d.Any(kNumbers, 2, 2).name});
  if (d.Chance(50)) node.Int("k", d.random().Below(9) - 4);
  if (d.Chance(50)) node.Int("dtype", onnx_import::ToOnnxType(d.Of(kAll)));
  return node;
}

NodeDraft Range(Draft& d) {
  const DataType type = d.Of(Types{Float32, Float64, Int32, Int64, Int16});
  Names inputs;
  for (int i = 0; i < 3; ++i) inputs.push_back(d.Known(RandomArray({}, type, d.random())));
  return NodeDraft(inputs);
}

Drawer Blocks(bool has_mode) {
  return [has_mode](Draft& d) {
    const std::int64_t block = 1 + d.random().Below(3);
    Shape shape = d.AnyShape(4, 4);
    if (has_mode) {
      shape[1] = block * block * (1 + d.random().Below(3));
    } else {
      shape[2] = block * (1 + d.random().Below(4));
      shape[3] = block * (1 + d.random().Below(4));
    }
    NodeDraft node({d.Tensor(d.Of(kNumbers), shape).name});
    node.Int("blocksize", block);
    if (has_mode && d.opset() >= 11 && d.Chance(60)) node.String("mode", d.Of(Names{"DCR", "CRD"}));
    return node;
  };
}

NodeDraft Trilu(Draft& d) {
  NodeDraft node({d.Any(kAll, 2, 4).name});
  if (d.Chance(50)) node.proto.add_input(d.KnownInt(d.random().Below(9) - 4));
  if (d.Chance(60)) node.Int("upper", d.random().Below(2));
  return node;
}

}  // namespace

void AddShapeDrawers(DrawerTable* table) {
  DrawerTable& t = *table;
  t["Concat"] = Concat;
  t["Constant"] = Constant;
  t["ConstantOfShape"] = ConstantOfShape;
  t["DepthToSpace"] = Blocks(true);
  t["Expand"] = Expand;
  t["EyeLike"] = EyeLike;
  t["Flatten"] = Flatten;
  t["Pad"] = Pad;
  t["Range"] = Range;
  t["Reshape"] = Reshape;
  t["Shape"] = ShapeOf;
  t["Size"] = [](Draft& d) { return NodeDraft({d.Any(kAll, 0, 5).name}); };
  t["Slice"] = Slice;
  t["SpaceToDepth"] = Blocks(false);
  t["Split"] = Split;
  t["Squeeze"] = Squeeze;
  t["Tile"] = Tile;
  t["Transpose"] = Transpose;
  t["Trilu"] = Trilu;
  t["Unsqueeze"] = Unsqueeze;
}

}  // namespace tenon::verify
