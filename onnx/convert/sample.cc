// A sum over the corners of the cell in which a position lies. A corner outside the data takes no
// part, also where the data is not finite.
#include "tenon/onnx/convert/sample.h"

#include "tenon/onnx/convert/reshape_to.h"
#include "tenon/onnx/convert/take_of_each.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"

namespace tenon::onnx_import {
namespace {

Expr Call(const Expr& op, const Expr& a, const Expr& b) { return ir::Call::Make(op, {a, b}); }
// One of both elements that enclose a position along an axis.
struct Side {
  Expr place;   // int64 [batch, n], inside the data
  Expr inside;  // whether that is the element that was meant
  Expr weight;  // of the type of the position
};

Side SideOf(const Node& node, const Expr& position, const Expr& first, int step, const Expr& last) {
  const auto& known = ops::Known();
  const DataType type = DataTypeOf(position);
  const Expr at = step == 0 ? first : node.Typed(ops::Add(first, ops::Scalar(step, type)));
  const auto bound = [&](std::int64_t n) { return ops::Scalar(static_cast<double>(n), type); };
  // Comparing with NaN is false, so such a position lies outside.
  const Expr inside = node.Typed(Call(known.logical_and, Call(known.greater_equal, at, bound(0)),
                                      Call(known.less_equal, at, last)));
  const Expr place = node.Typed(ops::Cast(ops::Where(inside, at, bound(0)), Int64));
  const Expr distance = ops::Abs(ops::Subtract(position, at));
  return {place, inside, node.Typed(ops::Subtract(bound(1), distance))};
}

}  // namespace

Expr LastPlace(const Node& node, const Expr& x, std::size_t axis, DataType type) {
  return node.Typed(
      ops::Cast(node.Typed(ops::Subtract(node.Typed(ExtentValue(x, axis)), Integer(1))), type));
}

// Halves have no step of 1 from 2048 on, and bfloat16 from 256 on.
DataType PositionType(DataType data, DataType positions) {
  return data == Float64 || positions == Float64 ? Float64 : Float32;
}

Expr Sampled(const Node& node, const Expr& x, const std::vector<Expr>& positions, Between how) {
  const std::vector<Dim> shape = DimsOf(x);
  const std::size_t dims = positions.size();
  for (std::size_t d = 0; d < dims; ++d)
    if (shape[d + 2] == Dim(0)) throw InvalidArgument("data without elements cannot be sampled");
  const DataType type = DataTypeOf(positions.at(0));
  const auto& known = ops::Known();
  std::vector<std::vector<Side>> sides(dims);
  for (std::size_t d = 0; d < dims; ++d) {
    const Expr& position = positions[d];
    // Of two elements at one distance, that of the even index.
    const Expr first = node.Typed(
        ir::Call::Make(how == Between::kNearest ? known.nearbyint : known.floor, {position}));
    const Expr last = LastPlace(node, x, d + 2, type);
    const int steps = how == Between::kNearest ? 1 : 2;
    for (int step = 0; step < steps; ++step)
      sides[d].push_back(SideOf(node, position, first, step, last));
  }
  const Dim elements = ops::Product({shape.begin() + 2, shape.end()});
  const Expr flat = node.Typed(ReshapeTo(node.extents(), x, {shape[0], shape[1], elements}));
  const std::size_t corners = how == Between::kNearest ? 1 : std::size_t{1} << dims;
  Expr sum;
  for (std::size_t corner = 0; corner < corners; ++corner) {
    Expr place, inside, weight;
    for (std::size_t d = 0; d < dims; ++d) {
      const Side& side = sides[d][corner >> (dims - 1 - d) & (sides[d].size() - 1)];
      place = place ? ops::Add(ops::Multiply(place, node.Typed(ExtentValue(x, d + 2))), side.place)
                    : side.place;
      inside = inside ? Call(known.logical_and, inside, side.inside) : side.inside;
      weight = weight ? ops::Multiply(weight, side.weight) : side.weight;
    }
    const auto of_channels = [&](const Expr& e) {
      return node.Typed(ops::ExpandDims(node.Typed(e), 1));
    };
    Expr value = TakenOfEach(node, flat, node.Typed(place), 2);
    if (how == Between::kLinear)
      value = node.Typed(ops::Multiply(ops::Cast(value, type), of_channels(weight)));
    value = node.Typed(ops::Where(of_channels(inside), value, ops::Scalar(0, DataTypeOf(value))));
    sum = sum ? node.Typed(ops::Add(sum, value)) : value;
  }
  return sum;
}

}  // namespace tenon::onnx_import
