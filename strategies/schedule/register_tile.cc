// The micro-kernel of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
// ACM TOMS 34(3), 2008: a block of results in registers, one vector of the right operand and one
// broadcast scalar of the left one for each multiply-add.
#include "tenon/strategies/schedule/register_tile.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/accesses.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"
#include "tenon/te/tensor_intrinsic.h"

namespace tenon::strategies {
namespace {

using loop::Expr;
using schedule::Stage;
using te::IterVar;

// Rows and columns that pay for a transposition in registers.
constexpr std::int64_t kMinSquare = 4;
// Multiply-adds that are written out one after the other. If there are more, LLVM orders them so
// that sums leave their registers.
constexpr std::int64_t kMaxUnrolled = 16 * kMaxUnrolledTerms;
// Steps of a lone reduction that share one loop test.
constexpr std::int64_t kUnrolledSteps = 4;

std::int64_t ConstantOf(const Expr& e) {
  const auto* imm = e.As<loop::IntImmNode>();
  return imm == nullptr ? 0 : imm->value;
}

const te::RegisterTile& HintOf(const te::OperationNode& tile) {
  return std::get<te::RegisterTile>(tile.label.hint);
}

// The neighbouring axes of the reader that a grid index moves along, taken as one, and how many of
// their iterations are one block.
struct GridIndex {
  std::size_t first, last;
  std::int64_t block;
};

// The same where the extent of `last` is an expression.
std::optional<GridIndex> SymbolicAxesOf(const Expr& e, const std::vector<IterVar>& axes,
                                        std::size_t last, std::int64_t block) {
  GridIndex found{last, last, block};
  while (found.first > 0 && loop::UsesVar(e, axes[found.first - 1].var)) --found.first;
  Expr offset = 0;
  for (std::size_t i = found.first; i <= last; ++i) offset = offset * axes[i].extent + axes[i].var;
  return loop::IsConstInt(loop::Simplify(e - offset), 0) ? std::optional(found) : std::nullopt;
}

// The axes first..last of which `e` is the row-major offset.
std::optional<GridIndex> AxesOf(const Expr& e, const std::vector<IterVar>& axes,
                                std::int64_t block) {
  const loop::Linear linear = loop::ToLinear(e, {});
  std::optional<GridIndex> found;
  std::size_t matched = 0;
  std::int64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::int64_t coefficient = linear.CoefficientOf(axes[i].var);
    if (coefficient == 0) {
      // An axis of one element leaves no trace in the offset.
      if (found && ConstantOf(axes[i].extent) != 1) break;
      continue;
    }
    if (coefficient != stride) return std::nullopt;
    if (!found) found = GridIndex{i, i, block};
    found->first = i;
    const auto* extent = axes[i].extent.As<loop::IntImmNode>();
    if (extent == nullptr && i > 0 && loop::UsesVar(e, axes[i - 1].var))
      return SymbolicAxesOf(e, axes, i, block);
    stride *= ConstantOf(axes[i].extent);
    ++matched;
  }
  if (!found || linear.constant != 0 || matched != linear.terms.size()) return std::nullopt;
  return found;
}

// Matches the first `count` indices.
std::optional<std::vector<GridIndex>> MatchGrid(const std::vector<Expr>& indices, std::size_t count,
                                                const std::vector<IterVar>& axes) {
  std::vector<GridIndex> grid;
  std::vector<bool> used(axes.size(), false);
  std::vector<Expr> rest;
  for (std::size_t g = 0; g < count; ++g) {
    if (loop::IsConstInt(indices[g], 0)) continue;
    const auto* quotient = indices[g].As<loop::BinaryNode>();
    const bool divides = quotient != nullptr && quotient->op == loop::BinaryOp::kFloorDiv &&
                         ConstantOf(quotient->b) > 0;
    const auto index =
        AxesOf(divides ? quotient->a : indices[g], axes, divides ? ConstantOf(quotient->b) : 1);
    if (!index) {
      // Computed whole inside the loops over the others.
      rest.push_back(indices[g]);
      continue;
    }
    for (std::size_t i = index->first; i <= index->last; ++i) {
      if (used[i]) return std::nullopt;
      used[i] = true;
    }
    grid.push_back(*index);
  }
  for (const Expr& e : rest) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (used[i] && loop::UsesVar(e, axes[i].var)) return std::nullopt;
    }
  }
  return grid;
}

// The two loops along memory, `inner` without those of one iteration: in vectors, of which the last
// may be masked, and where the inner one is a single vector, unrolled, so that TransposeTiles finds
// the square. Where the reader calls vector math, whole vectors are unrolled for
// StageTransposedMath.
void VectorizeInner(Stage& reader, const te::OperationNode& tile, const std::vector<IterVar>& inner,
                    const std::vector<std::int64_t>& extents, const TileReaderTraits& traits) {
  if (inner.empty()) return;
  // What is read lies together in vectors of the tile's type.
  const std::int64_t lanes = traits.target.Lanes(
      std::max(reader.op()->outputs[0]->dtype.bytes(), tile.outputs[0]->dtype.bytes()));
  const std::int64_t extent = extents.back();
  const std::int64_t width = std::min(BitCeil(extent), lanes);
  reader.Vectorize(extent == width ? inner.back() : reader.Split(inner.back(), width).second);
  if (inner.size() < 2 || extent > width) return;
  if (HintOf(tile).rows == te::TileRows::kOfReader) {
    reader.Unroll(inner[inner.size() - 2]);
    return;
  }
  if (width < kMinSquare) return;
  const std::int64_t rows = extents[inner.size() - 2];
  const std::int64_t unrolled = traits.calls_math && rows % lanes == 0 ? lanes : width;
  if (rows % unrolled != 0) return;
  const IterVar& axis = inner[inner.size() - 2];
  reader.Unroll(rows == unrolled ? axis : reader.Split(axis, unrolled).second);
}

// Results of a tile, in vectors.
std::int64_t SumsOf(const TileAxes& axes) {
  return ConstantOf(axes.rows.extent) * ConstantOf(axes.vectors.extent);
}

// Whether all extents are numbers. Addresses of symbolic rows are computed outside the sum
// (loop::NameIndices).
bool HasNumbers(const te::OperationNode& op) {
  return std::all_of(op.axes.begin(), op.axes.end(),
                     [](const IterVar& axis) { return IsNumber(axis.extent); });
}

// How far the lanes of a tall tile of dot products are from each other in the row that they read.
int StepOf(const te::OperationNode& op) {
  std::int64_t step = 0;
  loop::VisitExpr(op.body[0], [&](const Expr& e) {
    if (const auto* load = e.As<loop::LoadNode>())
      step += loop::ToLinear(load->indices.back(), {}).CoefficientOf(op.axes.back().var);
  });
  return static_cast<int>(step);
}

// The intrinsic of a sum that is not a plain one.
te::TensorIntrinsic DotOf(const te::OperationNode& op, int lanes) {
  const bool bytes = op.outputs[0]->dtype == Int32;
  const auto [rows, sum, terms_at_once] = HintOf(op);
  if (sum == te::TileSum::kWordDot) return bytes ? te::DotWordS8(lanes) : te::DotWordBF16(lanes);
  if (rows != te::TileRows::kTall) return bytes ? te::DotU8S8(lanes) : te::DotBF16(lanes);
  return bytes ? te::SlidingDotU8S8(StepOf(op), lanes) : te::SlidingDotBF16(StepOf(op), lanes);
}

}  // namespace

TileSize TileIn(Config* config, const TileNames& names, const TileSize& usual,
                const TileSize& largest, const Target& target, std::int64_t whole_vectors) {
  if (config == nullptr) return usual;
  std::vector<std::int64_t> vectors, rows;
  // The usual tile may be larger than the result.
  const auto end = [&](std::int64_t most, std::int64_t usual_one) {
    return std::max(usual_one, std::min<std::int64_t>(most, target.vector_registers));
  };
  for (std::int64_t v = 1; v <= end(largest.vectors, usual.vectors); ++v) {
    const bool divides = whole_vectors == 0 || whole_vectors % v == 0;
    const bool is_allowed = v <= largest.vectors && divides && FitsRegisters(target, 1, v);
    if (v == usual.vectors || is_allowed) vectors.push_back(v);
  }
  TileSize tile = usual;
  tile.vectors = config->Knob(names.vectors, vectors, usual.vectors);
  const bool is_usual = tile.vectors == usual.vectors;
  for (std::int64_t r = 1; r <= end(largest.rows, is_usual ? usual.rows : 1); ++r) {
    const bool is_allowed = r <= largest.rows && FitsRegisters(target, r, tile.vectors);
    if ((is_usual && r == usual.rows) || is_allowed) rows.push_back(r);
  }
  // For other numbers of vectors, as many rows as fit, but no more than leave the work even.
  const std::int64_t most = rows.back();
  tile.rows = config->Knob(
      names.rows, rows, is_usual ? usual.rows : CeilDiv(largest.rows, CeilDiv(largest.rows, most)));
  return tile;
}

std::int64_t TileSideIn(Config* config, const std::string& name, std::int64_t usual,
                        std::int64_t largest, const Target& target) {
  std::vector<std::int64_t> sides;
  const std::int64_t most = std::min(largest, MaxSums(target));
  for (std::int64_t side = 1; side <= std::max(most, usual); ++side) {
    if (side <= most || side == usual) sides.push_back(side);
  }
  return KnobOf(config, name, std::move(sides), usual);
}

std::optional<std::string> RefuseRowsInRegisters(const Target& target, std::int64_t rows,
                                                 std::int64_t columns) {
  const std::int64_t most_rows = target.vector_registers / 2, lanes = target.Lanes(4);
  if (rows > most_rows)
    return StrCat(rows, " rows of the result are more than ", most_rows, ", which registers hold");
  if (columns > lanes)
    return StrCat("rows of ", columns, " pixels do not fit into a vector of ", lanes);
  return std::nullopt;
}

double TileStepTime(std::int64_t left, std::int64_t right, double left_load, double right_load) {
  // Sums that hide the latency of a multiply-add.
  constexpr std::int64_t kMinSums = 8;
  return static_cast<double>(std::max(left * right, kMinSums)) +
         left_load * static_cast<double>(left) + right_load * static_cast<double>(right);
}

bool IsRegisterTile(const te::OperationNode& op) {
  return std::holds_alternative<te::RegisterTile>(op.label.hint);
}

bool IsTallTile(const te::OperationNode& tile) { return HintOf(tile).rows == te::TileRows::kTall; }

bool AddsInTurn(const te::OperationNode& tile) { return HintOf(tile).terms_at_once > 0; }

TileAxes TileAxesOf(const te::OperationNode& tile) {
  const std::span<const IterVar> axes = tile.axes;
  const std::span<const IterVar> block = axes.last(kTileAxes);
  return {axes.first(axes.size() - kTileAxes), block[0], block[1], block[2]};
}

void ScheduleTile(Stage& tile) {
  const te::OperationNode& op = *tile.op();
  const te::RegisterTile hint = HintOf(op);
  const TileAxes axes = TileAxesOf(op);
  std::vector<IterVar> order(op.reduce_axes);
  std::optional<IterVar> group;
  if (hint.sum != te::TileSum::kPlain) {
    group = order.back();
    order.pop_back();
  }
  const std::int64_t terms = ProductOfExtents(order);
  std::int64_t steps_of_one = order.size() == 1 ? ConstantOf(order[0].extent) : 0;
  std::vector<IterVar> outside;
  if (hint.terms_at_once > 0) {
    const auto [parts, part] = tile.Split(order.front(), hint.terms_at_once);
    outside = {parts, axes.grid.back()};
    order.front() = part;
    steps_of_one = std::min(steps_of_one, hint.terms_at_once);
  }
  if (op.condition.defined()) {
    // A question serves the terms along all axes that it does not name.
    std::ranges::stable_partition(
        order, [&](const IterVar& axis) { return loop::UsesVar(op.condition, axis.var); });
  } else if (steps_of_one % kUnrolledSteps == 0 && steps_of_one > kUnrolledSteps) {
    const auto [steps, step] = tile.Split(order[0], kUnrolledSteps);
    tile.Unroll(step);
    order = {steps, step};
  } else if (hint.rows != te::TileRows::kEven && (HasNumbers(op) || IsTallTile(op)) &&
             terms <= kMaxUnrolledTerms && terms * SumsOf(axes) <= kMaxUnrolled) {
    // Each row has an address of its own: it is computed once, not at each term.
    for (const IterVar& axis : order) tile.Unroll(axis);
  }
  // The operands of the shorter side stay in registers for the whole step, those of the longer one
  // are loaded when their turn comes.
  const bool is_wide = ConstantOf(axes.rows.extent) < ConstantOf(axes.vectors.extent);
  order.insert(order.begin(), outside.begin(), outside.end());
  order.push_back(is_wide ? axes.vectors : axes.rows);
  order.push_back(is_wide ? axes.rows : axes.vectors);
  order.push_back(axes.lanes);
  if (group) order.push_back(*group);
  tile.Reorder(order);
  // The vectors that its tiles have in common stay in registers.
  if (group && hint.rows == te::TileRows::kTall) tile.Unroll(axes.grid.back());
  tile.Unroll(axes.rows);
  tile.Unroll(axes.vectors);
  if (!group) {
    tile.Vectorize(axes.lanes);
    return;
  }
  const auto lanes = static_cast<int>(ConstantOf(axes.lanes.extent));
  tile.Tensorize(axes.lanes, DotOf(op, lanes));
}

namespace {

// The loops over tiles: one that threads share, and others inside it.
struct TileLoops {
  std::vector<IterVar> shared, serial;
};

// Extents that are numbers are shared as they come, also after one expression, such as the number
// of images: all quotients are by numbers. If more extents are expressions, the last of these stays
// a loop of its own, so that the places of tiles are not quotients by it, and numbers come last in
// what is shared. Numbers that come after all expressions are loops inside what is shared. What
// their tiles read in common stays in cache, and one quotient serves all of them.
TileLoops LoopsOverTiles(const std::vector<IterVar>& outer, const Sizes& extents) {
  constexpr std::int64_t kMinShared = 8;
  std::vector<IterVar> numbers, symbolic;
  Sizes of_numbers;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    (extents[i].is_number() ? numbers : symbolic).push_back(outer[i]);
    if (extents[i].is_number()) of_numbers.push_back(extents[i]);
  }
  if (symbolic.empty()) return {outer, {}};
  const bool is_first = !extents.front().is_number();
  if (symbolic.size() == 1 && (is_first || ElementsOf(of_numbers).planned < kMinShared)) {
    symbolic.insert(symbolic.end(), numbers.begin(), numbers.end());
    return {symbolic, {}};
  }
  const bool numbers_are_last =
      std::all_of(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(symbolic.size()),
                  [](const Size& extent) { return !extent.is_number(); });
  if (numbers_are_last && !numbers.empty()) return {symbolic, numbers};
  TileLoops loops{{symbolic.begin(), symbolic.end() - 1}, {symbolic.back()}};
  loops.shared.insert(loops.shared.end(), numbers.begin(), numbers.end());
  return loops;
}

}  // namespace

bool ScheduleByTiles(Stage& reader, Stage& tile, const std::vector<Expr>& indices,
                     const TileReaderTraits& traits) {
  const std::vector<IterVar> axes = reader.op()->axes;
  const std::size_t whole = IsTallTile(*tile.op()) ? 1 : 0;
  const auto grid = MatchGrid(indices, indices.size() - kTileAxes - whole, axes);
  if (!grid || grid->empty()) return false;
  std::vector<IterVar> outer;
  Sizes outer_extents;
  std::vector<std::optional<IterVar>> inner(axes.begin(), axes.end());
  std::vector<std::int64_t> extents;
  for (const IterVar& axis : axes) extents.push_back(PlannedExtent(axis.extent));
  for (const GridIndex& index : *grid) {
    IterVar axis = axes[index.first];
    Expr extent = axis.extent;
    for (std::size_t i = index.first + 1; i <= index.last; ++i) {
      extent = extent * axes[i].extent;
      axis = reader.Fuse(axis, axes[i]);
      extents[i] *= extents[i - 1];
    }
    for (std::size_t i = index.first; i <= index.last; ++i) inner[i].reset();
    outer_extents.push_back(BlocksOf(extent, index.block));
    if (index.block == 1) {
      outer.push_back(axis);
    } else {
      const auto [blocks, within] = reader.Split(axis, index.block);
      outer.push_back(blocks);
      inner[index.last] = within;
      extents[index.last] = std::min(extents[index.last], index.block);
    }
  }
  TileLoops loops = LoopsOverTiles(outer, outer_extents);
  const bool in_turn = AddsInTurn(*tile.op()) && outer.size() > 1;
  if (in_turn || (traits.has_panels && outer.size() > 1)) {
    // Tiles that add in turn are computed together, and read one after the other.
    loops = {{outer.begin(), outer.end() - 1}, {outer.back()}};
  }
  std::vector<IterVar> order = loops.shared;
  order.insert(order.end(), loops.serial.begin(), loops.serial.end());
  std::vector<IterVar> inside;
  std::vector<std::int64_t> inside_extents;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!inner[i]) continue;
    order.push_back(*inner[i]);
    if (extents[i] == 1) continue;
    inside.push_back(*inner[i]);
    inside_extents.push_back(extents[i]);
  }
  reader.Reorder(order);
  VectorizeInner(reader, *tile.op(), inside, inside_extents, traits);
  const IterVar shared = reader.Fuse(loops.shared);
  if (traits.parallel) reader.Parallel(shared);
  tile.ComputeAt(reader, loops.serial.empty() || in_turn ? shared : loops.serial.back());
  ScheduleTile(tile);
  return true;
}

}  // namespace tenon::strategies
