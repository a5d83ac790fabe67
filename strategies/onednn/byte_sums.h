// Convolutions and matrix products of uint8 by int8 by oneDNN, with generated code around them.
#ifndef TENON_STRATEGIES_ONEDNN_BYTE_SUMS_H_
#define TENON_STRATEGIES_ONEDNN_BYTE_SUMS_H_

#include <optional>
#include <string>

#include "tenon/strategies/strategy.h"

namespace tenon::strategies::onednn {

// Whether it sums products of uint8 by int8 in int32. The others are for such.
bool IsOfBytes(const ir::CallNode& anchor);

std::optional<std::string> RefuseByteConvolution(const Group& group);
Built BuildByteConvolution(const Group& group);
std::optional<std::string> RefuseByteProduct(const Group& group);
Built BuildByteProduct(const Group& group);

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_BYTE_SUMS_H_
