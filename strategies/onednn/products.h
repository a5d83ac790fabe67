// nn.dense, nn.matmul and nn.batch_matmul in the adapter's terms.
#ifndef TENON_STRATEGIES_ONEDNN_PRODUCTS_H_
#define TENON_STRATEGIES_ONEDNN_PRODUCTS_H_

#include <optional>
#include <string>

#include "tenon/ir/expr.h"
#include "tenon/strategies/onednn/adapter.h"

namespace tenon::strategies::onednn {

MatrixProduct DescribeProduct(const ir::CallNode& anchor);

// Why generated code is faster, or nothing. `is_constant` says whether the second operand is
// constant.
std::optional<std::string> RefuseSlower(const MatrixProduct& product, bool is_constant);
std::optional<std::string> RefuseExtents(const MatrixProduct& product);

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_PRODUCTS_H_
