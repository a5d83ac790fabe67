// oneDNN as an implementation of convolutions, matrix products, pooling and normalisations.
// Pooling, normalisations and transposed convolutions are taken only where a composite or the
// library choice asks for them: their generated kernels hold the work around them as well.
#ifndef TENON_STRATEGIES_ONEDNN_STRATEGY_H_
#define TENON_STRATEGIES_ONEDNN_STRATEGY_H_

#include "tenon/ops/registry.h"

namespace tenon::strategies::onednn {

// Attaches the rows of pooling, softmax and layer norm.
void AttachRowStrategies(ops::OpRegistry& registry);
// Attaches all rows, including these.
void AttachStrategies(ops::OpRegistry& registry);

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_STRATEGY_H_
