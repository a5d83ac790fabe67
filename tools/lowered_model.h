// A model up to code generation, for tenon compile: one plan, or a program.
#ifndef TENON_TOOLS_LOWERED_MODEL_H_
#define TENON_TOOLS_LOWERED_MODEL_H_

#include "tenon/compiler/lower_program.h"
#include "tenon/tools/model.h"

namespace tenon::tools {

// What for.
enum class LoweringOf {
  kPlan,     // of one plan alone
  kKernels,  // to be read; it may have none
  kWritten,  // a plan or a program, to be saved or exported
};

struct LoweredModel {
  LoweredProgram program;  // of a plan its `whole` alone
  bool is_program = false;
};

// Throws what lowering refuses.
LoweredModel LowerModel(const ir::Module& module, LoweringOf goal, const CompileOptions& options);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_LOWERED_MODEL_H_
