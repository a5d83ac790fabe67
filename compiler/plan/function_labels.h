// The labels by which people and tools know a fused function, whatever its extents. Only files of
// compiler/ include this header.
//
//   LabelsOf(fn (%p0) { nn.relu(nn.conv2d(%p0, ...)) }).name;  // "fused_nn_conv2d_nn_relu"
#ifndef TENON_COMPILER_PLAN_FUNCTION_LABELS_H_
#define TENON_COMPILER_PLAN_FUNCTION_LABELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::compiler {

struct FunctionLabels {
  std::string name;                  // NameOfFunction
  std::vector<std::string> origins;  // the places of its calls, each once
  std::uint64_t hash = 0;            // structural
};

// Requires a function.
FunctionLabels LabelsOf(const ir::Expr& function);

// "fused_nn_conv2d_add" for a fused function: its operators in order of execution. Names of more
// than 80 characters are cut and end in a hash.
std::string NameOfFunction(const ir::FunctionNode& function);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_FUNCTION_LABELS_H_
