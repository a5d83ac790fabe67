#include "tenon/compiler/partition_onednn.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>

#include "tenon/compiler/code_generator.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/known_ops.h"
#include "tenon/strategies/strategy.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

using ir::Expr;
using passes::IsConstant;
using passes::IsOp;
using passes::Pattern;
using passes::PatternCheckContext;
using passes::Wildcard;

// Calls, producers first, as a function of what they read that gives the last one's value.
Expr FunctionOf(const std::vector<Expr>& calls, const Expr& result_call) {
  std::vector<Expr> params;
  std::vector<ir::Type> types;
  ir::ExprMap values;
  for (const Expr& member : calls) {
    std::vector<Expr> children = ir::Children(member);
    for (Expr& child : children) {
      const auto* constant = child.As<ir::ConstantNode>();
      if (child.kind() == ir::ExprKind::kOp ||
          (constant != nullptr && constant->data.shape().empty()))
        continue;
      const auto known = values.find(child);
      if (known == values.end()) {
        params.push_back(
            ir::Var::MakeChecked(StrCat("p", params.size()), child.checked_type(), child.span()));
        types.push_back(child.checked_type());
        values.emplace(child, params.back());
        child = params.back();
      } else {
        child = known->second;
      }
    }
    values[member] = ir::WithChildren(member, std::move(children), member.checked_type());
  }
  const ir::Type& result = result_call.checked_type();
  return ir::Function::Make(std::move(params), values.at(result_call), result, {},
                            result_call.span(), ir::FuncType(std::move(types), result));
}

bool OneDnnTakesCalls(const std::vector<Expr>& calls, const Expr& result) {
  for (const Expr& member : calls) {
    if (!ir::IsStaticTensor(member.checked_type())) return false;
    for (const Expr& child : ir::Children(member)) {
      if (child.kind() != ir::ExprKind::kOp && !ir::IsStaticTensor(child.checked_type()))
        return false;
    }
  }
  const Expr function = FunctionOf(calls, result);
  const strategies::Group group{.function = function.As<ir::FunctionNode>(),
                                .name = "match",
                                .constants = {},
                                .library = strategies::LibraryChoice::kLibrary};
  const ir::CallNode* anchor = group.Anchor();
  const auto* strategy =
      anchor == nullptr ? nullptr : ops::OpOf(*anchor)->Column<strategies::Strategy>();
  if (strategy == nullptr) return false;
  for (const strategies::Implementation& implementation : strategy->implementations) {
    if (implementation.maker == strategies::Maker::kOneDnn) return !implementation.refusal(group);
  }
  return false;
}

bool OneDnnTakes(const PatternCheckContext& context) {
  return context.escaping.empty() && OneDnnTakesCalls(context.matched, context.matched_expr);
}

Pattern Call(const char* op, const Pattern& a, const Pattern& b) { return IsOp(op)(a, b); }

// `x` times a scalar, or divided by one, or neither.
Pattern Scaled(const Pattern& x) {
  return Call("multiply", x, IsConstant()) | Call("divide", x, IsConstant()) | x;
}

struct Activation {
  const char* name;
  Pattern (*apply)(const Pattern& x);
};

constexpr Activation kActivations[] = {
    {"swish", [](const Pattern& x) { return Call("multiply", x, IsOp("sigmoid")(x)); }},
    {"hardswish",
     [](const Pattern& x) {
       const Pattern gate = IsOp("clip")(Call("add", Scaled(x), IsConstant()));
       return Call("multiply", x, Scaled(gate)) | Scaled(Call("multiply", x, gate));
     }},
    {"gelu",
     [](const Pattern& x) {
       const Pattern gate = Call("add", Scaled(IsOp("erf")(Scaled(x))), IsConstant());
       return Scaled(Call("multiply", Scaled(x), Scaled(gate)));
     }},
    {"relu", [](const Pattern& x) { return IsOp("nn.relu")(x); }},
    {"clip", [](const Pattern& x) { return IsOp("clip")(x); }},
    {"sigmoid", [](const Pattern& x) { return IsOp("sigmoid")(x); }},
    {"tanh", [](const Pattern& x) { return IsOp("tanh")(x); }},
    {"", [](const Pattern& x) { return x; }},
};

// A bias or a residual. The reshape of a bias stays outside, where it costs no kernel.
Pattern Sum(const Pattern& x) {
  return Call("nn.bias_add", x, Wildcard()) | Call("add", x, Wildcard());
}

// "dnnl.conv2d" for "nn.conv2d".
std::string CompositeName(std::string_view op) { return StrCat(kOneDnnName, ".", op.substr(3)); }

}  // namespace

std::vector<passes::FusionPattern> OneDnnPatterns() {
  const ops::KnownOps& known = ops::Known();
  std::vector<passes::FusionPattern> table;
  for (int sums = 2; sums >= 0; --sums) {
    for (const Activation& activation : kActivations) {
      for (const Expr& callee :
           {known.conv2d, known.conv2d_transpose, known.dense, known.matmul, known.batch_matmul,
            known.max_pool2d, known.avg_pool2d, known.global_max_pool2d, known.global_avg_pool2d}) {
        const ops::OpDef& anchor = *ops::OpOf(callee);
        Pattern pattern = anchor.num_inputs() == 1 ? IsOp(anchor.name)(Wildcard())
                                                   : IsOp(anchor.name)(Wildcard(), Wildcard());
        std::string name = CompositeName(anchor.name);
        for (int i = 0; i < sums; ++i) {
          pattern = Sum(pattern);
          name += "_add";
        }
        if (activation.name[0] != '\0') StrAppend(&name, "_", activation.name);
        table.push_back({.name = name, .pattern = activation.apply(pattern), .check = OneDnnTakes});
      }
    }
  }
  // For these oneDNN computes only the operator.
  for (const char* name : {"nn.softmax", "nn.log_softmax"})
    table.push_back(
        {.name = CompositeName(name), .pattern = IsOp(name)(Wildcard()), .check = OneDnnTakes});
  table.push_back({.name = CompositeName("nn.layer_norm"),
                   .pattern = IsOp("nn.layer_norm")(Wildcard(), Wildcard(), Wildcard()),
                   .check = OneDnnTakes});
  return table;
}

passes::CodeGenerator OneDnnCodeGenerator() {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return {kOneDnnName, [](const Expr& call) { return OneDnnTakesCalls({call}, call); }};
}

ir::Module PartitionForOneDnn(const ir::Module& module) {
  return PartitionFor(module, kOneDnnName);
}

}  // namespace tenon
