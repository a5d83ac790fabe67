// oneDNN as an implementation of convolutions and matrix products.
#ifndef TENON_STRATEGIES_ONEDNN_STRATEGY_H_
#define TENON_STRATEGIES_ONEDNN_STRATEGY_H_

#include "tenon/ops/registry.h"

namespace tenon::strategies::onednn {

void AttachStrategies(ops::OpRegistry& registry);

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_STRATEGY_H_
