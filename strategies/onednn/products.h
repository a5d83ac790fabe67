// nn.dense, nn.matmul and nn.batch_matmul in the adapter's terms.
#ifndef TENON_STRATEGIES_ONEDNN_PRODUCTS_H_
#define TENON_STRATEGIES_ONEDNN_PRODUCTS_H_

#include <optional>
#include <string>

#include "tenon/ir/expr.h"
#include "tenon/strategies/onednn/adapter.h"

namespace tenon::strategies::onednn {

MatrixProduct DescribeProduct(const ir::CallNode& anchor);
std::optional<std::string> RefuseExtents(const MatrixProduct& product);

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_PRODUCTS_H_
