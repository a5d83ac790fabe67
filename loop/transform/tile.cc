#include "tenon/loop/transform/tile.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/alignment.h"

namespace tenon::loop {

std::optional<Tile> TileOf(const Stmt& stmt) {
  Tile tile;
  tile.rows = stmt.As<ForNode>();
  if (tile.rows == nullptr || tile.rows->for_kind != ForKind::kUnrolled) return std::nullopt;
  tile.lanes = tile.rows->body.As<ForNode>();
  if (tile.lanes == nullptr || tile.lanes->for_kind != ForKind::kVectorized) return std::nullopt;
  const auto* row_count = tile.rows->extent.As<IntImmNode>();
  const auto* lane_count = tile.lanes->extent.As<IntImmNode>();
  tile.guard = tile.lanes->body.As<IfNode>();
  if (tile.guard != nullptr && tile.guard->else_case) return std::nullopt;
  tile.store = (tile.guard == nullptr ? tile.lanes->body : tile.guard->then_case).As<StoreNode>();
  if (row_count == nullptr || lane_count == nullptr || tile.store == nullptr) return std::nullopt;
  tile.row_count = row_count->value;
  tile.lane_count = lane_count->value;
  return tile;
}

namespace {

// A serial loop from 0 whose extent is constant.
const ForNode* AsSerial(const Stmt& stmt, std::int64_t* extent) {
  const auto* loop = stmt.As<ForNode>();
  const auto* count = loop == nullptr ? nullptr : loop->extent.As<IntImmNode>();
  if (count == nullptr || loop->for_kind != ForKind::kSerial || !IsConstInt(loop->min, 0))
    return nullptr;
  *extent = count->value;
  return loop;
}

}  // namespace

std::optional<TileNest> TileNestOf(const Stmt& stmt) {
  TileNest nest;
  nest.sources = AsSerial(stmt, &nest.source_count);
  if (nest.sources == nullptr) return std::nullopt;
  nest.results = AsSerial(nest.sources->body, &nest.result_count);
  if (nest.results == nullptr) return std::nullopt;
  const std::optional<Tile> tile = TileOf(nest.results->body);
  if (!tile || !IsConstInt(tile->rows->min, 0) || !IsConstInt(tile->lanes->min, 0))
    return std::nullopt;
  static_cast<Tile&>(nest) = *tile;
  return nest;
}

bool StreamsLines(const Tile& tile) {
  const auto element = static_cast<std::int64_t>(tile.store->buffer->dtype.bytes());
  return tile.store->store_kind == StoreKind::kStreaming &&
         tile.lane_count * element == kCacheLineBytes;
}

std::vector<Expr> Tile::Gathers() const {
  std::vector<Expr> gathers;  // what x * f(x) reads has two nodes
  VisitExpr(store->value, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (load == nullptr || !UsesVar(e, lanes->var)) return;
    const Linear offset = ToLinear(OffsetOf(load->buffer, load->indices), {});
    if (offset.CoefficientOf(rows->var) == 1 &&
        std::none_of(gathers.begin(), gathers.end(),
                     [&](const Expr& other) { return StructuralEqual(e, other); }))
      gathers.push_back(e);
  });
  return gathers;
}

Stmt FetchOfNextRows(const TileNest& nest) {
  std::vector<Stmt> fetches;
  for (const Expr& gather : nest.Gathers()) {
    const LoadNode& load = *gather.As<LoadNode>();
    const auto element = static_cast<std::int64_t>(load.buffer->dtype.bytes());
    const std::int64_t tiles_in_line =
        std::clamp(kCacheLineBytes / (element * nest.row_count), std::int64_t{1}, nest.lane_count);
    const std::int64_t share = nest.lane_count / tiles_in_line;
    const Expr in_line = FloorMod(nest.sources->var, tiles_in_line);
    for (std::int64_t i = 0; i < share; ++i) {
      for (std::int64_t line = 0; line < nest.row_count; line += kCacheLineBytes / element) {
        const ExprMap next = {{nest.results->var, nest.results->var + nest.result_count},
                              {nest.lanes->var, in_line * share + i},
                              {nest.sources->var, nest.sources->var - in_line},
                              {nest.rows->var, line}};
        std::vector<Expr> indices;
        for (const Expr& index : load.indices) indices.push_back(Substitute(index, next));
        fetches.push_back(
            Evaluate(Call(Intrinsic::kPrefetchLater, {Load(load.buffer, std::move(indices))})));
      }
    }
  }
  return Seq(std::move(fetches));
}

std::optional<Position> PositionUnder(const Expr& condition, const Var& var) {
  const auto end = ToLinearCondition(condition, var);
  if (!end || end->coefficient != 1) return std::nullopt;
  Linear rest = ToLinear(end->rest, {});
  const std::int64_t extent = 1 - rest.constant;
  rest.constant = 0;
  return Position{rest.ToExpr(), extent};
}

namespace {

bool SharesVars(const Expr& a, const Expr& b) {
  std::unordered_set<const ExprNode*> vars;
  VisitExpr(a, [&](const Expr& e) {
    if (e.kind() == ExprKind::kVar) vars.insert(e.get());
  });
  bool shares = false;
  VisitExpr(b, [&](const Expr& e) { shares = shares || vars.contains(e.get()); });
  return shares;
}

// The divisor of a quotient or remainder by a positive constant, else 0.
std::int64_t DivisorOf(const Expr& e, BinaryOp op) {
  const auto* n = e.As<BinaryNode>();
  const auto* divisor = n != nullptr && n->op == op ? n->b.As<IntImmNode>() : nullptr;
  return divisor == nullptr || divisor->value <= 0 ? 0 : divisor->value;
}

// Whether `other` tells the value of `e`, as a / 2 tells that of a / 6 and of a / 2 % 3.
bool IsToldBy(const Expr& e, const Expr& other) {
  if (StructuralEqual(e, other)) return true;
  const std::int64_t quotient = DivisorOf(e, BinaryOp::kFloorDiv);
  const std::int64_t of_other = DivisorOf(other, BinaryOp::kFloorDiv);
  if (quotient == 0 && DivisorOf(e, BinaryOp::kFloorMod) == 0) return false;
  const Expr& dividend = e.As<BinaryNode>()->a;
  return IsToldBy(dividend, other) || (quotient > 0 && of_other > 0 && quotient % of_other == 0 &&
                                       StructuralEqual(dividend, other.As<BinaryNode>()->a));
}

}  // namespace

bool MovesWith(const Linear& offset, const Linear& place, const Var& var,
               const Position& position) {
  const std::int64_t step = offset.CoefficientOf(var);
  const Linear at = ToLinear(position.at, {});
  for (const auto& [term, coefficient] : at.terms) {
    if (offset.CoefficientOf(term) != step * coefficient) return false;
  }
  const auto is_of_place = [&](const Expr& term) {
    return std::any_of(place.terms.begin(), place.terms.end(), [&](const auto& of_place) {
      const Expr& other = of_place.first;
      return !UsesVar(other, var) && at.CoefficientOf(other) == 0 && IsToldBy(term, other);
    });
  };
  return std::all_of(offset.terms.begin(), offset.terms.end(), [&](const auto& of_offset) {
    const Expr& term = of_offset.first;
    if (term.same_as(var) || at.CoefficientOf(term) != 0) return true;
    return !UsesVar(term, var) && (!SharesVars(term, position.at) || is_of_place(term));
  });
}

Expr ShiftOf(const Position& position, std::int64_t length) {
  return Min(Expr(0), Expr(position.extent - length) - position.at);
}

}  // namespace tenon::loop
