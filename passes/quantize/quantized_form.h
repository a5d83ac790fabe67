// A floating-point value known as integers: (data - zero_point) * scale, with constant parameters,
// one for all or one per channel. FakeQuantizationToInteger follows it through a graph. Only the
// files of that pass include this header.
//
//   if (const auto form = DequantizedForm(*call)) ...
#ifndef TENON_PASSES_QUANTIZE_QUANTIZED_FORM_H_
#define TENON_PASSES_QUANTIZE_QUANTIZED_FORM_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ops/quantize/qnn_builders.h"

namespace tenon::passes {

struct QuantizedForm {
  static constexpr double kInt32End = 2147483648.0;  // 2^31, which int32 does not hold

  ir::Expr data;
  DataType dtype;  // of the data
  Shape shape;
  std::vector<double> scale;             // float32 values
  std::vector<std::int64_t> zero_point;  // as many
  std::size_t axis = 0;                  // of the channels, where there are several
  double error = 0;                      // at most so many quanta were rounded off
  double most = kInt32End;               // no number of int32 data is further from 0

  bool is_single() const { return scale.size() == 1; }
  bool is_byte() const { return dtype.bits() == 8; }
  bool is_centered() const;  // no zero point
  // Whether what was rounded off is no more than half a quantum of `target`, which has one scale.
  // After rounding, the two then differ by at most one quantum.
  bool IsWithinHalfQuantumOf(const QuantizedForm& target) const;
  // Whether float32 holds the factor to the scale of `target`, as qnn.requantize wants it.
  bool HasFactorTo(const QuantizedForm& target) const;
  // The largest magnitude that the type allows.
  double LargestNumber() const;
  bool SameParameters(const QuantizedForm& other) const;
  ops::QnnParameters Parameters() const;
  // The same parameters for other data.
  QuantizedForm With(ir::Expr other, Shape to) const;
};

// How far integers are from 0 at most; the end of int32 where they are no constant.
double MostOf(const ir::Expr& integers);

// The form of a call of qnn.dequantize into float32 with constant parameters.
std::optional<QuantizedForm> DequantizedForm(const ir::CallNode& call, const Shape& shape);
// The parameters that a call of qnn.quantize asks for, as a form without data.
std::optional<QuantizedForm> QuantizeTarget(const ir::CallNode& call, const Shape& shape);

ir::Expr Dequantize(const QuantizedForm& form);
ir::Expr Requantize(const QuantizedForm& form, const QuantizedForm& target);

// The form of an operator's result, given the form of its first argument; nothing where it has
// none. `args` are all arguments of the call, `shape` is that of its result.
using FormRule = std::function<std::optional<QuantizedForm>(
    const ir::CallNode& call, const QuantizedForm& form, const Shape& shape)>;
// The rule of operators that move, pick or clip elements; null for others.
const FormRule* MovingRule(const ir::Expr& op);
// The rule of means; null for others.
const FormRule* MeanRule(const ir::Expr& op);

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_QUANTIZED_FORM_H_
