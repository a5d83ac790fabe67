// AnnotateTarget: marks the calls that code generators take.
//
// Each call gets compiler_begin on its inputs and compiler_end on its result, with the name of the
// first generator that takes it, or "default". A composite belongs to the generator that the text
// before the first dot of Composite names. Tuples and projections go with their inputs when these
// agree. Existing marks take precedence, so a second run with other generators adds to the first.
// Needs checked types and keeps them.
//
//   AnnotateTarget(module, {{"npu", [](const Expr& call) { return CanRun(call); }}});
#ifndef TENON_PASSES_PARTITION_ANNOTATE_TARGET_H_
#define TENON_PASSES_PARTITION_ANNOTATE_TARGET_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

struct CodeGenerator {
  std::string name;
  // Whether it takes a call of an operator; null: it takes only composites.
  std::function<bool(const ir::Expr& call)> supports;
};

// Throws InvalidArgument for a generator without a name or named "default".
ir::Module AnnotateTarget(const ir::Module& module, const std::vector<CodeGenerator>& generators,
                          bool include_non_call_ops = true);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PARTITION_ANNOTATE_TARGET_H_
