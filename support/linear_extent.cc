#include "tenon/support/linear_extent.h"

namespace tenon {

std::optional<std::int64_t> LinearExtent::ValueAt(std::int64_t extent) const {
  std::int64_t rest = 0;
  if (__builtin_sub_overflow(extent, offset, &rest) || rest % factor != 0) return std::nullopt;
  return rest / factor;
}

std::optional<LinearExtent> AsLinear(const Dim& dim) {
  if (!dim.is_symbolic() || dim.terms().size() > 2) return std::nullopt;
  const Dim::Term& first = dim.terms().front();
  const bool is_variable = first.coefficient >= 1 && first.atoms.size() == 1 &&
                           first.atoms[0]->kind == DimAtomKind::kSymbol;
  const bool has_offset = dim.terms().size() == 2;
  if (!is_variable || (has_offset && !dim.terms().back().atoms.empty())) return std::nullopt;
  return LinearExtent{.symbol = first.atoms[0]->text,
                      .factor = first.coefficient,
                      .offset = has_offset ? dim.terms().back().coefficient : 0};
}

}  // namespace tenon
