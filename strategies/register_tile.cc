// The micro-kernel of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
// ACM TOMS 34(3), 2008: a block of results in registers, one vector of the right operand and one
// broadcast scalar of the left one for each multiply-add.
#include "tenon/strategies/register_tile.h"

#include <optional>
#include <string_view>

namespace tenon::strategies {
namespace {

using loop::Expr;
using schedule::Stage;
using te::IterVar;

constexpr std::size_t kTileAxes = 3;
constexpr std::int64_t kVectorBytes = 64;
// Steps of a lone reduction that share one loop test.
constexpr std::int64_t kUnrolledSteps = 4;

std::int64_t ConstantOf(const Expr& e) {
  const auto* imm = e.As<loop::IntImmNode>();
  return imm == nullptr ? 0 : imm->value;
}

// Which axis of the reader a grid index moves along, and how many of its iterations are one block.
struct GridIndex {
  std::size_t axis;
  std::int64_t block;
};

std::optional<std::size_t> AxisOf(const Expr& e, const std::vector<IterVar>& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].var.same_as(e)) return i;
  }
  return std::nullopt;
}

std::optional<std::vector<GridIndex>> MatchGrid(const std::vector<Expr>& indices,
                                                const std::vector<IterVar>& axes) {
  std::vector<GridIndex> grid;
  std::vector<bool> used(axes.size(), false);
  for (std::size_t g = 0; g + kTileAxes < indices.size(); ++g) {
    if (loop::IsConstInt(indices[g], 0)) continue;
    const auto* quotient = indices[g].As<loop::BinaryNode>();
    const bool divides = quotient != nullptr && quotient->op == loop::BinaryOp::kFloorDiv &&
                         ConstantOf(quotient->b) > 0;
    const auto axis = AxisOf(divides ? quotient->a : indices[g], axes);
    if (!axis || used[*axis]) return std::nullopt;
    used[*axis] = true;
    grid.push_back({*axis, divides ? ConstantOf(quotient->b) : 1});
  }
  return grid;
}

void VectorizeLast(Stage& reader, const IterVar& axis, std::int64_t extent) {
  const std::int64_t lanes =
      kVectorBytes / static_cast<std::int64_t>(reader.op()->outputs[0]->dtype.bytes());
  if (extent % lanes != 0 || extent == 0) return;
  reader.Vectorize(extent == lanes ? axis : reader.Split(axis, lanes).second);
}

}  // namespace

bool IsRegisterTile(const te::OperationNode& op) { return op.tag == kRegisterTile; }

void ScheduleTile(Stage& tile) {
  const te::OperationNode& op = *tile.op();
  const std::size_t grid = op.axes.size() - kTileAxes;
  std::vector<IterVar> order(op.reduce_axes);
  if (order.size() == 1 && ConstantOf(order[0].extent) % kUnrolledSteps == 0 &&
      ConstantOf(order[0].extent) > kUnrolledSteps) {
    const auto [steps, step] = tile.Split(order[0], kUnrolledSteps);
    tile.Unroll(step);
    order = {steps, step};
  }
  order.insert(order.end(), op.axes.begin() + static_cast<std::ptrdiff_t>(grid), op.axes.end());
  tile.Reorder(order);
  tile.Unroll(op.axes[grid]);
  tile.Unroll(op.axes[grid + 1]);
  tile.Vectorize(op.axes[grid + 2]);
}

bool ScheduleByTiles(Stage& reader, Stage& tile, const std::vector<Expr>& indices, bool parallel) {
  const std::vector<IterVar> axes = reader.op()->axes;
  const auto grid = MatchGrid(indices, axes);
  if (!grid || grid->empty()) return false;
  std::vector<IterVar> outer;
  std::vector<std::optional<IterVar>> inner(axes.begin(), axes.end());
  std::int64_t last_extent = axes.empty() ? 0 : ConstantOf(axes.back().extent);
  for (const GridIndex& index : *grid) {
    const IterVar& axis = axes[index.axis];
    if (index.block == 1) {
      outer.push_back(axis);
      inner[index.axis].reset();
    } else {
      const auto [blocks, within] = reader.Split(axis, index.block);
      outer.push_back(blocks);
      inner[index.axis] = within;
      if (index.axis + 1 == axes.size()) last_extent = std::min(last_extent, index.block);
    }
  }
  std::vector<IterVar> order = outer;
  for (const auto& axis : inner) {
    if (axis) order.push_back(*axis);
  }
  reader.Reorder(order);
  if (inner.back()) VectorizeLast(reader, *inner.back(), last_extent);
  IterVar place = outer[0];
  for (std::size_t i = 1; i < outer.size(); ++i) place = reader.Fuse(place, outer[i]);
  if (parallel) reader.Parallel(place);
  tile.ComputeAt(reader, place);
  ScheduleTile(tile);
  return true;
}

}  // namespace tenon::strategies
