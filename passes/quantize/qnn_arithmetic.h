// The arithmetic of quantised tensors in operators on real numbers: how CanonicalizeQnn rounds,
// saturates and subtracts zero points. Only passes on quantised operators include this header.
//
// Rounding is to the nearest integer, halves to even. Quantized adds the zero point after rounding,
// as ONNX's QuantizeLinear does. Requantized adds it before rounding, as the reference
// implementations of QLinearConv and QLinearMatMul do, and rounds the sum in float64.
//
//   Expr real = Dequantized({q, scale, zero_point, type}, Float32);
#ifndef TENON_PASSES_QUANTIZE_QNN_ARITHMETIC_H_
#define TENON_PASSES_QUANTIZE_QNN_ARITHMETIC_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::passes {

// A call that is being rewritten: `typed` is the original, `now` has rewritten arguments.
struct QnnCall {
  const ir::CallNode& typed;
  const ir::CallNode& now;

  const ir::Expr& arg(std::size_t i) const { return now.args[i]; }
  const ir::TensorTypeNode& type(std::size_t i) const;
  const ir::TensorTypeNode& result() const;
};

// A quantised tensor with its parameters.
struct QnnTensor {
  ir::Expr data;
  ir::Expr scale, zero_point;  // of shapes that broadcast against the data
  DataType dtype, scale_dtype, zero_point_dtype;
};

// The arguments `data`, `scale` and `scale + 1` of the call, with channels along `axis`.
QnnTensor TensorAt(const QnnCall& call, std::size_t data, std::size_t scale, std::int64_t axis);

// The elements of a constant of integers with up to 32 bits.
std::optional<std::vector<std::int64_t>> Integers(const ir::Expr& e);
// Whether it is a constant of zeros.
bool IsZero(const ir::Expr& zero_point);
// Whether two parameters are the same, as far as constants show.
bool SameParameter(const ir::Expr& a, const ir::Expr& b);
// `e`, of type `from`, converted to `to`.
ir::Expr As(const ir::Expr& e, DataType from, DataType to);
// The argument `parameter`: a number, or one value per channel in a shape that broadcasts along
// `axis` of the argument `data`.
ir::Expr AlongAxis(const QnnCall& call, std::size_t parameter, std::size_t data, std::int64_t axis);

// Whether int16 holds every element minus its zero point.
bool FitsInt16(const QnnTensor& tensor);
// data - zero_point, exactly, in type `to`.
ir::Expr Centered(const QnnTensor& tensor, DataType to);

// (data - zero_point) * scale in the type `to`.
ir::Expr Dequantized(const QnnTensor& tensor, DataType to);
// saturate(round_half_even(real / scale) + zero_point), divided in the wider type of the two.
ir::Expr Quantized(const ir::Expr& real, DataType real_dtype, const QnnTensor& parameters);

struct QnnRounding {
  std::string rounding = "None";       // as in RequantizeAttrs
  std::string compute_dtype = "None";  // as in RequantizeAttrs
};
// saturate(round(data' * (scale / to.scale) + to.zero_point)) for the centered data'. The factor is
// a quotient in float32; the rest is computed in float64. When the parameters are the same, the
// result is the data.
ir::Expr Requantized(const QnnTensor& tensor, const QnnTensor& to, const QnnRounding& options = {});

// --- replacements of calls, by operator

using QnnRule = std::function<ir::Expr(const QnnCall& call)>;
using QnnRules = std::unordered_map<ir::Expr, QnnRule, ir::ExprHash>;

void AddQnnConvolutions(QnnRules* rules);  // conv2d, conv2d_transpose
void AddQnnProducts(QnnRules* rules);      // dense, batch_matmul

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_QNN_ARITHMETIC_H_
