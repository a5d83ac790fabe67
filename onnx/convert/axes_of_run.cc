// What axes are named is found axis by axis, from comparisons with all that are given. A run is
// refused by a count below 0, to which everything that follows adds the numbers that are counted.
#include "tenon/onnx/convert/axes_of_run.h"

#include <utility>

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

AxesOfRun::AxesOfRun(const Node& node, const Expr& axes, std::int64_t rank) : node_(node) {
  const auto& known = ops::Known();
  Expr given = node.Typed(ops::Cast(axes, Int64));
  if (RankOf(given) == 0) given = node.Typed(ops::Reshape(given, Ints{1}));
  count_ = NumberOfAxes(given);
  std::vector<Expr> counts;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    is_meant_.push_back(node.Typed(Call(known.logical_or, Call(known.equal, given, Integer(axis)),
                                        Call(known.equal, given, Integer(axis - rank)))));
    counts.push_back(TrueOnes(node, is_meant_.back()));
  }
  // As many different axes as are given: none is named twice, and each is there.
  Expr different = Integer(0);
  for (const Expr& count : counts)
    different = node.Typed(ops::Add(different, ops::Minimum(count, Integer(1))));
  const Expr fits = node.Typed(Call(known.equal, different, Integer(count_)));
  const Dim none =
      ExtentOf(node, node.Typed(ops::Where(fits, Integer(0), Integer(-1))), false,
               StrCat("whose axes must be different ones, at least ", -rank, " and below ", rank));
  const Expr no_numbers = node.Typed(ops::Sum(node.Typed(Places(node.extents(), none))));
  for (const Expr& count : counts)
    is_named_.push_back(
        node.Typed(Call(known.greater, node.Typed(ops::Add(count, no_numbers)), Integer(0))));
}

Expr AxesOfRun::ValueAt(std::size_t axis, const Expr& values, const Expr& other) const {
  const Expr own =
      node_.Typed(ops::Sum(node_.Typed(ops::Where(is_meant_[axis], values, Integer(0)))));
  return node_.Typed(ops::Where(is_named_[axis], own, other));
}

Expr AxesOfRun::NamedBefore(std::size_t axis) const {
  Expr before = Integer(0);
  for (std::size_t i = 0; i < axis; ++i)
    before = node_.Typed(ops::Add(before, ops::Cast(is_named_[i], Int64)));
  return before;
}

Expr UnsqueezedByValues(const Node& node) {
  const auto& known = ops::Known();
  const Expr& x = node.input(0);
  const std::vector<Expr> extents = ExtentsOf(node, x);
  const auto rank = static_cast<std::int64_t>(extents.size()) + NumberOfAxes(node.input(1));
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
  std::vector<Dim> target;
  for (std::int64_t at = 0; at < rank - axes.count(); ++at) {
    Expr extent = Integer(1);
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const Expr place =
          node.Typed(ops::Subtract(Integer(static_cast<std::int64_t>(d)), axes.NamedBefore(d)));
      const Expr is_it = Call(known.logical_and, Call(known.equal, place, Integer(at)),
                              ir::Call::Make(known.logical_not, {axes.IsNamed(d)}));
      extent = node.Typed(ops::Where(node.Typed(is_it), extents[d], extent));
    }
    if (at == 0) extent = node.Typed(ops::Where(is_one, extent, Integer(-1)));
    target.push_back(ExtentOf(node, extent, false, "whose axes must have one element each"));
  }
  return node.Typed(ReshapeTo(node.extents(), x, target));
}

}  // namespace tenon::onnx_import
