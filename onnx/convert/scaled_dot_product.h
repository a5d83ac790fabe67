// Attention of query heads to as many or fewer heads of keys and values (Ainslie et al., "GQA",
// 2023): softmax(softcap(scale * query * key^T) + bias) * value. Extents may be expressions.
//
//   const AttentionStages stages = Attended(node, {.query = q, .key = k, .value = v});
#ifndef TENON_ONNX_CONVERT_SCALED_DOT_PRODUCT_H_
#define TENON_ONNX_CONVERT_SCALED_DOT_PRODUCT_H_

#include <optional>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

struct ScaledDotProduct {
  Expr query;                   // [batch, heads, queries, size]
  Expr key, value;              // [batch, groups, keys, size]; the heads of a group are neighbours
  std::optional<double> scale;  // of the scores; 1 / sqrt(size) where it is not given
  double softcap = 0;           // not 0: scores become softcap * tanh(score / softcap)
  Expr bias;                    // undefined, or added to the scores, to which it broadcasts
  Expr seen;  // undefined, or a bool that broadcasts to the scores: the keys that count
  // Undefined, or int64, a scalar or [batch]: query i sees key j when j <= i + offset.
  Expr causal_offset;
  std::int64_t window = -1;  // from 0 on: how many keys a query sees at most, the last ones
  Expr lengths;              // undefined, or int64 [batch]: how many keys count
  Expr sinks;  // undefined, or [heads]: scores of keys without a value that every query sees
  DataType precision = DataType::Void();  // of the softmax; void: that of the scores
};

// Typed; the scores are [batch, heads, queries, keys].
struct AttentionStages {
  Expr scores, capped, masked, weights;
  Expr result;  // [batch, heads, queries, size of a value]; 0 for a query that sees no key
};

// Throws InvalidArgument when the shapes do not fit.
AttentionStages Attended(const Node& node, const ScaledDotProduct& of);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_SCALED_DOT_PRODUCT_H_
