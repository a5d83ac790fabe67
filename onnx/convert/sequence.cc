#include "tenon/onnx/convert/sequence.h"

#include "tenon/onnx/convert/list.h"
#include "tenon/onnx/convert/moved_elements.h"
#include "tenon/ops/builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

Expr SequenceOf(const Node& node, std::vector<Expr> elements) {
  return node.Typed(ir::Tuple::Make(std::move(elements)));
}

bool IsSequence(const Expr& value) {
  return value.As<ir::TupleNode>() != nullptr && !(value == Nothing()) && !ListIn(value);
}

const std::vector<Expr>& ElementsOf(const Node& node, std::size_t i) {
  const Expr& value = node.input(i);
  if (!IsSequence(value))
    throw InvalidArgument(
        StrCat("input ", i, " is ", KindOf(value), "; a sequence of tensors is needed"));
  return value.As<ir::TupleNode>()->fields;
}

const Expr& Nothing() {
  static const Expr nothing = ir::Tuple::Make({}, {}, ir::TupleType({}));
  return nothing;
}

std::string KindOf(const Expr& value) {
  if (value == Nothing()) return "an optional value without an element";
  if (ListIn(value)) return "a sequence of as many elements as a run says";
  if (const auto* tuple = value.As<ir::TupleNode>())
    return StrCat("a sequence of ", tuple->fields.size());
  return ir::ToString(value.checked_type());
}

Expr SelectedOf(const Node& node, const Expr& condition, const Expr& yes, const Expr& no) {
  if (yes == no) return yes;
  const auto *first = yes.As<ir::TupleNode>(), *second = no.As<ir::TupleNode>();
  if (first == nullptr || second == nullptr)
    return MadeOf(node, node.Typed(ops::Where(condition, yes, no)), {yes, no});
  std::vector<Expr> fields;
  for (std::size_t i = 0; i < first->fields.size(); ++i)
    fields.push_back(SelectedOf(node, condition, first->fields[i], second->fields.at(i)));
  return SequenceOf(node, std::move(fields));
}

}  // namespace tenon::onnx_import
