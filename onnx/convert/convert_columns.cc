// Col2Im: an element of the image is the sum of the columns' elements that lie there. Blocks are
// added up along one axis after the other.
#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

constexpr std::int64_t kMaxOfColumns = std::int64_t{1} << 30;

// How blocks lie along one axis of the image.
struct BlockAxis {
  Dim image;
  std::int64_t block, stride, dilation, before, after;

  // How many blocks there are.
  Dim Count() const {
    const std::int64_t span = dilation * (block - 1) + 1;
    return FloorDiv(image + before + after - span, stride) + 1;
  }
};

// Adds up what lies at one element: of `x` (..., block, count, ...), with the two at `axis`, makes
// (..., image, ...). The places of an element's taps are looked up; those that do not exist are a
// zero after the last block.
Expr AddedAlong(const Node& node, const Expr& x, const BlockAxis& of, std::size_t axis) {
  const auto& known = ops::Known();
  const auto call = TypedCalls(node);
  std::vector<Dim> flat = DimsOf(x);
  std::vector<Ints> widths(flat.size(), Ints{0, 0});
  widths[axis + 1] = {0, 1};
  const Expr padded = node.Typed(ops::Pad(x, widths, 0, DataTypeOf(x)));
  const Expr count = node.Typed(ExtentValue(x, axis + 1));
  flat[axis] = flat[axis] * (flat[axis + 1] + 1);
  flat.erase(flat.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  const Expr columns = node.Typed(ReshapeTo(node.extents(), padded, flat));
  const Expr taps = PlacesAlong(2, 1, of.block);
  const Expr starts =
      call(known.subtract, call(known.add, PlacesAlong(node, 2, 0, of.image), Integer(of.before)),
           call(known.multiply, taps, Integer(of.dilation)));
  const Expr at = call(known.floor_divide, starts, Integer(of.stride));
  const Expr is_first = call(known.equal, call(known.multiply, at, Integer(of.stride)), starts);
  const Expr is_inside = call(known.logical_and, call(known.greater_equal, at, Integer(0)),
                              call(known.less, at, count));
  const Expr place =
      node.Typed(ops::Where(call(known.logical_and, is_first, is_inside), at, count));
  const Expr of_tap = call(known.multiply, taps, call(known.add, count, Integer(1)));
  const Expr taken = node.Typed(ops::Take(columns, call(known.add, of_tap, place),
                                          {.axis = static_cast<std::int64_t>(axis)}));
  return node.Typed(ops::Sum(taken, {.axis = Ints{static_cast<std::int64_t>(axis) + 1}}));
}

// The blocks of an image.
struct Blocks {
  std::vector<BlockAxis> axes = {};
  Dim taps = 1, count = 1;  // elements of a block, and blocks
};

// Throws InvalidArgument where numbers are out of bounds, or blocks do not fit.
void AddAxis(const BlockAxis& axis, Blocks* blocks) {
  const std::size_t d = blocks->axes.size();
  const Dim& image = axis.image;
  if (image.is_static() && (image.value() < 0 || image.value() > kMaxOfColumns))
    throw InvalidArgument(StrCat("extent ", d, " of the image is ", image.value(),
                                 "; it must be 0 to ", kMaxOfColumns));
  for (const std::int64_t size : {axis.block, axis.stride, axis.dilation})
    if (size < 1 || size > kMaxOfColumns)
      throw InvalidArgument(StrCat("extents of blocks, strides and dilations must be 1 to ",
                                   kMaxOfColumns, ", not ", size));
  for (const std::int64_t pad : {axis.before, axis.after})
    if (pad < -kMaxOfColumns || pad > kMaxOfColumns)
      throw InvalidArgument(StrCat("pads must be ", -kMaxOfColumns, " to ", kMaxOfColumns));
  if (image.is_static())
    RequireConstantSize(static_cast<double>(axis.block) * static_cast<double>(image.value()));
  const Dim count = axis.Count();
  // Columns of no blocks add up to zeros.
  if (count.is_static() && count.value() < 0)
    throw InvalidArgument(StrCat("blocks of ", axis.block, " do not fit axis ", d, " of ",
                                 image.ToString(), " elements"));
  RequireConstantSize(static_cast<double>(blocks->taps.value()) * static_cast<double>(axis.block));
  blocks->taps = blocks->taps * axis.block;
  blocks->count = blocks->count * count;
  blocks->axes.push_back(axis);
}

std::vector<Expr> Col2Im(Node& node) {
  const Expr& x = node.input(0);
  const std::vector<Dim> shape = DimsOf(x), image = ExtentsAt(node, 1);
  const Ints block = node.ConstantInts(2);
  const std::size_t dims = image.size();
  const Ints dilations = node.IntsOr("dilations", Ints(dims, 1)),
             strides = node.IntsOr("strides", Ints(dims, 1)),
             pads = node.IntsOr("pads", Ints(2 * dims, 0));
  if (shape.size() != 3 || dims == 0 || block.size() != dims || dilations.size() != dims ||
      strides.size() != dims || pads.size() != 2 * dims)
    throw InvalidArgument(
        StrCat("input 0 must have rank 3, and image_shape, block_shape, strides "
               "and dilations ",
               dims, " values, pads twice as many"));
  Blocks blocks;
  for (std::size_t d = 0; d < dims; ++d)
    AddAxis({image[d], block[d], strides[d], dilations[d], pads[d], pads[d + dims]}, &blocks);
  const bool is_wrong = (IsStatic({shape[2], blocks.count}) && !(shape[2] == blocks.count)) ||
                        (shape[1].is_static() && shape[1].value() % blocks.taps.value() != 0);
  if (is_wrong)
    throw InvalidArgument(StrCat("input 0 has the shape ", ir::ToText(shape), "; there are ",
                                 blocks.count.ToString(), " blocks of ", blocks.taps.ToString(),
                                 " elements for each channel"));
  // (batch, channels, taps along each axis, blocks along each axis). A run refuses other numbers.
  std::vector<Dim> apart = {shape[0], FloorDiv(shape[1], blocks.taps.value())};
  for (const BlockAxis& axis : blocks.axes) apart.push_back(axis.block);
  for (const BlockAxis& axis : blocks.axes) apart.push_back(axis.Count());
  Expr y = node.Typed(ReshapeTo(node.extents(), x, apart));
  for (std::size_t d = 0; d < dims; ++d) {
    // The blocks along this axis stand after the first axes of the image and all taps that are
    // left.
    const auto at = static_cast<std::int64_t>(d) + 2, left = static_cast<std::int64_t>(dims - d);
    Ints order;
    for (std::int64_t i = 0; i < RankOf(y); ++i) {
      if (i != at + left) order.push_back(i);
      if (i == at) order.push_back(at + left);
    }
    y = AddedAlong(node, node.Typed(ops::Transpose(y, order)), blocks.axes[d],
                   static_cast<std::size_t>(at));
  }
  return {y};
}

}  // namespace

void AddColumnConverters(ConverterTable* table) {
  (*table)["Col2Im"] = Converter(Col2Im).With({.known = {{2, "block_shape"}}});
}

}  // namespace tenon::onnx_import
