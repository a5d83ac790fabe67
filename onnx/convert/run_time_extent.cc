// An element of a vector is followed back to the value that it was joined from, so that one count
// that goes into several shapes has one variable.
#include "tenon/onnx/convert/run_time_extent.h"

#include <algorithm>
#include <functional>

#include "tenon/ir/visit.h"
#include "tenon/onnx/convert/part_of_value.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/extents/count_up_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// One element of a scalar or a vector.
struct Element {
  Expr value;
  std::int64_t place;
};

std::int64_t CountOf(const Expr& e) {
  const std::vector<Dim> extents = DimsOf(e);
  if (extents.size() > 1 || !IsStatic(extents)) return -1;
  return extents.empty() ? 1 : extents[0].value();
}

// The value from which an operator moves the element; null where it computes it.
Element MovedFrom(const Element& element) {
  const auto* call = element.value.As<ir::CallNode>();
  const auto& known = ops::Known();
  if (call == nullptr || call->args.empty()) return {};
  const Expr& x = call->args[0];
  if (call->callee == known.concatenate) {
    const auto* tuple = x.As<ir::TupleNode>();
    std::int64_t place = element.place;
    for (std::size_t i = 0; tuple != nullptr && i < tuple->fields.size(); ++i) {
      const std::int64_t count = CountOf(tuple->fields[i]);
      if (count < 0) return {};
      if (place < count) return {tuple->fields[i], place};
      place -= count;
    }
    return {};
  }
  const bool keeps_order =
      call->callee == known.reshape || call->callee == known.squeeze ||
      call->callee == known.expand_dims ||
      (call->callee == known.cast && DataTypeOf(x) == Int32 && DataTypeOf(element.value) == Int64);
  return keeps_order && CountOf(x) >= 0 ? Element{x, element.place} : Element{};
}

// The integers of an input; `of_run` gives those that only a run knows.
std::vector<Dim> DimsAt(const Node& node, std::size_t input,
                        const std::function<Dim(const Expr& element)>& of_run) {
  const Expr& value = node.input(input);
  std::optional<std::vector<Dim>> dims = PartOfValue(value);
  if (!dims || !DependsOnInputs(value)) return node.ShapeValue(input);
  RequireFewAxes(static_cast<std::int64_t>(dims->size()));
  for (std::size_t i = 0; i < dims->size(); ++i) {
    if ((*dims)[i].is_any()) (*dims)[i] = of_run(ElementAt(node, value, i));
  }
  return *std::move(dims);
}

}  // namespace

Expr ElementAt(const Node& node, const Expr& vector, std::size_t place) {
  Element element = {vector, static_cast<std::int64_t>(place)};
  for (Element next = MovedFrom(element); next.value; next = MovedFrom(element)) element = next;
  if (CountOf(element.value) == 1) return element.value;
  return node.Typed(ElementAlong(element.value, element.place, 0));
}

bool DependsOnInputs(const Expr& e) {
  bool depends = false;
  ir::VisitPostOrder(e,
                     [&](const Expr& x) { depends = depends || x.kind() == ir::ExprKind::kVar; });
  return depends;
}

Dim ExtentOf(const Node& node, const Expr& count, bool is_clamped, const std::string& rule) {
  const Expr one = node.Typed(ops::ReshapeToExtents(node.Typed(ops::Cast(count, Int64)), {1}));
  KnownExtents& extents = node.extents();
  // A count below 0 means something else to each of the two, so they have variables of their own.
  const std::string extent =
      extents.names().NameFor(one, is_clamped ? 1 : 0, node.proto().op_type());
  if (extents.Find(extent) == nullptr)
    extents.Add(node.Typed(ops::CallOp("count_up", {one},
                                       attrs::Attrs::Make(ops::CountUpAttrs{
                                           .extent = extent,
                                           .is_clamped = is_clamped,
                                           .needed_by = StrCat("the node ", node.span().source,
                                                               rule.empty() ? "" : ", ", rule)}))));
  return Dim::Symbol(extent);
}

Expr ZeroUnlessWrong(const Node& node, const Expr& is_wrong, const std::string& rule) {
  const Dim none = ExtentOf(node, node.Typed(ops::Where(is_wrong, Integer(-1), Integer(0))),
                            /*is_clamped=*/false, rule);
  return node.Typed(ops::Sum(node.Typed(Places(node.extents(), none))));
}

Expr ValueOfCount(const Node& node, const Dim& count) {
  if (count.is_static()) return Integer(count.value());
  const Expr one = ir::Constant::Make(NDArray::Scalar<bool>(false));
  return node.Typed(ExtentValue(node.Typed(BroadcastTo(node.extents(), one, {count})), 0));
}

Dim NumberOf(const Node& node, const Expr& number) {
  const Expr above = node.Typed(ops::Cast(number, Int64));
  const Expr below = node.Typed(ops::Subtract(Integer(0), above));
  return ExtentOf(node, above, true) - ExtentOf(node, below, true);
}

std::vector<Dim> ExtentsAt(const Node& node, std::size_t input) {
  return DimsAt(node, input, [&](const Expr& count) { return ExtentOf(node, count); });
}
std::vector<Dim> NumbersAt(const Node& node, std::size_t input) {
  return DimsAt(node, input, [&](const Expr& number) { return NumberOf(node, number); });
}

Expr Expanded(const Node& node, const Expr& x, std::size_t input) {
  const Expr& value = node.input(input);
  const std::optional<std::vector<Dim>> known = PartOfValue(value);
  if (!known || !DependsOnInputs(value))
    return node.Typed(BroadcastTo(node.extents(), x, node.ShapeValue(input)));
  const std::vector<Dim> from = DimsOf(x);
  std::vector<Dim> target = *known;
  RequireFewAxes(static_cast<std::int64_t>(target.size()));
  const Expr one = Integer(1);
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (!target[i].is_any()) continue;
    Expr count = ElementAt(node, value, i);
    const std::size_t after = target.size() - i;  // axes from this one on
    if (after <= from.size() && !(from[from.size() - after] == Dim(1))) {
      // A count of 1 keeps the extent.
      count = node.Typed(ops::Cast(node.Typed(ops::Reshape(count, {})), Int64));
      const Expr is_one = node.Typed(ir::Call::Make(ops::Known().equal, {count, one}));
      count = node.Typed(ops::Where(is_one, ExtentValue(x, from.size() - after), count));
    }
    target[i] = ExtentOf(node, count);
  }
  // Where the model has several elements and a run one or as many, there are as many as the model
  // has, and a choice between two equals broadcasts in both directions.
  bool may_be_one = false;
  for (std::size_t i = 0; i < std::min(from.size(), target.size()); ++i) {
    const Dim &has = from[from.size() - 1 - i], &wanted = target[target.size() - 1 - i];
    may_be_one |= has.is_static() && has.value() > 1 && wanted.is_symbolic();
  }
  if (!may_be_one) return node.Typed(BroadcastTo(node.extents(), x, target));
  const Expr no = ir::Constant::Make(NDArray::Scalar<bool>(false));
  return node.Typed(ops::Where(node.Typed(BroadcastTo(node.extents(), no, target)), x, x));
}

}  // namespace tenon::onnx_import
