// Small float constants in double precision. Folding calculates with these, so that a constant is
// rounded once, at the end.
//
// Values are those of float32 and float64 constants and of arithmetic over them: add, subtract,
// multiply, divide, negative, sqrt, rsqrt and changes of shape. Intermediate results are not
// rounded to the element type. Requires checked types.
//
//   ConstantValues values(function);
//   if (const Values* scale = values.Of(e)) ...
#ifndef TENON_PASSES_AFFINE_CONSTANT_VALUES_H_
#define TENON_PASSES_AFFINE_CONSTANT_VALUES_H_

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

// Not thread-safe. A constant is read when it is first asked for, since most constants of a model
// are weights that nobody asks for.
class ConstantValues {
 public:
  // Constants with more elements are not read.
  static constexpr std::int64_t kMaxElements = 1 << 16;
  // Values of calls of one function, together. A line of a text may ask for kMaxElements.
  static constexpr std::size_t kMaxComputed = 1 << 24;

  explicit ConstantValues(const ir::Expr& function);
  // Null when `e` is not such a constant.
  const Values* Of(const ir::Expr& e) const;

 private:
  std::optional<Values> Read(const ir::Expr& e) const;
  mutable std::unordered_map<ir::Expr, Values, ir::ExprHash> values_;
};

// The values of a constant along `axes` of a value of `type`, one per channel. Nothing when they
// also differ along other axes.
std::optional<std::vector<double>> PerChannel(const Values& values, const ir::Type& type,
                                              const std::vector<std::size_t>& axes);

// The least magnitude of a normal number of float32 or float64. Kernels take lesser ones for zero.
double LeastNormal(DataType dtype);

// Rounds to float32 or float64. Values too small to be normal become zero and are counted.
NDArray RoundOnce(Shape shape, const std::vector<double>& values, DataType dtype,
                  std::int64_t* flushed);

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_CONSTANT_VALUES_H_
