// Large products are summed up in register tiles from a packed right operand, whose columns lie
// together panel by panel (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", TOMS 2008); small ones are plain sums.
#include "tenon/strategies/te/matmul/product.h"

#include <algorithm>
#include <span>

#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

using TileShape = TileSize;

// Fewer rows do not pay for packing the right operand, which costs more across its rows and nothing
// when it is constant. Where the rows of a constant are the result's columns, few rows read whole
// rows, which is as fast as panels; other constants are packed for any number of rows.
constexpr std::int64_t kMinRows = 8;
constexpr std::int64_t kMinRowsTransposed = 12;
constexpr std::int64_t kMinRowsConstant = 4;

// Of the shapes with enough sums to hide the latency of the multiply-add, the one with the least
// estimated time, then the widest. Few rows take more vectors.
TileShape ChooseTile(const Size& all_rows, std::int64_t columns, const Target& target,
                     std::int64_t lanes) {
  constexpr TileShape kShapes[] = {{4, 4}, {6, 3}, {8, 2}, {14, 1}};
  constexpr TileShape kOfFewRows[] = {{3, 8}, {3, 6}, {3, 5}, {3, 4}};
  // For results that are as wide as so many tiles.
  constexpr TileShape kWide[] = {{3, 8}, {3, 7}, {4, 6}, {3, 6}, {4, 5}, {3, 5}};
  constexpr TileShape kIn16Registers[] = {{3, 3}, {6, 2}, {5, 2}, {12, 1}};
  constexpr TileShape kOfFewRowsIn16Registers[] = {{3, 3}, {3, 2}};
  const std::int64_t rows = all_rows.planned;
  const bool few = rows < kMinRowsConstant;
  const auto shapes = !HasManyRegisters(target)
                          ? few ? std::span<const TileShape>(kOfFewRowsIn16Registers)
                                : std::span<const TileShape>(kIn16Registers)
                      : few ? std::span<const TileShape>(kOfFewRows)
                            : std::span<const TileShape>(kShapes);
  constexpr std::int64_t kSumsInFlight = 8;
  const std::int64_t vectors = CeilDiv(columns, lanes);
  const auto time = [&](const TileShape& tile) {
    const std::int64_t across = CeilDiv(vectors, tile.vectors);
    // If the number of rows is open, the last tile is taken to be half full, so the loads of a step
    // decide.
    if (!all_rows.is_number())
      return (static_cast<double>(rows) / static_cast<double>(tile.rows) + 0.5) *
             static_cast<double>(across) * TileStepTime(tile.rows, tile.vectors);
    return static_cast<double>(CeilDiv(rows, tile.rows) * across *
                               std::max(tile.rows * tile.vectors, kSumsInFlight));
  };
  TileShape best{};
  const auto consider = [&](TileShape tile) {
    tile = {std::min(tile.rows, rows), std::min(tile.vectors, vectors)};
    if (best.rows == 0 || time(tile) < time(best)) best = tile;
  };
  std::ranges::for_each(shapes, consider);
  for (const TileShape& tile : kWide) {
    if (HasManyRegisters(target) && !few && vectors % tile.vectors == 0) consider(tile);
  }
  return best;
}

}  // namespace

Tensor PlainProduct(const Product& product, const std::vector<Expr>& shape) {
  const IterVar k = te::ReduceAxis(0, product.depth.expr, "k");
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> batch(i.begin(), i.end() - 2);
        return te::Sum(te::Cast(product.dtype, product.left(batch, i[i.size() - 2], k.var)) *
                           te::Cast(product.dtype, product.right(batch, k.var, i.back())),
                       {k});
      },
      "matmul", te::Label("matmul", te::ReadsRepeatedly{}));
}

namespace {

// The left operand as (batch..., row, depth), with zeros past the last product of a group. Elements
// of single products have the result's type.
Tensor PackLeft(const Product& product) {
  std::vector<Expr> shape = ExprsOf(product.batch);
  shape.push_back(product.rows.expr);
  shape.push_back(product.group == 1 ? product.depth.expr
                                     : BlocksOf(product.depth, product.group).expr * product.group);
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> batch(i.begin(), i.end() - 2);
        const Expr value = product.left(batch, i[i.size() - 2], i.back());
        if (product.group == 1) return te::Cast(product.dtype, value);
        if (product.depth.IsMultipleOf(product.group)) return value;
        return te::IfThenElse(i.back() < product.depth.expr, value, te::Cast(value.dtype(), 0));
      },
      "rows", te::Stored{});
}

// Whether each panel of the right operand is packed where its tiles are summed up, so that it stays
// in the second-level cache. Panels are then shared out whole, and few of them cannot be shared out
// evenly.
bool PacksByPanel(const Product& product, const TileShape& tile, std::int64_t width) {
  constexpr std::int64_t kPanelsOfCore = 4;
  if (std::ranges::count(product.right_has, false) > 0) return false;
  if (product.right_is_constant || product.group != 1 || !AreNumbers(product.batch) ||
      !product.columns.is_number() || !product.depth.is_number() ||
      product.rows.planned <= tile.rows || product.columns.planned <= width)
    return false;
  const std::int64_t panels =
      ElementsOf(product.batch).planned * CeilDiv(product.columns.planned, width);
  const auto bytes = static_cast<std::int64_t>(product.dtype.bytes());
  return panels >= kPanelsOfCore * product.target.cores &&
         product.depth.planned * width * bytes <= product.target.l2_bytes / 2;
}

// The right operand as (batch..., panel, depth, column of the panel), with zeros past the last
// column.
Tensor PackRight(const Product& product, std::int64_t width, const te::Hint& hint) {
  std::vector<Expr> shape;
  for (std::size_t d = 0; d < product.batch.size(); ++d) {
    if (product.right_has[d]) shape.push_back(product.batch[d].expr);
  }
  shape.push_back(BlocksOf(product.columns, width).expr);
  shape.push_back(BlocksOf(product.depth, product.group).expr);
  shape.emplace_back(width);
  if (product.group > 1) shape.emplace_back(product.group);
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> batch;
        std::size_t next = 0;
        for (const bool has : product.right_has) batch.push_back(has ? Expr(i[next++]) : Expr(0));
        const Expr column = i[next] * width + i[next + 2];
        const Expr depth =
            product.group == 1 ? Expr(i[next + 1]) : i[next + 1] * product.group + i[next + 3];
        Expr value = product.right(batch, depth, column);
        if (product.group == 1) value = te::Cast(product.dtype, value);
        const bool ragged = product.group > 1 && !product.depth.IsMultipleOf(product.group);
        if (product.columns.IsMultipleOf(width) && !ragged) return value;
        Expr inside = column < product.columns.expr;
        if (ragged) inside = inside && depth < product.depth.expr;
        return te::IfThenElse(inside, value, te::Cast(value.dtype(), 0));
      },
      "packed", hint);
}

// Whether several tiles would widen the same elements of the left operand.
bool IsWidenedOften(const Product& product, std::int64_t width) {
  const std::vector<Expr> first(product.batch.size(), Expr(0));
  return product.left(first, 0, 0).dtype().bytes() < product.dtype.bytes() &&
         product.columns.planned > width;
}

// Whether tiles read the rows of the right operand where they are. That is so if one panel is as
// good as packed, if the nearest cache holds all of it, or if few tiles would read what was packed.
// Other tiles would walk through whole rows, at 59 % of the speed of packed panels where a row is a
// multiple of 4 KiB.
bool ReadsRows(const Product& product, std::int64_t width) {
  constexpr std::int64_t kMaxRowsInPlace = 32;
  const std::int64_t columns = product.columns.planned;
  const std::int64_t bytes =
      product.depth.planned * columns * static_cast<std::int64_t>(product.dtype.bytes());
  const std::vector<Expr> first(product.batch.size(), Expr(0));
  return product.right_in_rows && !product.right_is_constant && product.group == 1 &&
         product.right(first, 0, 0).dtype() == product.dtype &&
         product.columns.IsMultipleOf(width) &&
         (columns == width || bytes <= product.target.l1_bytes ||
          product.rows.planned <= kMaxRowsInPlace);
}

}  // namespace

Tensor TiledProduct(const Product& product, const std::vector<Expr>& shape) {
  const std::int64_t lanes = product.target.Lanes(product.dtype.bytes());
  const TileShape tile =
      TileIn(product.config, {"rows", "vectors"},
             ChooseTile(product.rows, product.columns.planned, product.target, lanes),
             {product.rows.planned, CeilDiv(product.columns.planned, lanes)}, product.target);
  const std::int64_t width = tile.vectors * lanes;
  const bool reads_rows = ReadsRows(product, width);
  const te::Hint packing = PacksByPanel(product, tile, width)
                               ? te::Hint(te::TileInput{te::TileInputForm::kPanel})
                               : te::Hint(te::Stored{});
  const Tensor packed =
      reads_rows ? Tensor() : product.prepared(PackRight(product, width, packing));
  const std::size_t rank = product.batch.size();
  const IterVar k = te::ReduceAxis(0, BlocksOf(product.depth, product.group).expr, "k");
  const IterVar g = te::ReduceAxis(0, product.group, "g");
  const bool dots = product.group > 1;
  const bool in_place = dots ? product.left_in_rows && product.depth.IsMultipleOf(product.group)
                             : !IsWidenedOften(product, width);
  const Tensor rows = in_place ? Tensor() : PackLeft(product);
  std::vector<Expr> tiles(shape.begin(), shape.end() - 2);
  for (const Size& extent : {BlocksOf(product.columns, width), BlocksOf(product.rows, tile.rows),
                             Size(tile.rows), Size(tile.vectors), Size(lanes)})
    tiles.push_back(extent.expr);
  const Tensor sums = te::Compute(
      tiles,
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> batch(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(rank));
        Expr row = i[rank + 1] * tile.rows + i[rank + 2];
        // Rows past the last one are computed from it and dropped.
        if (!product.rows.IsMultipleOf(tile.rows)) row = te::Min(row, product.rows.expr - 1);
        std::vector<Expr> at;
        for (std::size_t d = 0; d < rank; ++d) {
          if (product.right_has[d]) at.push_back(batch[d]);
        }
        at.insert(at.end(), {i[rank], k.var, i[rank + 3] * lanes + i[rank + 4]});
        if (dots) at.emplace_back(g.var);
        const Expr depth = dots ? k.var * product.group + g.var : Expr(k.var);
        std::vector<Expr> left_at = batch;
        left_at.insert(left_at.end(), {row, depth});
        const Expr left = in_place ? product.left(batch, row, depth) : rows[left_at];
        const Expr column = i[rank] * width + i[rank + 3] * lanes + i[rank + 4];
        const Expr right = reads_rows ? product.right(batch, k.var, column) : packed[at];
        return te::Sum(te::Cast(product.dtype, left) * te::Cast(product.dtype, right),
                       dots ? std::vector<IterVar>{k, g} : std::vector<IterVar>{k});
      },
      "matmul", te::RegisterTile{.sum = dots ? te::TileSum::kDot : te::TileSum::kPlain});
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(rank));
        const Expr& row = i[rank];
        const Expr& column = i[rank + 1];
        at.insert(at.end(),
                  {te::FloorDiv(column, width), te::FloorDiv(row, tile.rows),
                   te::FloorMod(row, tile.rows), te::FloorDiv(te::FloorMod(column, width), lanes),
                   te::FloorMod(column, lanes)});
        return sums[at];
      },
      "matmul");
}

std::int64_t DotGroup(const Target& target, DataType left, DataType right, DataType sum,
                      bool is_bound_by_memory) {
  const bool has_dots_of_bytes = target.Has("avx512vnni") || target.Has("avx2");
  if (left == UInt8 && right == Int8 && sum == Int32 && has_dots_of_bytes) return 4;
  const bool has_dots_of_bf16 =
      is_bound_by_memory ? target.Has("avx512bf16") : target.has_fast_dots_of_bf16();
  if (left == BFloat16 && right == BFloat16 && sum == Float32 && has_dots_of_bf16) return 2;
  return 1;
}

bool AreFewRows(std::int64_t rows, bool right_is_constant) {
  return right_is_constant && rows < kMinRowsConstant;
}

std::int64_t LeastRows(const TeCall& call, bool right_is_constant, bool right_is_transposed,
                       std::int64_t group) {
  // Plain sums have no instruction for groups.
  const bool always_pays = group > 1 || !right_is_transposed || call.keeps_order;
  if (right_is_constant) return always_pays ? 1 : kMinRowsConstant;
  return right_is_transposed ? kMinRowsTransposed : kMinRows;
}

std::optional<std::string> RefuseTiledProduct(const Product& product) {
  const std::int64_t lanes = product.target.Lanes(product.dtype.bytes());
  if (product.dtype.bytes() < 4)
    return StrCat("sums of ", product.dtype.ToString(), " are narrower than 32 bits");
  if (product.rows.planned < product.least_rows)
    return StrCat(product.rows.planned, " rows are fewer than ", product.least_rows,
                  ", which pay for packing the right operand");
  if (product.columns.planned < lanes && !(product.right_in_rows && product.columns.planned > 1))
    return StrCat(product.columns.planned, " columns do not fill a vector of ", lanes);
  if (product.depth.planned == 0 || ElementsOf(product.batch).planned == 0)
    return "there is nothing to add up";
  return std::nullopt;
}

Tensor Multiply(const Product& product, const std::vector<Expr>& shape) {
  return RefuseTiledProduct(product) ? PlainProduct(product, shape) : TiledProduct(product, shape);
}

}  // namespace tenon::strategies
