// The kernels of a fused module of symbolic extents, lowered: one for all calls of functions that
// are equal up to their extents.
//
//   SymbolicKernels kernels = LowerSymbolicKernels(fused, strategy);
//   kernels.list[0].choice;  kernels.uses.at(call->callee).kernel;
#ifndef TENON_COMPILER_SYMBOLIC_SYMBOLIC_KERNELS_H_
#define TENON_COMPILER_SYMBOLIC_SYMBOLIC_KERNELS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/compiler/plan/function_labels.h"
#include "tenon/support/extent_condition.h"

namespace tenon::compiler {

// The kernel of a fused function, and what its variables stand for there.
struct SymbolicUse {
  int kernel = -1;
  std::map<std::string, Dim> extents;
  std::vector<std::pair<Dim, Dim>> assumed_equal;  // where the kernel is right
  // Variables of which a plan may give it 0. If one of the first kind is 0, no result has elements
  // and the kernel is not called; its code takes 0 of those of the second kind.
  std::set<std::string> emptying, may_be_zero;
  FunctionLabels labels;

  // The least value that a plan may give it of one of its variables.
  std::int64_t LeastOf(const std::string& variable) const {
    return emptying.contains(variable) || may_be_zero.contains(variable) ? 0 : 1;
  }
};

struct SymbolicKernels {
  // Whether the kernel is generated code, which all extents share.
  bool HasCode(int kernel) const;
  // The variables whose values the kernel is called with, in order.
  std::vector<std::string> VariablesOf(int kernel) const;

  std::vector<LoweredKernel> list;
  // Uses by fused function. A function that can be computed only for numbers is not there.
  std::unordered_map<ir::Expr, SymbolicUse, ir::ExprHash> uses;
  // What the operators of all functions need of the model's variables.
  std::vector<ExtentCondition> conditions;
  // An operator whose type relation does not say all that it needs of the variables. Empty: there
  // is none.
  std::string silent_op;
};

// Adds those that are not there yet.
void AddConditions(const std::vector<ExtentCondition>& more, std::vector<ExtentCondition>* all);

// `fused` must have checked types. No kernel is a library's, since it would be made again for each
// shape. Throws what making kernels throws, and Unimplemented for a value of unknown extents,
// naming the operator.
SymbolicKernels LowerSymbolicKernels(const ir::Module& fused, strategies::StrategyOptions strategy);

// A node for each use of a kernel, without values, by kernel.
std::vector<runtime::Node> NodesOf(const SymbolicKernels& kernels);

// The kernels and conditions with these nodes. There are no values, constants and module.
Lowered ListedKernels(SymbolicKernels kernels);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_SYMBOLIC_KERNELS_H_
