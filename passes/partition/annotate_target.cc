#include "tenon/passes/partition/annotate_target.h"

#include "tenon/ir/visit.h"
#include "tenon/passes/fusion/groups.h"
#include "tenon/passes/fusion/outline_groups.h"
#include "tenon/passes/partition/marked_regions.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

class Annotator {
 public:
  Annotator(const ir::Module& module, const std::vector<CodeGenerator>& generators,
            bool include_non_call_ops)
      : module_(module), generators_(generators), include_non_call_ops_(include_non_call_ops) {}

  Expr Annotate(const Expr& function) const {
    const MarkedRegions given = ReadMarks(function);
    MarkedRegions marked;
    marked.function = given.function;
    ir::VisitPostOrder(
        given.function,
        [&](const Expr& e) {
          const std::string target = Target(e, given, marked);
          if (target.empty()) return;
          marked.region_of.emplace(e, marked.targets.size());
          marked.targets.push_back(target);
        },
        ir::OutsideLiterals(given.function));
    return WriteMarks(marked);
  }

 private:
  // Empty when the value is not marked.
  std::string Target(const Expr& e, const MarkedRegions& given, const MarkedRegions& marked) const {
    const auto* call = e.As<ir::CallNode>();
    if (call == nullptr && (!include_non_call_ops_ ||
                            (e.kind() != ExprKind::kTuple && e.kind() != ExprKind::kTupleGetItem)))
      return "";
    const std::string* known = given.TargetOf(e);
    if (known != nullptr && *known != kDefaultTarget) return *known;
    return call != nullptr ? TargetOfCall(e, *call) : CommonTarget(e, marked);
  }

  std::string TargetOfCall(const Expr& e, const ir::CallNode& call) const {
    const Expr composite = CompositeOf(module_, call.callee);
    for (const CodeGenerator& generator : generators_) {
      const bool takes = composite              ? CodegenOf(composite) == generator.name
                         : call.op() != nullptr ? generator.supports && generator.supports(e)
                                                : false;
      if (takes) return generator.name;
    }
    return kDefaultTarget;
  }

  static std::string CommonTarget(const Expr& e, const MarkedRegions& marked) {
    const std::string* common = nullptr;
    for (const Expr& child : ir::Children(e)) {
      const std::string* target = marked.TargetOf(child);
      if (target == nullptr || (common != nullptr && *common != *target)) return kDefaultTarget;
      common = target;
    }
    return common == nullptr ? kDefaultTarget : *common;
  }

  const ir::Module& module_;
  const std::vector<CodeGenerator>& generators_;
  const bool include_non_call_ops_;
};

}  // namespace

ir::Module AnnotateTarget(const ir::Module& module, const std::vector<CodeGenerator>& generators,
                          bool include_non_call_ops) {
  for (const CodeGenerator& generator : generators) {
    if (generator.name.empty() || generator.name == kDefaultTarget)
      throw InvalidArgument(StrCat("a code generator is named \"", generator.name,
                                   "\"; its name must not be empty, and \"default\" is what no "
                                   "code generator takes"));
  }
  const Annotator annotator(module, generators, include_non_call_ops);
  return module.Map([&](const Expr& function) {
    return IsGroup(*function.As<ir::FunctionNode>()) ? function : annotator.Annotate(function);
  });
}

}  // namespace tenon::passes
