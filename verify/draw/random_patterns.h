// Stages with shapes that real operators have and random expressions rarely reach: grouped
// convolutions with strides and padding, column sums, products for dot-product instructions, calls
// of C functions. Only verify/random_*.cc include this header.
//
//   Pattern p = RandomPattern(random, make_operand, "T3");
//   auto intrinsic = IntrinsicFor(*p.tensors[0].op(), 16);  // of what a tensorized loop computes
#ifndef TENON_VERIFY_DRAW_RANDOM_PATTERNS_H_
#define TENON_VERIFY_DRAW_RANDOM_PATTERNS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenon/te/tensor.h"
#include "tenon/te/tensor_intrinsic.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/draw/random_expr.h"

namespace tenon::verify {

struct Operand {
  te::Tensor tensor;
  double bound = 0, grain = 0, error = 0;
  bool may_be_special = false;
};
// Makes an operand of a type and shape, without special values unless they are allowed.
using MakeOperand =
    std::function<Operand(DataType type, const std::vector<std::int64_t>& shape, bool special)>;

struct Pattern {
  te::Tensor tensor;
  std::vector<std::int64_t> shape;
  Term term;  // of each element
};
Pattern RandomPattern(Random& random, const MakeOperand& make, const std::string& name);

// The elements of `tensor` in another order, by a C function: reversed and, as a second output,
// unchanged.
std::vector<te::Tensor> ReorderedByC(const te::Tensor& tensor, int outputs,
                                     const std::string& name);

// Intrinsics that may compute `width` elements of the operation at a time, judged only by types.
std::optional<te::TensorIntrinsic> IntrinsicFor(const te::OperationNode& op, int width);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_PATTERNS_H_
