#include "tenon/strategies/lower/symbol_vars.h"

#include "tenon/support/error.h"
#include "tenon/te/math.h"

namespace tenon::strategies {

te::Expr SymbolVars::ExprOf(const Dim& dim) {
  if (dim.is_static()) return dim.value();
  if (dim.is_any())
    throw Unimplemented("the extents of a value do not follow from those of the inputs");
  const auto of_atom = [&](const DimAtom& atom) -> te::Expr {
    switch (atom.kind) {
      case DimAtomKind::kSymbol:
        return vars_.try_emplace(atom.text, atom.text).first->second;
      case DimAtomKind::kFloorDiv:
        return te::FloorDiv(ExprOf(atom.a), ExprOf(atom.b));
      case DimAtomKind::kMax:
        return te::Max(ExprOf(atom.a), ExprOf(atom.b));
      case DimAtomKind::kMin:
        return te::Min(ExprOf(atom.a), ExprOf(atom.b));
    }
    return {};
  };
  te::Expr sum;
  for (const Dim::Term& term : dim.terms()) {
    te::Expr product;
    for (const DimAtomRef& atom : term.atoms)
      product = product.defined() ? product * of_atom(*atom) : of_atom(*atom);
    if (!product.defined()) {
      product = term.coefficient;
    } else if (term.coefficient != 1) {
      product = product * te::Expr(term.coefficient);
    }
    sum = sum.defined() ? sum + product : product;
  }
  return sum;
}

std::vector<te::Expr> SymbolVars::ExprsOf(const std::vector<Dim>& dims) {
  std::vector<te::Expr> exprs;
  for (const Dim& dim : dims) exprs.push_back(ExprOf(dim));
  return exprs;
}

}  // namespace tenon::strategies
