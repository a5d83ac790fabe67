// The taps of all windows are gathered, axis by axis; the first maximum of each window is found;
// then its position is computed. All of it is arithmetic over the extents, which are numbers or
// not.
#include "tenon/onnx/convert/pool_places.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// The maximum number of entries of a table that finds the indices of a pooling.
constexpr std::int64_t kMaxPlaces = std::int64_t{1} << 20;

// Refuses a table of `outer` x `inner` entries, neither negative, beyond that. One over a variable
// is made when the model runs.
void RequireTable(const char* what, const Dim& outer, std::int64_t inner) {
  if (inner > 0 && outer.is_static() && outer.value() > kMaxPlaces / inner)
    throw InvalidArgument(StrCat("the indices of ", outer.value(), " x ", inner, " ", what,
                                 " are asked for; at most ", kMaxPlaces, " are supported"));
}

// The places that the windows over the two spatial axes of an image take.
class Places2D {
 public:
  Places2D(const Node& node, const Pooling& p, std::vector<Dim> result)
      : node_(node), p_(p), w_(p.window), result_(std::move(result)) {}

  // The position in its image of each window's maximum. The taps of all windows are gathered, axis
  // by axis; the first maximum of each window is found; then its position is computed.
  Expr OfMaxima(const Expr& maximum, bool columns_first) const {
    for (std::size_t d = 0; d < 2; ++d) {
      RequireTable("planes or windows", result_[d], 1);
      RequireTable("taps along an axis", result_[d + 2], w_.kernel[d]);
    }
    RequireTable("taps of a window", w_.kernel[0], w_.kernel[1]);
    const Expr& x = p_.data;
    const double least = LeastOf(DataTypeOf(x));
    const Expr padded =
        Typed(ops::Pad(x, {{0, 0}, {0, 0}, {w_.before[0], PastEnd(0)}, {w_.before[1], PastEnd(1)}},
                       least, DataTypeOf(x)));
    const Expr rows = Typed(ops::Take(padded, Taps(0), {.axis = 2}));
    // (images, channels, rows of windows, taps down, columns of windows, taps across)
    const Expr all = Typed(ops::Take(rows, Taps(1), {.axis = 4}));
    std::vector<Dim> windows = result_;
    windows.push_back(w_.kernel[0] * w_.kernel[1]);
    const Expr by_window = Typed(
        ReshapeTo(node_.extents(), Typed(ops::Transpose(all, Ints{0, 1, 2, 4, 3, 5})), windows));
    Expr tap = Typed(ops::Cast(Typed(ops::ArgMax(by_window, {.axis = Ints{4}})), Int64));
    if (!(DimsOf(padded) == DimsOf(x)) || w_.in_data[0] || w_.in_data[1]) {
      // Of elements that equal the padding the first one counts, and not the padding before it.
      const Expr lowest =
          ir::Call::Make(ops::Known().equal, {maximum, ops::Scalar(least, DataTypeOf(x))});
      const Expr first = ops::Add(ops::Multiply(FirstTap(0), Integer(w_.kernel[1])), FirstTap(1));
      tap = Typed(ops::Where(lowest, first, tap));
    }
    const Expr down = Typed(ops::Multiply(Floor(ops::Known().floor_divide, tap, w_.kernel[1]),
                                          Integer(w_.dilations[0])));
    const Expr across = Typed(
        ops::Multiply(Floor(ops::Known().floor_mod, tap, w_.kernel[1]), Integer(w_.dilations[1])));
    const Expr row = Typed(ops::Add(Starts(0), down)), column = Typed(ops::Add(Starts(1), across));
    const Expr height = Extent(2), width = Extent(3);
    const Expr plane =
        ops::Add(ops::Multiply(Along(0, result_[0]), Extent(1)), Along(1, result_[1]));
    const auto flat = [&](const Expr& outer, const Expr& inner, const Expr& extent) {
      return ops::Add(ops::Multiply(outer, extent), inner);
    };
    return Typed(columns_first ? flat(flat(plane, column, width), row, height)
                               : flat(flat(plane, row, height), column, width));
  }

 private:
  Expr Typed(const Expr& e) const { return node_.Typed(e); }
  Expr Floor(const Expr& op, const Expr& a, std::int64_t b) const {
    return Typed(ir::Call::Make(op, {a, Integer(b)}));
  }
  // Of the image that the node is given.
  Expr Extent(std::size_t axis) const { return Typed(ExtentValue(node_.input(0), axis)); }
  // 0, 1, ... along an axis of the result.
  Expr Along(std::size_t axis, const Dim& count) const {
    return PlacesAlong(node_, 4, axis, count);
  }
  // The elements that the last window reaches past the end of the data; of a variable extent, the
  // most.
  std::int64_t PastEnd(std::size_t d) const {
    const std::int64_t span = ops::WindowSpan(w_.kernel[d], w_.dilations[d]);
    const Dim &windows = result_[d + 2], extent = DimsOf(p_.data)[d + 2];
    if (windows.is_static() && extent.is_static())
      return std::max<std::int64_t>(
          0, (windows.value() - 1) * w_.strides[d] + span - extent.value() - w_.before[d]);
    // A window that ceil_mode adds begins at an element or before.
    return p_.ceil ? std::max(w_.after[d], span - 1) : w_.after[d];
  }
  // The padding before the elements, which the data may have.
  Expr Before(std::size_t d) const { return w_.in_data[d] ? w_.in_data[d] : Integer(w_.before[d]); }
  // The first place of each window in the image. A stride means nothing beside one window, and may
  // be any number.
  Expr Starts(std::size_t d) const {
    const std::int64_t stride = result_[d + 2] == Dim(1) ? 0 : w_.strides[d];
    return Typed(
        ops::Subtract(ops::Multiply(Along(d + 2, result_[d + 2]), Integer(stride)), Before(d)));
  }
  // The places of each window's taps along a spatial axis of the padded data: (windows, taps).
  Expr Taps(std::size_t d) const {
    const std::int64_t stride = result_[d + 2] == Dim(1) ? 0 : w_.strides[d];
    return Typed(
        ops::Add(ops::Multiply(PlacesAlong(node_, 2, 0, result_[d + 2]), Integer(stride)),
                 ops::Multiply(PlacesAlong(2, 1, w_.kernel[d]), Integer(w_.dilations[d]))));
  }
  // The first tap of each window along a spatial axis that lies in the image; 0 where none does.
  Expr FirstTap(std::size_t d) const {
    const auto& known = ops::Known();
    const std::int64_t dilation = w_.dilations[d];
    const Expr start = Starts(d), zero = Integer(0);
    // -start / dilation, rounded up.
    const Expr tap =
        Typed(ops::Maximum(ops::Subtract(zero, Floor(known.floor_divide, start, dilation)), zero));
    const Expr place = Typed(ops::Add(start, ops::Multiply(tap, Integer(dilation))));
    const Expr is_inside = Typed(ir::Call::Make(
        known.logical_and, {Typed(ir::Call::Make(known.less, {tap, Integer(w_.kernel[d])})),
                            Typed(ir::Call::Make(known.less, {place, Extent(d + 2)}))}));
    return Typed(ops::Where(is_inside, tap, zero));
  }

  const Node& node_;
  const Pooling& p_;
  const Window& w_;
  const std::vector<Dim> result_;
};

}  // namespace

double LeastOf(DataType type) {
  return type.is_float()  ? -std::numeric_limits<double>::infinity()
         : type.is_uint() ? 0
                          : -std::ldexp(1.0, type.bits() - 1);
}

Expr PlacesOfMaxima(const Node& node, const Pooling& p, const Expr& maximum, bool columns_first) {
  if (p.window.kernel.size() != 2)
    throw Unimplemented("indices are supported only over two spatial axes");
  return Places2D(node, p, DimsOf(maximum)).OfMaxima(maximum, columns_first);
}

}  // namespace tenon::onnx_import
