// Products of matrices by weights of 8 bits or fewer, which the library multiplies by their scales
// on the way. Memory holds the weights in bytes.
//
//   multiply(cast(subtract(cast(w), zero)), scale), with a scale for each column, or also for each
//   block of rows
#ifndef TENON_STRATEGIES_ONEDNN_SCALED_WEIGHTS_H_
#define TENON_STRATEGIES_ONEDNN_SCALED_WEIGHTS_H_

#include "tenon/strategies/strategy.h"
#include "tenon/support/ndarray.h"

namespace tenon::strategies::onednn {

// A matrix [depth, columns]: each element is that of `values` times the scale of its block and
// column.
struct ScaledWeights {
  NDArray values;  // int8 [depth, columns]
  NDArray scales;  // float32 [blocks, columns]
};

// Whether the right operand of a product is computed in the group as one of such a matrix.
bool HasScaledWeights(const ir::CallNode& product);
// What that operand is, or its transpose. Refused where its elements are not known, are no numbers
// of 8 bits or have scales that are not finite.
OrRefused<ScaledWeights> ReadScaledWeights(const Group& group, const ir::CallNode& product,
                                           bool transposed);

// The row "onednn_scaled" of products of matrices, for composites and for those who ask for the
// library.
Implementation ScaledProduct();

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_SCALED_WEIGHTS_H_
