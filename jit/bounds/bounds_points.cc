#include "tenon/jit/bounds/bounds_points.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tenon/jit/bounds/bounds_report.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using loop::Stmt;

// The factor of a variable in which the expression is linear, and 0 if it does not occur. Nothing
// if it occurs in another way.
std::optional<std::int64_t> FactorOf(const loop::Var& var, const Expr& expr) {
  if (!loop::UsesVar(expr, var)) return 0;
  const loop::Linear linear = loop::ToLinear(expr, {});
  for (const auto& [atom, factor] : linear.terms) {
    if (!atom.same_as(var) && loop::UsesVar(atom, var)) return std::nullopt;
  }
  return linear.CoefficientOf(var);
}

Point With(const Point& point, const loop::Var& var, const Expr& value, End end) {
  const loop::ExprMap values = {{var, value}};
  Point placed = point;
  placed.index = loop::Substitute(point.index, values);
  for (Expr& i : placed.iteration) i = loop::Substitute(i, values);
  placed.end = end;
  return placed;
}

}  // namespace

Expr ElementsOf(const loop::Buffer& buffer) {
  Expr elements = 1;
  for (const Expr& extent : buffer->shape) elements = elements * extent;
  return elements;
}

std::vector<Point> AtEnds(const loop::ForNode& node, const Point& point) {
  const auto uses = [&](const Expr& e) { return loop::UsesVar(e, node.var); };
  if (uses(point.elements) || std::any_of(point.when.begin(), point.when.end(), uses)) return {};
  const std::optional<std::int64_t> factor = FactorOf(node.var, point.index);
  if (!factor) return {};
  const Expr last = node.min + (node.extent - 1);
  const Expr& lowest = *factor < 0 ? last : node.min;
  const Expr& highest = *factor < 0 ? node.min : last;
  std::vector<Point> points;
  if (*factor == 0) {
    points.push_back(With(point, node.var, node.min, point.end));
  } else {
    if (point.end != End::kHighest) points.push_back(With(point, node.var, lowest, End::kLowest));
    if (point.end != End::kLowest) points.push_back(With(point, node.var, highest, End::kHighest));
  }
  // A loop that does not run makes no access.
  if (const auto* extent = node.extent.As<loop::IntImmNode>()) {
    if (extent->value > 0) return points;
  }
  for (Point& placed : points) placed.when.insert(placed.when.begin(), node.extent > 0);
  return points;
}

Stmt Compare(const Point& point, const loop::Var& report) {
  const Expr& index = point.index;
  const Expr fits = point.end == End::kLowest    ? index >= 0 && Expr(0) < point.elements
                    : point.end == End::kHighest ? index < point.elements
                                                 : index >= 0 && index < point.elements;
  if (loop::IsConstInt(fits, 1)) return Stmt();
  std::vector<Expr> args = {report, point.access, index, point.elements};
  args.insert(args.end(), point.iteration.begin(), point.iteration.end());
  args.resize(4 + kMaxReportedLoops, Expr(0));
  Stmt made = loop::If(!fits, loop::Evaluate(loop::ExternCall(ReportAccessFunction(), args)));
  for (std::size_t i = point.when.size(); i-- > 0;) made = loop::If(point.when[i], made);
  return made;
}

}  // namespace tenon::jit
