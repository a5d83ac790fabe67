// A bias in the integers of the product that it is added to. Only files inside passes/quantize/
// include this header.
//
//   std::optional<Expr> integers = RoundedBias(product_form, bias);
#ifndef TENON_PASSES_QUANTIZE_QUANTIZED_BIAS_H_
#define TENON_PASSES_QUANTIZE_QUANTIZED_BIAS_H_

#include "tenon/passes/quantize/quantized_form.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

struct RoundedNumbers {
  ir::Expr integers;
  double error;  // no number was further from its integer, in quanta
};

// The axis along which a value of `shape` runs, in a value of rank `rank`. The last axis for a
// single element, nothing when there are several axes.
std::optional<std::size_t> AxisOf(const Shape& shape, std::size_t rank);

// How far the scales of a bias, or its one scale, are from those of `form`, relative to these.
// Nothing if they are others.
std::optional<double> DistanceOfScales(const QuantizedForm& form, const QuantizedForm& bias);

// Nothing where the sums may not fit, and for a bias of another type or size.
std::optional<RoundedNumbers> RoundedBias(const QuantizedForm& form, const NDArray& bias);

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_QUANTIZED_BIAS_H_
