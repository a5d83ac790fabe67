// The variables of tensor expressions that stand for the variables of extents.
//
//   SymbolVars symbols;
//   te::Tensor x = te::Placeholder({symbols.ExprOf(Dim::Symbol("n") * 2)}, Float32);
#ifndef TENON_STRATEGIES_LOWER_SYMBOL_VARS_H_
#define TENON_STRATEGIES_LOWER_SYMBOL_VARS_H_

#include <map>
#include <string>
#include <vector>

#include "tenon/ir/type.h"
#include "tenon/te/tensor.h"

namespace tenon::strategies {

class SymbolVars {
 public:
  // Equal extents give equal expressions. Throws Unimplemented for "?".
  te::Expr ExprOf(const Dim& dim);
  std::vector<te::Expr> ExprsOf(const std::vector<Dim>& dims);

 private:
  std::map<std::string, te::Var> vars_;
};

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_LOWER_SYMBOL_VARS_H_
