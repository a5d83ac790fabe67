#include "tenon/loop/tile_position.h"

#include "tenon/loop/guards.h"
#include "tenon/loop/simplify.h"

namespace tenon::loop {

std::optional<Position> PositionUnder(const Expr& condition, const Var& var) {
  const auto end = ToLinearCondition(condition, var);
  if (!end || end->coefficient != 1) return std::nullopt;
  Linear rest = ToLinear(end->rest, {});
  const std::int64_t extent = 1 - rest.constant;
  rest.constant = 0;
  return Position{rest.ToExpr(), extent};
}

Expr ShiftOf(const Position& position, std::int64_t length) {
  return Min(Expr(0), Expr(position.extent - length) - position.at);
}

}  // namespace tenon::loop
