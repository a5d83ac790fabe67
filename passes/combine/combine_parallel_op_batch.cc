#include "tenon/passes/combine/combine_parallel_op_batch.h"

#include <optional>
#include <utility>
#include <vector>

#include "tenon/ops/known_ops.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/combine/combine_branches.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

Expr FindBinary(const std::string& name) {
  const Expr op = ops::OpRegistry::Global().Get(name);
  if (const int inputs = op.As<ir::OpNode>()->num_inputs(); inputs != 2)
    throw InvalidArgument(StrCat("CombineParallelOpBatch: ", name, " takes ",
                                 inputs < 0 ? std::string("any number of") : StrCat(inputs),
                                 " arguments; it joins calls of two"));
  return op;
}

// The attributes of the wide call. Nothing if it has no field for one that the branch sets.
std::optional<attrs::Attrs> AttrsOf(const CallNode& branch, const Expr& batch_op) {
  const auto& known = ops::Known();
  if (branch.callee == known.dense && batch_op == known.batch_matmul) {
    const DataType out_dtype = branch.attrs.As<ops::DenseAttrs>().out_dtype;
    return attrs::Attrs::Make(ops::BatchMatmulAttrs{.out_dtype = out_dtype, .transpose_b = true});
  }
  const attrs::Schema* schema = batch_op.As<ir::OpNode>()->attrs_schema();
  if (branch.attrs.schema() == schema) return branch.attrs;
  attrs::FieldValues fields;
  if (branch.attrs.defined()) {
    for (const attrs::FieldInfo& field : branch.attrs.schema()->fields) {
      attrs::Value value = branch.attrs.Get(field.name);
      if (schema != nullptr && schema->Find(field.name) != nullptr) {
        fields.emplace(field.name, std::move(value));
      } else if (!(value == field.default_value)) {
        return std::nullopt;
      }
    }
  }
  return schema == nullptr ? attrs::Attrs() : attrs::Attrs::FromFields(*schema, fields);
}

ir::Type Stacked(const ir::Type& type, std::int64_t count) {
  const auto& tensor = *type.As<ir::TensorTypeNode>();
  std::vector<Dim> shape = tensor.shape;
  shape.insert(shape.begin(), Dim(count));
  return ir::TensorType(std::move(shape), tensor.dtype);
}

// Whether the wide call of two branches like this one has the type of two results.
bool HasStackedType(const CallNode& call, const Expr& batch_op) {
  std::vector<Expr> args;
  for (const Expr& arg : call.args)
    args.push_back(ir::Var::Make("x", Stacked(arg.checked_type(), 2)));
  const auto typed = CatchErrors([&] {
    const std::optional<attrs::Attrs> attrs = AttrsOf(call, batch_op);
    if (!attrs) throw Unimplemented("the wide operator lacks a field");
    return InferType(ir::Module::FromExpr(ir::Call::Make(batch_op, std::move(args), *attrs)));
  });
  return typed.ok() && ir::Equal(typed->Main().body.checked_type(), Stacked(call.checked_type, 2));
}

bool AreOfOneRank(const CallNode& call) {
  for (const Expr& arg : call.args) {
    if (!ir::IsStaticTensor(arg.checked_type()) ||
        arg.checked_type().As<ir::TensorTypeNode>()->shape.size() !=
            call.args[0].checked_type().As<ir::TensorTypeNode>()->shape.size())
      return false;
  }
  return ir::IsStaticTensor(call.checked_type);
}

}  // namespace

ir::Module CombineParallelOpBatch(const ir::Module& module, const std::string& op,
                                  const std::string& batch_op, int min_num_branches) {
  const Expr batch = FindBinary(batch_op);
  return CombineBranches(
      module,
      {.op = FindBinary(op),
       .is_supported =
           [&](const CallNode& call) { return AreOfOneRank(call) && HasStackedType(call, batch); },
       .are_alike =
           [](const CallNode& a, const CallNode& b) {
             return a.attrs == b.attrs &&
                    ir::Equal(a.args[1].checked_type(), b.args[1].checked_type());
           },
       .combine =
           [&](const std::vector<const CallNode*>& branches, const Expr& data) {
             std::vector<Expr> seconds;
             for (const CallNode* branch : branches) seconds.push_back(branch->args[1]);
             return ir::Call::Make(
                 batch,
                 {Stack(std::vector<Expr>(branches.size(), data)), Stack(std::move(seconds))},
                 *AttrsOf(*branches[0], batch));
           },
       .axis = [](const CallNode&) { return std::nullopt; }},
      min_num_branches);
}

}  // namespace tenon::passes
