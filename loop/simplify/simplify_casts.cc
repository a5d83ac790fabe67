#include "tenon/loop/simplify/simplify_casts.h"

namespace tenon::loop {

bool Holds(DataType to, DataType from) {
  const DataType a = to.element(), b = from.element();
  if (a == b) return true;
  if (b.is_bool()) return true;
  if (a.is_bool()) return false;
  if (a.is_float() && b.is_float()) return a.bits() > b.bits();
  if (a.is_float() || b.is_float()) return false;
  if (a.is_int() == b.is_int()) return a.bits() > b.bits();
  return a.is_int() && a.bits() > b.bits();
}

std::optional<Expr> SimplifyCast(const Expr& cast) {
  const auto* outer = cast.As<CastNode>();
  const auto* inner = outer == nullptr ? nullptr : outer->value.As<CastNode>();
  if (inner == nullptr) return std::nullopt;
  const DataType through = inner->type, from = inner->value.dtype();
  if (through.is_bool() || !Holds(through, from)) return std::nullopt;
  if (through.is_float() != from.is_float()) return std::nullopt;
  return Cast(cast.dtype(), inner->value);
}

}  // namespace tenon::loop
