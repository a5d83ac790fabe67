// The extents that schedules are made for.
//
// Kernels of symbolic extents are right for all of their values. What a schedule decides by figures
// (tiles, threads, what is stored) is decided for one value of each variable.
//
//   PlannedExtent(axis.extent);  // its value; of n that of kPlannedExtent
#ifndef TENON_STRATEGIES_PLANNED_EXTENT_H_
#define TENON_STRATEGIES_PLANNED_EXTENT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tenon/loop/expr.h"

namespace tenon::strategies {

// A sentence, a side of an image. No power of two, so that nothing is taken for whole vectors.
inline constexpr std::int64_t kPlannedExtent = 124;

// Whether kernels of fused functions may be called with 0 for the variable of an extent that has
// this name, as it may be in types ("#d0").
bool MayBeZero(const std::string& variable);

inline bool IsNumber(const loop::Expr& extent) { return extent.kind() == loop::ExprKind::kIntImm; }
// At least 2 for an expression of variables, of which one element would be a special case.
std::int64_t PlannedExtent(const loop::Expr& extent);

// An extent, and the number that decisions take it for.
struct Size {
  Size(std::int64_t number)
      : expr(number), planned(number) {}  // NOLINT(google-explicit-constructor)
  Size(const loop::Expr& extent)          // NOLINT(google-explicit-constructor)
      : expr(extent), planned(PlannedExtent(extent)) {}

  bool is_number() const { return IsNumber(expr); }
  // Whether blocks of `block` fit without a rest, whatever the value.
  bool IsMultipleOf(std::int64_t block) const { return is_number() && planned % block == 0; }

  loop::Expr expr;
  std::int64_t planned;
};
using Sizes = std::vector<Size>;

bool AreNumbers(std::span<const Size> sizes);
Size BlocksOf(const Size& size, std::int64_t block);
Size ElementsOf(const Sizes& sizes);
std::vector<loop::Expr> ExprsOf(const Sizes& sizes);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_PLANNED_EXTENT_H_
