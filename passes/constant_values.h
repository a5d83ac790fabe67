// Small float constants in double precision: what folding calculates with, so that a constant is
// rounded once, at the end.
//
// Values are those of constants of float32 and float64 and of the arithmetic over them (add,
// subtract, multiply, divide, negative, sqrt, rsqrt, changes of shape), which is not rounded to the
// element type in between. Requires checked types.
//
//   ConstantValues values(function);
//   if (const Values* scale = values.Of(e)) ...
#ifndef TENON_PASSES_CONSTANT_VALUES_H_
#define TENON_PASSES_CONSTANT_VALUES_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::passes {

struct Values {
  Shape shape;
  std::vector<double> data;
};

// Not thread-safe: constants are read when they are asked for, since most of a model's are weights
// that nobody asks for.
class ConstantValues {
 public:
  // Constants of more elements are not read.
  static constexpr std::int64_t kMaxElements = 1 << 16;

  explicit ConstantValues(const ir::Expr& function);
  // Null when `e` is no such constant.
  const Values* Of(const ir::Expr& e) const;

 private:
  std::optional<Values> Read(const ir::Expr& e) const;
  mutable std::unordered_map<ir::Expr, Values, ir::ExprHash> values_;
};

// The values of a constant along `axes` of a value of `type`, one a channel, when they differ along
// these axes only.
std::optional<std::vector<double>> PerChannel(const Values& values, const ir::Type& type,
                                              const std::vector<std::size_t>& axes);

// Rounds to float32 or float64. Values too small to be normal become zero and are counted.
NDArray RoundOnce(Shape shape, const std::vector<double>& values, DataType dtype,
                  std::int64_t* flushed);

}  // namespace tenon::passes

#endif  // TENON_PASSES_CONSTANT_VALUES_H_
