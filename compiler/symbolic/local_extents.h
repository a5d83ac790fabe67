// A fused function with variables of its own for the extents of its parameters. So calls with other
// extents of the model share its kernel, and its code knows no more than it needs.
//
//   LocalFunction local = WithLocalExtents(function);
//   // (floordiv(w - 1, 4) + 1, 64) becomes (d0, 64), with d0 of floordiv(w - 1, 4) + 1
#ifndef TENON_COMPILER_SYMBOLIC_LOCAL_EXTENTS_H_
#define TENON_COMPILER_SYMBOLIC_LOCAL_EXTENTS_H_

#include <map>
#include <string>

#include "tenon/ir/expr.h"

namespace tenon::compiler {

struct LocalFunction {
  ir::Expr function;                   // with checked types
  std::map<std::string, Dim> extents;  // by variable, in those of the model
  // Also in variables of the model: the function is right if each pair is equal.
  std::vector<std::pair<Dim, Dim>> assumed_equal;
};

// If types do not follow from such variables, as when one extent is the product of others, the
// function stays as it is and its variables are the model's.
LocalFunction WithLocalExtents(const ir::Expr& function);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_LOCAL_EXTENTS_H_
