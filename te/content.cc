#include "tenon/te/content.h"

#include "tenon/loop/content.h"
#include "tenon/loop/visit.h"

namespace tenon::te {
namespace {

bool CallsCode(const OperationNode& op) {
  if (!op.is_compute()) return !op.is_placeholder();
  bool calls = false;
  for (const Expr& value : op.Expressions()) {
    loop::VisitExpr(
        value, [&](const Expr& e) { calls = calls || e.kind() == loop::ExprKind::kExternCall; });
  }
  return calls;
}

void WriteAxes(const std::vector<IterVar>& axes, loop::ContentWriter& writer) {
  writer.Int(static_cast<std::int64_t>(axes.size()));
  for (const auto& [var, min, extent, is_reduce, is_ordered, starts_only] : axes) {
    writer.Expressions({var, min, extent});
    writer.Int(is_reduce ? 1 : 0);
    writer.Int(is_ordered ? 1 : 0);
    writer.Int(starts_only ? 1 : 0);
  }
}

void WriteOperation(const OperationNode& op, loop::ContentWriter& writer) {
  writer.Kind(op.kind);
  writer.Text(op.name);
  writer.Text(op.label.tag);
  writer.Text(ToString(op.label.hint));
  writer.Int(static_cast<std::int64_t>(op.outputs.size()));
  for (const loop::Buffer& output : op.outputs) writer.Buffer(output);
  WriteAxes(op.axes, writer);
  WriteAxes(op.reduce_axes, writer);
  writer.Int(op.combiner ? 1 : 0);
  if (op.combiner) {
    const auto& [name, lhs, rhs, result, identity, is_sum, is_commutative, is_order_free] =
        *op.combiner;
    writer.Text(name);
    writer.Expressions({lhs.begin(), lhs.end()});
    writer.Expressions({rhs.begin(), rhs.end()});
    writer.Expressions(result);
    writer.Expressions(identity);
    writer.Int(is_sum ? 1 : 0);
    writer.Int(is_commutative ? 1 : 0);
    writer.Int(is_order_free ? 1 : 0);
  }
  writer.Expressions(op.body);
  writer.Expressions(op.initial);
  writer.Int(op.condition.defined() ? 1 : 0);
  if (op.condition.defined()) writer.Expressions({op.condition});
  writer.Expressions(op.target);
}

}  // namespace

std::optional<std::string> ContentOf(const std::vector<Tensor>& outputs,
                                     const std::vector<Tensor>& args) {
  loop::ContentWriter writer;
  for (const Operation& op : PostOrder(outputs)) {
    if (CallsCode(*op)) return std::nullopt;
    WriteOperation(*op, writer);
  }
  for (const std::vector<Tensor>* list : {&outputs, &args}) {
    writer.Int(static_cast<std::int64_t>(list->size()));
    for (const Tensor& tensor : *list) writer.Buffer(tensor.buffer());
  }
  return writer.bytes();
}

}  // namespace tenon::te
