// Which extents share a variable is found by refinement: they are split where a turn makes them
// different, and never joined. So there are at most as many turns over as there are axes.
#include "tenon/onnx/convert/open_extents.h"

#include <algorithm>
#include <utility>

#include "tenon/onnx/convert/known_condition.h"
#include "tenon/onnx/convert/loop_function.h"
#include "tenon/onnx/convert/moved_elements.h"
#include "tenon/onnx/convert/reshape_to.h"
#include "tenon/onnx/convert/run_time_loop.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

bool DifferInExtentsAlone(const ir::Type& a, const ir::Type& b) {
  const auto *x = a.As<ir::TensorTypeNode>(), *y = b.As<ir::TensorTypeNode>();
  return x != nullptr && y != nullptr && x->dtype == y->dtype &&
         x->shape.size() == y->shape.size() && HasKnownExtents(a) && HasKnownExtents(b);
}

// The number that the graph declares for an axis.
std::optional<std::int64_t> DeclaredExtent(const onnx::ValueInfoProto& declared, std::size_t axis) {
  const auto& shape = declared.type().tensor_type().shape();
  if (static_cast<int>(axis) >= shape.dim_size()) return std::nullopt;
  const auto& dim = shape.dim(static_cast<int>(axis));
  return dim.has_dim_value() ? std::optional<std::int64_t>(dim.dim_value()) : std::nullopt;
}

Expr Reshaped(const Node& node, const Expr& x, const std::vector<Dim>& shape) {
  if (shape == DimsOf(x)) return x;
  return MadeOf(node, node.Typed(ReshapeTo(node.extents(), x, shape)), {x});
}

}  // namespace

OpenExtents::OpenExtents(const Node& node, const std::vector<Expr>& initial)
    : node_(node), initial_(initial) {
  for (const Expr& value : initial) {
    std::vector<Axis>& axes = axes_.emplace_back();
    if (!HasKnownExtents(value.checked_type())) continue;  // refused where the loop is made
    for (const Dim& dim : DimsOf(value)) axes.push_back({.first = dim, .now = dim});
  }
}

std::vector<Expr> OpenExtents::Variables() {
  names_.clear();
  for (std::size_t g = 0; g < groups_; ++g)
    names_.push_back(node_.extents().names().Fresh(node_.proto().op_type()));
  std::vector<Expr> variables;
  for (std::size_t i = 0; i < initial_.size(); ++i) {
    if (axes_[i].empty()) {
      variables.push_back(LoopVariable(node_, initial_[i]));
      continue;
    }
    std::vector<Dim> shape;
    for (Axis& axis : axes_[i]) {
      axis.now = axis.is_open ? Dim::Symbol(names_[axis.group]) : axis.first;
      shape.push_back(axis.now);
    }
    const ir::Type type = ir::TensorType(std::move(shape), DataTypeOf(initial_[i]));
    variables.push_back(MadeOf(node_, LoopVariable(node_, type), {initial_[i]}));
  }
  return variables;
}

Expr OpenExtents::AsDeclared(std::size_t i, const Expr& made,
                             const onnx::ValueInfoProto& declared) const {
  const std::vector<Axis>& axes = axes_[i];
  if (axes.empty() || !HasKnownExtents(made.checked_type())) return made;
  std::vector<Dim> shape = DimsOf(made);
  if (shape.size() != axes.size()) return made;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Axis& axis = axes[d];
    if (!axis.is_open && axis.now.is_static() && !shape[d].is_static() &&
        DeclaredExtent(declared, d) == axis.now.value())
      shape[d] = axis.now;
  }
  return Reshaped(node_, made, shape);
}

bool OpenExtents::Fit(const std::vector<Expr>& next) {
  // What each group becomes; nothing while it is not known.
  std::vector<const Dim*> becomes(groups_, nullptr);
  bool fits = true;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].empty()) continue;
    if (!DifferInExtentsAlone(initial_[i].checked_type(), next[i].checked_type()))
      throw Unimplemented(StrCat(
          "value ", i, " is ", ir::ToString(initial_[i].checked_type()), " before a turn and ",
          ir::ToString(next[i].checked_type()),
          " after it; a loop of which only a run knows the end may change extents, but no element "
          "type and no number of axes"));
    const auto& made = next[i].checked_type().As<ir::TensorTypeNode>()->shape;
    for (std::size_t d = 0; d < made.size(); ++d) {
      const Axis& axis = axes_[i][d];
      if (!axis.is_open) {
        fits = fits && made[d] == axis.now;
      } else if (becomes[axis.group] == nullptr) {
        becomes[axis.group] = &made[d];
      } else {
        fits = fits && made[d] == *becomes[axis.group];
      }
    }
  }
  if (!fits) Regroup(next);
  return fits;
}

void OpenExtents::Regroup(const std::vector<Expr>& next) {
  std::vector<std::pair<std::pair<Dim, Dim>, std::size_t>> groups;  // by extents before and after
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].empty()) continue;
    const auto& made = next[i].checked_type().As<ir::TensorTypeNode>()->shape;
    for (std::size_t d = 0; d < made.size(); ++d) {
      Axis& axis = axes_[i][d];
      if (!axis.is_open && made[d] == axis.now) continue;
      axis.is_open = true;
      const std::pair<Dim, Dim> change(axis.now, made[d]);
      auto known = std::ranges::find(groups, change, &decltype(groups)::value_type::first);
      if (known == groups.end()) known = groups.insert(known, {change, groups.size()});
      axis.group = known->second;
    }
  }
  groups_ = groups.size();
}

Expr WithNamedExtent(const Node& node, const Expr& x, std::size_t axis, const std::string& name) {
  const Expr count = node.Typed(ops::Reshape(node.Typed(ExtentValue(x, axis)), Ints{1}));
  return MadeOf(
      node,
      node.Typed(ops::TakeFirst(
          x, count, {.axis = static_cast<std::int64_t>(axis), .extent = name, .keeps_name = true})),
      {x});
}

Expr WithNamedExtents(const Node& node, Expr x, const std::map<std::string, std::string>& names) {
  const std::vector<Dim> dims = DimsOf(x);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const auto symbol = dims[axis].symbol();
    const auto name = symbol ? names.find(*symbol) : names.end();
    if (name != names.end()) x = WithNamedExtent(node, x, axis, name->second);
  }
  return x;
}

Expr WithKnownExtents(const Node& node, const Expr& x, const onnx::ValueInfoProto& declared,
                      const std::set<std::string>& known) {
  if (!HasKnownExtents(x.checked_type())) return x;  // refused where the loop is made
  std::vector<Dim> shape = DimsOf(x);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::set<std::string> symbols;
    shape[axis].AddSymbols(&symbols);
    if (std::ranges::includes(known, symbols)) continue;
    const std::optional<std::int64_t> number = DeclaredExtent(declared, axis);
    if (!number)
      throw Unimplemented(StrCat("the output ", declared.name(), " is ",
                                 ir::ToString(x.checked_type()), " in each turn, and turns decide ",
                                 shape[axis].ToString(),
                                 "; elements of one output must have one shape that is known "
                                 "before the loop"));
    shape[axis] = *number;
  }
  return Reshaped(node, x, shape);
}

bool GiveOneType(const Node& node, const Expr& condition, std::vector<Expr>* yes,
                 std::vector<Expr>* no) {
  std::vector<std::pair<std::pair<Dim, Dim>, std::string>> names;
  for (std::size_t i = 0; i < yes->size(); ++i) {
    Expr &a = (*yes)[i], &b = (*no)[i];
    if (ir::Equal(a.checked_type(), b.checked_type())) continue;
    if (!DifferInExtentsAlone(a.checked_type(), b.checked_type()))
      throw Unimplemented(StrCat("output ", i, " is ", ir::ToString(a.checked_type()),
                                 " in one branch and ", ir::ToString(b.checked_type()),
                                 " in the other; with a condition that is computed when the model "
                                 "runs, both must be of one type, except for extents; ",
                                 WayToFix(condition)));
    const std::vector<Dim> dims = DimsOf(a), others = DimsOf(b);
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis] == others[axis]) continue;
      const std::pair<Dim, Dim> both(dims[axis], others[axis]);
      auto known = std::ranges::find(names, both, &decltype(names)::value_type::first);
      if (known == names.end())
        known = names.insert(known, {both, node.extents().names().Fresh(node.proto().op_type())});
      a = WithNamedExtent(node, a, axis, known->second);
      b = WithNamedExtent(node, b, axis, known->second);
    }
  }
  return !names.empty();
}

}  // namespace tenon::onnx_import
