// Convolutions and matrix products by oneDNN whose operands are narrower than their sums: uint8 by
// int8 in int32, and bfloat16 in float32. Generated code stands around them.
#ifndef TENON_STRATEGIES_ONEDNN_NARROW_SUMS_H_
#define TENON_STRATEGIES_ONEDNN_NARROW_SUMS_H_

#include "tenon/strategies/strategy.h"

namespace tenon::strategies::onednn {

// The rows "onednn_narrow" of nn.conv2d and of products of matrices. By default they are taken
// where the CPU has matrix instructions for the type and enough of the work is multiplication.
Implementation NarrowConvolution();
Implementation NarrowProduct();

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_NARROW_SUMS_H_
