#include "tenon/schedule/fetch_boxes.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

using loop::Expr;
using loop::Stmt;
using loop::Var;

namespace {

// Lines that are fetched one after the other, without a loop.
constexpr std::int64_t kMaxUnrolledLines = 16;

std::int64_t ElementsOfLine(const loop::Buffer& buffer) {
  return kCacheLineBytes / static_cast<std::int64_t>(buffer->dtype.bytes());
}

// The dimension of which the box has the most pieces.
std::size_t LongestOf(const std::vector<Range>& box, std::size_t dimensions) {
  std::size_t longest = 0;
  for (std::size_t d = 1; d < dimensions; ++d) {
    if (*ConstantOf(box[d].extent) > *ConstantOf(box[longest].extent)) longest = d;
  }
  return longest;
}

std::int64_t ElementsOf(const std::vector<Range>& box, std::size_t from, std::size_t to) {
  std::int64_t elements = 1;
  for (std::size_t d = from; d < to; ++d) elements *= *ConstantOf(box[d].extent);
  return elements;
}

}  // namespace

std::optional<std::int64_t> ConstantOf(const Expr& e) {
  const auto* constant = e.As<loop::IntImmNode>();
  return constant == nullptr ? std::nullopt : std::optional(constant->value);
}

Expr LinesOfRow(const loop::Buffer& buffer, const std::vector<Range>& box, const Var& axis) {
  if (box.empty()) return 1;
  const std::int64_t line = ElementsOfLine(buffer);
  const Expr& elements = box.back().extent;
  const std::optional<std::int64_t> constant = ConstantOf(elements);
  if (!constant) return loop::FloorDiv(elements + (line - 1), line);
  Expr first = 0;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const bool is_one_row = d + 1 == box.size() || loop::IsConstInt(box[d].extent, 1);
    first = first * buffer->shape[d] + box[d].min + (is_one_row ? Expr(0) : Var("row"));
  }
  const loop::Linear linear = loop::ToLinear(first, {});
  const std::int64_t along = linear.CoefficientOf(axis);
  if (along > 0 && along <= *constant) return CeilDiv(*constant, line);
  std::int64_t apart = std::gcd(line, linear.constant);
  for (const auto& [atom, step] : linear.terms) apart = std::gcd(apart, step);
  return CeilDiv(*constant + line - apart, line);
}

Stmt FetchBox(const loop::Buffer& buffer, const std::vector<Range>& box, const Expr& lines,
              loop::Intrinsic fetch, loop::ForKind kind) {
  const std::int64_t line = ElementsOfLine(buffer);
  std::vector<Var> vars;
  std::vector<Expr> extents, indices;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const auto& [min, extent] = box[d];
    const Var& var = vars.emplace_back(StrCat("fetch", d));
    if (d + 1 < box.size()) {
      extents.push_back(extent);
      indices.push_back(min + var);
    } else {
      extents.push_back(lines);
      // The last line may be one that only the last element lies in.
      const std::optional<std::int64_t> elements = ConstantOf(extent);
      indices.push_back(min + (elements ? loop::Min(var * line, *elements - 1) : var * line));
    }
  }
  Stmt stmt = loop::Evaluate(loop::Call(fetch, {loop::Load(buffer, std::move(indices))}));
  for (std::size_t d = box.size(); d-- > 0;) stmt = loop::For(vars[d], 0, extents[d], kind, stmt);
  return stmt;
}

std::optional<std::size_t> DimensionsOfPieces(const loop::Buffer& buffer,
                                              const std::vector<Range>& box) {
  if (!std::all_of(box.begin(), box.end(),
                   [](const Range& range) { return ConstantOf(range.extent).has_value(); }))
    return std::nullopt;
  std::size_t first = box.size() - 1;
  while (first > 0 && ConstantOf(buffer->shape[first]) == ConstantOf(box[first].extent)) --first;
  return first;
}

Stmt FetchShare(const loop::Buffer& buffer, std::vector<Range> box, std::size_t dimensions,
                const Expr& number, std::int64_t shares, const Var& axis, loop::Intrinsic fetch) {
  const std::int64_t line = ElementsOfLine(buffer);
  const std::int64_t pieces = ElementsOf(box, 0, dimensions);
  const std::int64_t elements = ElementsOf(box, dimensions, box.size());
  const std::size_t longest = LongestOf(box, dimensions);
  Expr lines;  // of a row of the share
  if (pieces >= shares && elements < shares * line) {
    const std::int64_t count = *ConstantOf(box[longest].extent), most = CeilDiv(count, shares);
    box[longest] = {box[longest].min + loop::Min(number * most, count - most), most};
    lines = LinesOfRow(buffer, box, axis);
  } else {
    const std::int64_t most = CeilDiv(elements, shares);
    for (std::size_t d = dimensions; d < box.size(); ++d) box[d].extent = 1;
    box.back() = {box.back().min + number * most, most};
    // The last line of a share is the first of the next one.
    lines = CeilDiv(most, line);
  }
  const std::int64_t all = ElementsOf(box, 0, box.size() - 1) * *ConstantOf(lines);
  return FetchBox(buffer, box, lines, fetch,
                  all <= kMaxUnrolledLines ? loop::ForKind::kUnrolled : loop::ForKind::kSerial);
}

}  // namespace tenon::schedule
