// Calls of operators that move elements whose attributes must fit the data: codes of a reshape,
// bounds of slices, parts, layouts, and blocks of space.
#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "tenon/ops/ints.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Words = std::vector<std::string>;

std::int64_t Rank(const Shape& shape) { return static_cast<std::int64_t>(shape.size()); }

Operands Of(const Shape& shape, Random& random) {
  return Operands().Add(AnyElements(shape, AnyElementType(random), random));
}

Value PairsOf(const std::vector<Ints>& pairs) {
  attrs::List list;
  for (const Ints& pair : pairs) list.push_back(ListOf(pair));
  return Value(list);
}

// An axis after the other becomes a code or several.
Operands Reshape(Random& random) {
  Shape x;
  for (std::int64_t rank = random.Below(6); rank > 0; --rank)
    x.push_back(random.Of(Shape{1, 2, 3, 4, 6, 8, 12}));
  if (random.Chance(5) && !x.empty()) x[0] = 0;
  Ints codes;
  bool is_inferred = false;
  for (std::size_t d = 0; d < x.size(); ++d) {
    const std::int64_t part = x[d] % 2 == 0 && x[d] > 0 ? 2 : 1;
    switch (random.Below(8)) {
      case 0:
        codes.push_back(0);
        break;
      case 1:
        codes.push_back(is_inferred ? x[d] : -1);
        is_inferred = true;
        break;
      case 2:
        codes.push_back(-2);
        d = x.size();
        break;
      case 3:
        codes.push_back(d + 1 < x.size() ? -3 : 0);
        ++d;
        break;
      case 4: {
        const bool is_first = random.Chance(50);
        codes.insert(codes.end(), {-4, is_first ? -1 : part, is_first ? part : -1});
        break;
      }
      case 5:
        codes.insert(codes.end(), {-4, x[d] / part, part});
        break;
      default:
        codes.push_back(x[d]);
    }
  }
  if (random.Chance(15) && !is_inferred) codes = {-1};
  Operands operands = Of(x, random);
  operands.attributes["newshape"] = ListOf(codes);
  if (random.Chance(10)) operands.attributes["allowzero"] = Value(true);
  return operands;
}

Operands Concatenate(Random& random) {
  Shape x = AnyShape(random, 1);
  const std::int64_t axis = random.Below(Rank(x));
  const DataType type = AnyElementType(random);
  std::vector<NDArray> fields;
  for (std::int64_t n = 1 + random.Below(4); n > 0; --n) {
    x[At(axis)] = random.Of(Shape{1, 2, 3, 5, 16, 0});
    fields.push_back(AnyElements(x, type, random));
  }
  Operands operands;
  operands.AddTuple(std::move(fields));
  operands.attributes["axis"] = Value(random.Chance(50) ? axis : axis - Rank(x));
  return operands;
}

Operands Split(Random& random) {
  Shape x = AnyShape(random, 1);
  const std::int64_t axis = random.Below(Rank(x));
  const std::int64_t parts = 1 + random.Below(4);
  Operands operands;
  if (random.Chance(50)) {
    x[At(axis)] = parts * random.Below(6);
    operands.attributes["indices_or_sections"] = Value(parts);
  } else {
    Ints cuts;
    for (std::int64_t n = random.Below(4); n > 0; --n)
      cuts.push_back(random.Below(x[At(axis)] + 1));
    std::sort(cuts.begin(), cuts.end());
    operands.attributes["indices_or_sections"] = ListOf(cuts);
  }
  operands.Add(AnyElements(x, AnyElementType(random), random));
  operands.attributes["axis"] = Value(random.Chance(50) ? axis : axis - Rank(x));
  return operands;
}

// A place near an axis, from either end, or far from it.
std::int64_t AnyBound(std::int64_t extent, Random& random) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (random.Chance(10))
    return random.Of(Ints{kMax, -kMax - 1, kMax - 1, std::int64_t{1} << 31, -kMax});
  return random.Below(2 * extent + 5) - extent - 2;
}

Operands StridedSlice(Random& random) {
  const Shape x = AnyShape(random, 1);
  Ints axes;
  for (std::int64_t axis = 0; axis < Rank(x); ++axis) axes.push_back(axis);
  const bool has_axes = random.Chance(40);
  if (has_axes) {
    for (std::size_t i = axes.size(); i > 1; --i)
      std::swap(axes[i - 1], axes[At(random.Below(static_cast<std::int64_t>(i)))]);
  }
  axes.resize(At(random.Below(Rank(x) + 1)));
  const bool by_size = random.Chance(25);
  Ints begin, end, strides;
  for (const std::int64_t axis : axes) {
    const std::int64_t extent = x[At(axis)];
    begin.push_back(AnyBound(extent, random));
    end.push_back(by_size ? random.Below(extent + 4) - 1 : AnyBound(extent, random));
    strides.push_back(random.Chance(4) ? AnyBound(0, random)
                                       : random.Of(Ints{1, 1, 2, 3, -1, -2, 7, -5}));
  }
  strides.resize(At(random.Below(static_cast<std::int64_t>(strides.size()) + 1)));
  Operands operands = Of(x, random);
  if (has_axes) {
    for (std::int64_t& axis : axes) axis -= random.Chance(50) ? Rank(x) : 0;
    operands.attributes["axes"] = ListOf(axes);
  }
  operands.attributes["begin"] = ListOf(begin);
  operands.attributes["end"] = ListOf(end);
  operands.attributes["strides"] = ListOf(strides);
  if (by_size) operands.attributes["slice_mode"] = Value("size");
  return operands;
}

Operands LayoutTransform(Random& random) {
  const Words whole = {"NCHW", "NHWC", "HWCN", "CNWH", "OIHW", "NC", "C", "NDCWH"};
  const std::string axes = random.Of(whole);
  std::string order = axes;
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[At(random.Below(static_cast<std::int64_t>(i)))]);
  std::map<char, std::int64_t> blocks;
  const auto layout = [&](const std::string& letters, Shape* extents) {
    std::string text = letters, cut;
    for (const char letter : letters) {
      if (!random.Chance(30)) continue;
      const std::int64_t block = random.Of(Ints{1, 2, 3, 4, 8});
      StrAppend(&cut, block, std::string(1, static_cast<char>(std::tolower(letter))));
      if (extents != nullptr) extents->push_back(block);
    }
    return text + cut;
  };
  Shape x;
  for (std::size_t d = 0; d < axes.size(); ++d) x.push_back(random.Of(Shape{1, 2, 3, 4, 8, 5}));
  const std::string from = layout(axes, &x);
  Operands operands = Of(x, random);
  operands.attributes = {{"src_layout", Value(from)},
                         {"dst_layout", Value(layout(order, nullptr))}};
  return operands;
}

Operands Pad(Random& random) {
  const Shape x = AnyShape(random);
  const std::string mode = random.Of(Words{"constant", "edge", "reflect"});
  std::vector<Ints> widths;
  for (const std::int64_t extent : x) {
    const auto width = [&] {
      const std::int64_t most = mode == "reflect" ? std::max<std::int64_t>(extent - 1, 0) : 5;
      return random.Chance(15) ? -random.Below(extent / 2 + 1) : std::min(random.Below(6), most);
    };
    const std::int64_t before = width();
    widths.push_back({before, width()});
  }
  const DataType type = AnyElementType(random);
  Operands operands;
  operands.Add(AnyElements(x, type, random)).Add(AnyElements({}, type, random));
  operands.attributes = {{"pad_width", PairsOf(widths)}, {"pad_mode", Value(mode)}};
  return operands;
}

Operands MirrorPad(Random& random) {
  const Shape x = AnyShape(random);
  const std::string mode = random.Of(Words{"SYMMETRIC", "REFLECT"});
  std::vector<Ints> widths;
  for (const std::int64_t extent : x) {
    const std::int64_t most = std::max<std::int64_t>(extent - (mode == "REFLECT" ? 1 : 0), 0);
    const auto width = [&] { return std::min(random.Below(7) - 1, most); };
    const std::int64_t before = width();
    widths.push_back({before, width()});
  }
  Operands operands = Of(x, random);
  operands.attributes = {{"pad_width", PairsOf(widths)}, {"mode", Value(mode)}};
  return operands;
}

// Blocks of up to three axes, with what is padded or dropped along each.
struct Blocks {
  Ints block;
  std::vector<Ints> pairs;

  explicit Blocks(Random& random) {
    block = EachOf(random.Below(4), {1, 2, 3}, random);
    for (std::size_t b = 0; b < block.size(); ++b) pairs.push_back(EachOf(2, {0, 0, 1, 2}, random));
  }
};

Operands SpaceToBatch(Random& random) {
  const Blocks blocks(random);
  Shape x = {random.Of(Shape{1, 2, 3, 0})};
  for (std::size_t b = 0; b < blocks.block.size(); ++b) {
    std::int64_t extent = random.Below(8);
    while ((extent + blocks.pairs[b][0] + blocks.pairs[b][1]) % blocks.block[b] != 0) ++extent;
    x.push_back(extent);
  }
  for (std::int64_t n = random.Below(3); n > 0; --n) x.push_back(random.Of(Shape{1, 2, 8}));
  Operands operands = Of(x, random);
  operands.attributes = {{"block_shape", ListOf(blocks.block)},
                         {"paddings", PairsOf(blocks.pairs)}};
  if (random.Chance(40))
    operands.attributes["pad_value"] = Value(random.Of(std::vector<double>{1, -2.5, 300}));
  return operands;
}

Operands BatchToSpace(Random& random) {
  const Blocks blocks(random);
  std::int64_t size = 1;
  for (const std::int64_t extent : blocks.block) size *= extent;
  Shape x = {size * random.Of(Shape{1, 2, 3, 0})};
  for (std::size_t b = 0; b < blocks.block.size(); ++b) {
    std::int64_t extent = random.Below(5);
    while (extent * blocks.block[b] < blocks.pairs[b][0] + blocks.pairs[b][1]) ++extent;
    x.push_back(extent);
  }
  for (std::int64_t n = random.Below(3); n > 0; --n) x.push_back(random.Of(Shape{1, 2, 8}));
  Operands operands = Of(x, random);
  operands.attributes = {{"block_shape", ListOf(blocks.block)}, {"crops", PairsOf(blocks.pairs)}};
  return operands;
}

Operands SubPixel(Random& random, bool is_deep) {
  const std::int64_t block = random.Of(Ints{1, 2, 2, 3, 4});
  const std::string layout = random.Of(Words{"NCHW", "NHWC", "CHWN"});
  std::map<char, std::int64_t> extents = {{'N', random.Of(Ints{1, 2, 0})},
                                          {'C', random.Of(Ints{1, 2, 3, 5})},
                                          {'H', random.Of(Ints{1, 2, 3})},
                                          {'W', random.Of(Ints{1, 2, 5})}};
  if (is_deep) extents['C'] *= block * block;
  if (!is_deep) {
    extents['H'] *= block;
    extents['W'] *= block;
  }
  Operands operands = Of(ShapeInLayout(layout, extents), random);
  operands.attributes = {{"block_size", Value(block)}, {"layout", Value(layout)}};
  if (is_deep) operands.attributes["mode"] = Value(random.Of(Words{"DCR", "CRD"}));
  return operands;
}

Operands YoloReorg(Random& random) {
  const std::int64_t stride = random.Of(Ints{1, 2, 2, 3});
  Operands operands = Of({random.Of(Shape{1, 2, 0}), stride * stride * random.Of(Shape{1, 2, 3}),
                          stride * random.Of(Shape{1, 2, 3}), stride * random.Of(Shape{1, 2, 5})},
                         random);
  operands.attributes["stride"] = Value(stride);
  return operands;
}

}  // namespace

void AddMovedOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["concatenate"] = Concatenate;
  t["contrib_reverse_reshape"] = Reshape;
  t["layout_transform"] = LayoutTransform;
  t["nn.batch_to_space_nd"] = BatchToSpace;
  t["nn.depth_to_space"] = [](Random& random) { return SubPixel(random, true); };
  t["nn.mirror_pad"] = MirrorPad;
  t["nn.pad"] = Pad;
  t["nn.space_to_batch_nd"] = SpaceToBatch;
  t["nn.space_to_depth"] = [](Random& random) { return SubPixel(random, false); };
  t["reshape"] = Reshape;
  t["split"] = Split;
  t["strided_slice"] = StridedSlice;
  t["vision.yolo_reorg"] = YoloReorg;
}

}  // namespace tenon::verify
