// A part of a program lowered ahead of time: its plan for all values of its variables, and further
// plans for values that this one does not take. Only files of compiler/control include this header.
//
//   for (LoweredCase& of_part : LowerCases(part, strategy, code)) ...
#ifndef TENON_COMPILER_CONTROL_PART_CASES_H_
#define TENON_COMPILER_CONTROL_PART_CASES_H_

#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/jit/kernel.h"

namespace tenon::compiler {

struct LoweredCase {
  Dim::Values known;
  Lowered lowered;
};

// `part` is a function of tensors. The first case has no known values. Throws what lowering throws
// for that case. Other cases that cannot be lowered are left out.
std::vector<LoweredCase> LowerCases(const ir::Expr& part,
                                    const strategies::StrategyOptions& strategy,
                                    const jit::CompileOptions& code);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_CONTROL_PART_CASES_H_
