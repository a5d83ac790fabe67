// FuseOpsByPattern: moves calls that match a pattern into functions for a code generator.
//
// Each group becomes @fused_<operators> with Composite=<pattern name> and Primitive=1; docs/
// patterns.md has the rules of matching. Functions with Primitive, Composite or Codegen stay.
//
//   FuseOpsByPattern(module, {{"dnnl.conv2d_relu", relu(conv)}}, {.bind_constants = true});
#ifndef TENON_PASSES_PATTERN_FUSE_OPS_BY_PATTERN_H_
#define TENON_PASSES_PATTERN_FUSE_OPS_BY_PATTERN_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/ops/relax_names.h"
#include "tenon/passes/pattern/pattern.h"

namespace tenon::passes {

// A value of a match that is used outside the match.
struct EscapingValue {
  ir::Expr value;
  std::vector<ir::Expr> uses;
};
struct PatternCheckContext {
  ir::Expr matched_expr;                           // what the whole pattern stands for
  std::map<std::string, ir::Expr> annotated_expr;  // by name, without the parts not used
  std::vector<ir::Expr> matched;                   // the group, producers first
  std::vector<EscapingValue> escaping;             // except for matched_expr
  // The readers of each member, inside the group and outside.
  std::unordered_map<ir::Expr, std::vector<ir::Expr>, ir::ExprHash> uses;
};

struct FusionPattern {
  std::string name;  // "dnnl.conv2d_relu": the code generator, a dot, anything
  Pattern pattern;
  std::map<std::string, Pattern> annotations = {};
  // False refuses the match; null accepts all.
  std::function<bool(const PatternCheckContext&)> check = nullptr;
  // Further attributes of the function; null for none.
  std::function<ir::FunctionAttrs(const PatternCheckContext&)> attrs = nullptr;
};

struct FusePatternOptions {
  bool bind_constants = false;    // constants stay in the function; else only those of rank 0
  bool annotate_codegen = false;  // each in a function @..._<codegen> with Codegen, global_symbol
  std::vector<std::string> entry_functions = {};  // only these; empty: all
  // kRelax: @fused_relax_nn_conv2d_relax_nn_relu instead of @fused_nn_conv2d_nn_relu. Nothing: as
  // in the text that the module came from.
  std::optional<ops::OperatorNames> names = std::nullopt;
};

// Throws InvalidArgument for a group that reads what depends on it, NotFound for an unknown entry.
ir::Module FuseOpsByPattern(const ir::Module& module, const std::vector<FusionPattern>& patterns,
                            const FusePatternOptions& options = {});

}  // namespace tenon::passes

#endif  // TENON_PASSES_PATTERN_FUSE_OPS_BY_PATTERN_H_
