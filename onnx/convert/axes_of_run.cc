// What axes are named is found axis by axis, from comparisons with all that are given. A run is
// refused by a count below 0, to which everything that follows adds the numbers that are counted.
#include "tenon/onnx/convert/axes_of_run.h"

#include "tenon/onnx/convert/reshape_to.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Expr Call(const Expr& op, const Expr& a, const Expr& b) { return ir::Call::Make(op, {a, b}); }

// How many elements of a vector of bool are true.
Expr TrueOnes(const Node& node, const Expr& flags) {
  return node.Typed(ops::Sum(node.Typed(ops::Cast(flags, Int64))));
}

std::int64_t NumberOfAxes(const Expr& axes) {
  const std::vector<Dim> extents = DimsOf(axes);
  if (extents.empty()) return 1;
  if (!extents[0].is_static())
    throw Unimplemented(StrCat("only a run knows the axes and their number, ",
                               extents[0].ToString(),
                               ", and with it the rank of the result; the number must be known"));
  return extents[0].value();
}

// The extents of `x`, which a run knows.
std::vector<Expr> ExtentsOf(const Node& node, const Expr& x) {
  std::vector<Expr> extents;
  for (std::size_t d = 0; d < DimsOf(x).size(); ++d)
    extents.push_back(node.Typed(ExtentValue(x, d)));
  return extents;
}

}  // namespace

bool HasAxesOfRun(const Node& node, std::size_t input) {
  if (!node.has_input(input) || !DependsOnInputs(node.input(input))) return false;
  const std::optional<std::vector<Dim>> known = DimsOfValue(node.input(input));
  return !known || !IsStatic(*known);
}

GivenAxes FindGivenAxes(const Node& node, const Expr& axes, std::int64_t rank) {
  const auto& known = ops::Known();
  GivenAxes given{.axes = node.Typed(ops::Cast(axes, Int64))};
  if (RankOf(given.axes) == 0) given.axes = node.Typed(ops::Reshape(given.axes, Ints{1}));
  Expr wrong = TrueOnes(node, Call(known.logical_or, Call(known.less, given.axes, Integer(-rank)),
                                   Call(known.greater_equal, given.axes, Integer(rank))));
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    given.is_meant.push_back(
        node.Typed(Call(known.logical_or, Call(known.equal, given.axes, Integer(axis)),
                        Call(known.equal, given.axes, Integer(axis - rank)))));
    given.times.push_back(TrueOnes(node, given.is_meant.back()));
    wrong = node.Typed(ops::Maximum(wrong, ops::Subtract(given.times.back(), Integer(1))));
  }
  given.is_wrong = node.Typed(Call(known.greater, wrong, Integer(0)));
  return given;
}

Expr ZeroUnlessWrong(const Node& node, const GivenAxes& given, const std::string& rule) {
  return ZeroUnlessWrong(node, given.is_wrong, rule);
}

AxesOfRun::AxesOfRun(const Node& node, const Expr& axes, std::int64_t rank)
    : node_(node), given_(FindGivenAxes(node, axes, rank)) {
  count_ = NumberOfAxes(given_.axes);
  const Expr zero = ZeroUnlessWrong(
      node, given_,
      StrCat("whose axes must be different ones, at least ", -rank, " and below ", rank));
  Expr before = Integer(0);
  for (const Expr& times : given_.times) {
    named_before_.push_back(before);
    is_named_.push_back(
        node.Typed(Call(ops::Known().greater, node.Typed(ops::Add(times, zero)), Integer(0))));
    before = node.Typed(ops::Add(before, ops::Cast(is_named_.back(), Int64)));
  }
}

Expr AxesOfRun::ValueAt(std::size_t axis, const Expr& values, const Expr& other) const {
  const Expr own =
      node_.Typed(ops::Sum(node_.Typed(ops::Where(given_.is_meant[axis], values, Integer(0)))));
  return node_.Typed(ops::Where(is_named_[axis], own, other));
}

Expr UnsqueezedByValues(const Node& node) {
  const auto& known = ops::Known();
  const Expr& x = node.input(0);
  const std::vector<Expr> extents = ExtentsOf(node, x);
  const auto rank = static_cast<std::int64_t>(extents.size()) + NumberOfAxes(node.input(1));
  RequireFewAxes(rank);
  const AxesOfRun axes(node, node.input(1), rank);
  std::vector<Dim> target;
  for (std::int64_t at = 0; at < rank; ++at) {
    const auto axis = static_cast<std::size_t>(at);
    const Expr from = node.Typed(ops::Subtract(Integer(at), axes.NamedBefore(axis)));
    Expr extent = Integer(1);
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const Expr is_it = Call(known.equal, from, Integer(static_cast<std::int64_t>(d)));
      extent = node.Typed(ops::Where(is_it, extents[d], extent));
    }
    target.push_back(
        ExtentOf(node, node.Typed(ops::Where(axes.IsNamed(axis), Integer(1), extent))));
  }
  return node.Typed(ReshapeTo(node.extents(), x, target));
}

Expr SqueezedByValues(const Node& node, const Expr& x, const Expr& given) {
  const auto& known = ops::Known();
  const std::vector<Expr> extents = ExtentsOf(node, x);
  const auto rank = static_cast<std::int64_t>(extents.size());
  const AxesOfRun axes(node, given, rank);
  if (axes.count() > rank) throw InvalidArgument(StrCat(axes.count(), " axes are named of ", rank));
  // Beyond the extents that stay are those of the axes that do not, which must be 1.
  Expr dropped = Integer(1);
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const Expr extent = node.Typed(ops::Where(axes.IsNamed(d), extents[d], Integer(1)));
    dropped = node.Typed(ops::Maximum(
        dropped, ops::Where(Call(known.equal, extent, Integer(0)), Integer(2), extent)));
  }
  const Expr is_one = node.Typed(Call(known.equal, dropped, Integer(1)));
  std::vector<Expr> place;  // in the result; -1 for axes that are dropped
  for (std::size_t d = 0; d < extents.size(); ++d)
    place.push_back(node.Typed(
        ops::Where(axes.IsNamed(d), Integer(-1),
                   ops::Subtract(Integer(static_cast<std::int64_t>(d)), axes.NamedBefore(d)))));
  std::vector<Dim> target;
  for (std::int64_t at = 0; at < rank - axes.count(); ++at) {
    Expr extent = Integer(1);
    for (std::size_t d = 0; d < extents.size(); ++d)
      extent = node.Typed(ops::Where(Call(known.equal, place[d], Integer(at)), extents[d], extent));
    if (at == 0) extent = node.Typed(ops::Where(is_one, extent, Integer(-1)));
    target.push_back(ExtentOf(node, extent, false, "whose axes must have one element each"));
  }
  return node.Typed(ReshapeTo(node.extents(), x, target));
}

}  // namespace tenon::onnx_import
