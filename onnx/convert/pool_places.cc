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

// The places that the windows over the spatial axes of an image take.
class PoolPlaces {
 public:
  PoolPlaces(const Node& node, const Pooling& p, std::vector<Dim> result)
      : node_(node), p_(p), w_(p.window), dims_(w_.kernel.size()), result_(std::move(result)) {}

  // The position in its image of each window's maximum. The taps of all windows are gathered, axis
  // by axis; the first maximum of each window is found; then its position is computed.
  Expr OfMaxima(const Expr& maximum, bool columns_first) const {
    const std::int64_t taps = RequireTables();
    const Expr& x = p_.data;
    const double least = LeastOf(DataTypeOf(x));
    std::vector<Ints> width = {{0, 0}, {0, 0}};
    for (std::size_t d = 0; d < dims_; ++d) width.push_back({w_.before[d], PastEnd(d)});
    const Expr padded = Typed(ops::Pad(x, width, least, DataTypeOf(x)));
    // (images, channels, then windows and taps of each spatial axis)
    Expr all = padded;
    Ints order = {0, 1};
    for (std::size_t d = 0; d < dims_; ++d) {
      const auto axis = static_cast<std::int64_t>(2 + 2 * d);
      all = Typed(ops::Take(all, Taps(d), {.axis = axis}));
      order.push_back(axis);
    }
    for (std::size_t d = 0; d < dims_; ++d) order.push_back(static_cast<std::int64_t>(3 + 2 * d));
    std::vector<Dim> windows = result_;
    windows.push_back(taps);
    const Expr by_window =
        Typed(ReshapeTo(node_.extents(), Typed(ops::Transpose(all, order)), windows));
    const auto last = static_cast<std::int64_t>(result_.size());
    Expr tap = Typed(ops::Cast(Typed(ops::ArgMax(by_window, {.axis = Ints{last}})), Int64));
    const bool is_padded = !(DimsOf(padded) == DimsOf(x)) ||
                           std::ranges::any_of(w_.in_data, [](const Expr& e) { return !!e; });
    if (is_padded) {
      // Of elements that equal the padding the first one counts, and not the padding before it.
      const Expr lowest =
          ir::Call::Make(ops::Known().equal, {maximum, ops::Scalar(least, DataTypeOf(x))});
      Expr first = FirstTap(0);
      for (std::size_t d = 1; d < dims_; ++d) first = Flat(first, FirstTap(d), w_.kernel[d]);
      tap = Typed(ops::Where(lowest, first, tap));
    }
    return Typed(PositionOf(tap, columns_first));
  }

 private:
  // How many taps a window has.
  std::int64_t RequireTables() const {
    std::int64_t taps = 1;
    for (std::size_t d = 0; d < 2; ++d) RequireTable("planes or windows", result_[d], 1);
    for (std::size_t d = 0; d < dims_; ++d) {
      RequireTable("taps along an axis", result_[d + 2], w_.kernel[d]);
      RequireTable("taps of a window", taps, w_.kernel[d]);
      taps *= w_.kernel[d];
    }
    return taps;
  }
  static Expr Flat(const Expr& outer, const Expr& inner, const Expr& extent) {
    return ops::Add(ops::Multiply(outer, extent), inner);
  }
  static Expr Flat(const Expr& outer, const Expr& inner, std::int64_t extent) {
    return Flat(outer, inner, Integer(extent));
  }
  // Of a tap, a number of its window, in the whole tensor.
  Expr PositionOf(Expr tap, bool columns_first) const {
    std::vector<Expr> places(dims_);
    for (std::size_t d = dims_; d-- > 0;) {
      const Expr along = d == 0 ? tap : Floor(ops::Known().floor_mod, tap, w_.kernel[d]);
      places[d] = Typed(ops::Add(Starts(d), ops::Multiply(along, Integer(w_.dilations[d]))));
      if (d > 0) tap = Floor(ops::Known().floor_divide, tap, w_.kernel[d]);
    }
    Expr at = Flat(Along(0, result_[0]), Along(1, result_[1]), Extent(1));
    for (std::size_t i = 0; i < dims_; ++i) {
      const std::size_t d = columns_first ? dims_ - 1 - i : i;
      at = Flat(at, places[d], Extent(d + 2));
    }
    return at;
  }
  Expr Typed(const Expr& e) const { return node_.Typed(e); }
  Expr Floor(const Expr& op, const Expr& a, std::int64_t b) const {
    return Typed(ir::Call::Make(op, {a, Integer(b)}));
  }
  // Of the image that the node is given.
  Expr Extent(std::size_t axis) const { return Typed(ExtentValue(node_.input(0), axis)); }
  // 0, 1, ... along an axis of the result.
  Expr Along(std::size_t axis, const Dim& count) const {
    return PlacesAlong(node_, result_.size(), axis, count);
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
  const std::size_t dims_;
  const std::vector<Dim> result_;
};

}  // namespace

double LeastOf(DataType type) {
  return type.is_float()  ? -std::numeric_limits<double>::infinity()
         : type.is_uint() ? 0
                          : -std::ldexp(1.0, type.bits() - 1);
}

Expr PlacesOfMaxima(const Node& node, const Pooling& p, const Expr& maximum, bool columns_first) {
  return PoolPlaces(node, p, DimsOf(maximum)).OfMaxima(maximum, columns_first);
}

}  // namespace tenon::onnx_import
