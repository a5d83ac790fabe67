#include "tenon/relax/relax_form.h"

#include <utility>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/passes/infer_type.h"

namespace tenon::relax {
namespace {

using ir::Expr;

// data + bias, which has an extent of 1 for each axis but its own. Null where the extents are not
// known as numbers.
Expr AsAddition(const ir::CallNode& original, const std::vector<Expr>& args) {
  const auto* data = original.args[0].checked_type().As<ir::TensorTypeNode>();
  const auto* bias = original.args[1].checked_type().As<ir::TensorTypeNode>();
  if (data == nullptr || bias == nullptr || !bias->shape[0].is_static()) return {};
  const auto rank = static_cast<std::int64_t>(data->shape.size());
  const std::int64_t axis = original.attrs.As<ops::BiasAddAttrs>().axis;
  ops::Ints shape(static_cast<std::size_t>(rank), 1);
  shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = bias->shape[0].value();
  return ops::Add(args[0], ops::ReshapeToExtents(args[1], std::move(shape)));
}

}  // namespace

ir::Module InRelaxForm(const ir::Module& module) {
  const ir::Module typed = passes::InferType(module);
  const ir::Module rewritten = typed.Map([](const Expr& function) {
    return ir::RewritePostOrder(function, [](const Expr& original, const Expr& rebuilt) {
      const auto* call = original.As<ir::CallNode>();
      if (call == nullptr || !(call->callee == ops::Known().bias_add)) return rebuilt;
      const Expr addition = AsAddition(*call, rebuilt.As<ir::CallNode>()->args);
      return addition ? addition : rebuilt;
    });
  });
  return passes::InferType(rewritten).WithOperatorNames(ir::OperatorNames::kRelax);
}

}  // namespace tenon::relax
