// A fused function with variables of its own for the extents of its parameters. So calls with other
// extents of the model share its kernel, and its code knows no more than it needs.
//
//   LocalFunction local = WithLocalExtents(function);
//   // (floordiv(w - 1, 4) + 1, 64) becomes (d0, 64), with d0 of floordiv(w - 1, 4) + 1
#ifndef TENON_COMPILER_SYMBOLIC_LOCAL_EXTENTS_H_
#define TENON_COMPILER_SYMBOLIC_LOCAL_EXTENTS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::compiler {

struct LocalFunction {
  ir::Expr function;                   // with checked types
  std::map<std::string, Dim> extents;  // by variable, in those of the model
  // Also in variables of the model: the function is right if each pair is equal.
  std::vector<std::pair<Dim, Dim>> assumed_equal;
};

// Its variables are at least 1. If types do not follow from such variables, as when one extent is
// the product of others, each variable of the model has one of its own.
LocalFunction WithLocalExtents(const ir::Expr& function);

// The name that says of a variable that it may be 0.
std::string NameWithZero(const std::string& variable);

// `local`, which was made of `function`, with names that say of those variables that they may be 0
// ("#d0"). Nothing if other types follow.
std::optional<LocalFunction> WithZeros(const ir::Expr& function, const LocalFunction& local,
                                       const std::set<std::string>& variables);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_LOCAL_EXTENTS_H_
