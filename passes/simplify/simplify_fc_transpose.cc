#include "tenon/passes/simplify/simplify_fc_transpose.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tenon/ir/visit.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::FunctionNode;
using ExprSet = std::unordered_set<Expr, ir::ExprHash>;

bool IsMatrix(const Expr& e) {
  const auto* type = e.As<ir::VarNode>()->type_annotation.As<ir::TensorTypeNode>();
  return type != nullptr && type->shape.size() == 2;
}

// The variable of transpose(%w), where %w is a matrix. Null for all else.
Expr TransposedVar(const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (call == nullptr || !(call->callee == ops::Known().transpose)) return {};
  const Expr& var = call->args[0];
  if (var.kind() != ir::ExprKind::kVar || !IsMatrix(var)) return {};
  const auto& axes = call->attrs.As<ops::TransposeAttrs>().axes;
  // Without axes all are reversed.
  const bool swaps = !axes || *axes == ops::Ints{1, 0} || *axes == ops::Ints{-1, -2} ||
                     *axes == ops::Ints{-1, 0} || *axes == ops::Ints{1, -2};
  return swaps ? var : Expr();
}

// The parameters of `function` that only transposes read, whose results are only weights of dense
// layers.
ExprSet FoundIn(const FunctionNode& function) {
  ExprSet read_otherwise;
  ExprSet found;
  const auto read = [&](const Expr& child, bool is_weight) {
    if (const Expr var = TransposedVar(child)) {
      (is_weight ? found : read_otherwise).insert(var);
    } else if (child.kind() == ir::ExprKind::kVar) {
      read_otherwise.insert(child);
    }
  };
  ir::VisitPostOrder(function.body, [&](const Expr& e) {
    if (TransposedVar(e)) return;  // its readers decide
    const auto* call = e.As<CallNode>();
    const bool is_dense = call != nullptr && call->callee == ops::Known().dense;
    // A function literal lists its own parameters among its children; others are read inside.
    for (const Expr& child : ir::Children(e))
      read(child, is_dense && child == call->args[1] && !(call->args[0] == call->args[1]));
  });
  read(function.body, false);
  std::erase_if(found, [&](const Expr& var) { return read_otherwise.contains(var); });
  return found;
}

std::string NameOfTransposed(const std::string& name) { return name + "_T"; }

Expr MakeTransposed(const Expr& param) {
  const auto& var = *param.As<ir::VarNode>();
  const auto& type = *var.type_annotation.As<ir::TensorTypeNode>();
  return ir::Var::Make(NameOfTransposed(var.name),
                       ir::TensorType({type.shape[1], type.shape[0]}, type.dtype), param.span());
}

}  // namespace

std::vector<std::string> TransposedWeights(const ir::Module& module) {
  const FunctionNode& main = module.Main();
  const ExprSet found = FoundIn(main);
  std::vector<std::string> names;
  for (const Expr& param : main.params) {
    if (found.contains(param)) names.push_back(param.As<ir::VarNode>()->name);
  }
  return names;
}

ir::Module SimplifyFCTranspose(const ir::Module& module, const std::vector<std::string>& weights) {
  if (weights.empty()) return module;
  const FunctionNode& main = module.Main();
  const ExprSet found = FoundIn(main);
  std::vector<Expr> params = main.params;
  std::unordered_map<Expr, Expr, ir::ExprHash> transposed;
  for (const std::string& name : weights) {
    const auto param = std::find_if(main.params.begin(), main.params.end(), [&](const Expr& p) {
      return p.As<ir::VarNode>()->name == name;
    });
    if (param == main.params.end()) {
      std::vector<std::string> names;
      for (const Expr& p : main.params) names.push_back(p.As<ir::VarNode>()->name);
      throw NotFound(StrCat("SimplifyFCTranspose: @main has no parameter %", name,
                            DidYouMean("; ", name, names)));
    }
    if (!found.contains(*param))
      throw InvalidArgument(StrCat("SimplifyFCTranspose: %", name,
                                   " is not read by transposes of weights of nn.dense alone"))
          .At(param->span());
    const Expr var = MakeTransposed(*param);
    params[static_cast<std::size_t>(param - main.params.begin())] = var;
    transposed.emplace(*param, var);
  }
  const Expr body = ir::RewritePostOrder(main.body, [&](const Expr& original, const Expr& rebuilt) {
    const Expr var = TransposedVar(original);
    const auto at = var ? transposed.find(var) : transposed.end();
    return at == transposed.end() ? rebuilt : at->second;
  });
  return module.With("main", ir::Function::Make(std::move(params), body, main.ret_type, main.attrs,
                                                module.Get("main").span()));
}

void TransposeWeights(const std::vector<std::string>& weights,
                      std::map<std::string, NDArray>* values) {
  for (const std::string& name : weights) {
    const auto value = values->find(name);
    if (value != values->end() && value->second.shape().size() != 2)
      throw InvalidArgument(StrCat("SimplifyFCTranspose: the value of ", name, " has ",
                                   value->second.shape().size(), " axes, and a weight has 2"));
  }
  for (const std::string& name : weights) {
    const auto value = values->find(name);
    if (value == values->end()) continue;
    const NDArray& given = value->second;
    const std::int64_t rows = given.shape()[0], columns = given.shape()[1];
    NDArray turned = NDArray::Empty({columns, rows}, given.dtype());
    const std::size_t bytes = given.dtype().bytes();
    const auto* from = static_cast<const std::byte*>(given.raw());
    auto* to = static_cast<std::byte*>(turned.raw());
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c)
        std::copy_n(from + static_cast<std::size_t>(r * columns + c) * bytes, bytes,
                    to + static_cast<std::size_t>(c * rows + r) * bytes);
    }
    values->erase(value);
    values->emplace(NameOfTransposed(name), std::move(turned));
  }
}

}  // namespace tenon::passes
