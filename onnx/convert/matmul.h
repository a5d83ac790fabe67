// The product of MatMul and similar operators, whose operands may have any rank: vectors become
// matrices, and batches broadcast together.
//
//   Expr y = ProductOfAnyRank(node, a, b, by_matrix, by_batch);
#ifndef TENON_ONNX_CONVERT_MATMUL_H_
#define TENON_ONNX_CONVERT_MATMUL_H_

#include <functional>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

using Product = std::function<Expr(const Expr& a, const Expr& b)>;

// `by_matrix` multiplies rows with any number of axes by a matrix [k, n]. `by_batch` multiplies [b,
// m, k] by [b, k, n]. Throws InvalidArgument for operands of rank 0 and for batches that do not
// broadcast.
Expr ProductOfAnyRank(const Node& node, Expr a, Expr b, const Product& by_matrix,
                      const Product& by_batch);
// The product of MatMul itself, by matmul and batch_matmul.
Expr ProductOfAnyRank(const Node& node, const Expr& a, const Expr& b);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_MATMUL_H_
