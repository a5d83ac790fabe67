// Affine steps along the channels of a value: x * scale + shift with constants.
#ifndef TENON_PASSES_AFFINE_AFFINE_STEP_H_
#define TENON_PASSES_AFFINE_AFFINE_STEP_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/passes/affine/constant_values.h"

namespace tenon::passes {

// The scale and shift of each channel. An empty vector is a scale of 1 or a shift of 0.
struct Affine {
  std::vector<double> scale, shift;

  // This map after `inner`: scale * (inner.scale * x + inner.shift) + shift.
  Affine After(const Affine& inner) const;
  // Whether the shifts of both cancel. Applying one map after the other then rounds; their
  // composition would not.
  bool Cancels(const Affine& inner, DataType dtype) const;
  bool IsFinite() const;
  // Whether the type holds all of it, when it is rounded. A factor that becomes zero is not held.
  bool FitsIn(DataType dtype) const;
  // Drops a scale of ones and a shift of zeros.
  void Normalize();
};

// Whether the call is add, subtract, multiply, divide, negative or nn.bias_add.
bool IsAffineOp(const ir::CallNode& call);

// The call as a map of args[side], whose channels run along `axes`. Nothing if it is not such a
// map; `reason` then says why.
std::optional<Affine> ReadAffine(const ir::CallNode& call, std::size_t side,
                                 const std::vector<std::size_t>& axes, const ConstantValues& values,
                                 std::string* reason);

// The largest magnitude; 0 for none.
double LargestOf(const std::vector<double>& scale);
// Whether a factor other than 0 is too small to be a normal number of the type.
bool HasDenormals(const std::vector<double>& scale, DataType dtype);
// The elementwise products; an empty vector stands for all ones.
std::vector<double> Times(const std::vector<double>& a, const std::vector<double>& b);
// A constant with one value per channel that broadcasts along `axes` of a value of `type`; a scalar
// when all values are the same.
ir::Expr ChannelConstant(const std::vector<double>& values, const ir::Type& type,
                         const std::vector<std::size_t>& axes, std::int64_t* flushed);

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_AFFINE_STEP_H_
