// Modules after fusion, and the kernels in them.
//
//   Kernels(Fused("def @main(%x: Tensor[(4), float32]) { exp(tanh(%x)) }"));  // {"tanh exp"}
#ifndef TENON_TESTS_PASSES_FUSED_H_
#define TENON_TESTS_PASSES_FUSED_H_

#include <string>
#include <string_view>
#include <vector>

#include "tenon/ir/verify.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {

inline ir::Module Fused(std::string_view text, const FuseOptions& options = {}) {
  const ir::Module fused = FuseOps(InferType(Parse(text)), options);
  ir::VerifyModule(fused);
  return fused;
}

// The operators of each kernel, producers first.
inline std::vector<std::string> Kernels(const ir::Module& module) {
  std::vector<std::string> kernels;
  const auto is_primitive = [](const ir::Expr& e) {
    const auto* function = e.As<ir::FunctionNode>();
    return function != nullptr && function->is_primitive();
  };
  const auto add = [&](const ir::Expr& e) {
    if (!is_primitive(e)) return;
    std::vector<std::string> names;
    ir::VisitPostOrder(e, [&](const ir::Expr& inner) {
      const auto* call = inner.As<ir::CallNode>();
      if (call != nullptr && call->op() != nullptr) names.push_back(call->op()->name);
    });
    kernels.push_back(StrJoin(names, " "));
  };
  for (const auto& [name, function] : module.functions())
    ir::VisitPostOrder(function, add, [&](const ir::Expr& e) { return !is_primitive(e); });
  return kernels;
}

}  // namespace tenon::passes

#endif  // TENON_TESTS_PASSES_FUSED_H_
