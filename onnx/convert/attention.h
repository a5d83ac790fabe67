// Attention over several heads (Vaswani et al., "Attention is all you need", NeurIPS 2017), as the
// operators of ONNX Runtime's domain com.microsoft define it: masks are added to the scores.
//
//   const Heads heads{SplitHeads(node, q, 12), SplitHeads(node, k, 12), SplitHeads(node, v, 12)};
//   Expr y = Attend(node, heads, {.mask = mask});
#ifndef TENON_ONNX_CONVERT_ATTENTION_H_
#define TENON_ONNX_CONVERT_ATTENTION_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// Typed, of the shape [batch, heads, length, size]; keys and values have one length.
struct Heads {
  Expr query, key, value;
};

struct AttentionOptions {
  double scale = 0;        // of the scores; 0 stands for 1 / sqrt(size of a head)
  double masked = -10000;  // what is added to the score of a masked key
  bool unidirectional = false;
  Expr past;  // undefined, or an int64: keys before those of the first query
  // Undefined, or integers of one of these shapes: [batch], the number of keys that count; [2 *
  // batch], their ends, then their begins; [batch, keys] or [batch, queries, keys], not positive
  // where a key is masked.
  Expr mask;
  Expr bias;  // undefined, or added to the scores, to which it broadcasts
};

// The attribute num_heads. Throws InvalidArgument when it is missing or not positive.
std::int64_t NumHeads(Node& node);
// [batch, length, heads * size] as [batch, heads, length, size]. Throws InvalidArgument.
Expr SplitHeads(const Node& node, const Expr& x, std::int64_t heads);
// Throws InvalidArgument unless the past at an input has the shape of what was made, except for the
// length.
void RequirePast(std::size_t input, const std::vector<Dim>& past, const std::vector<Dim>& made);
// `past` followed by `x`, both [batch, heads, length, size]; only `x` when there is no past.
Expr AfterPast(const Node& node, const Expr& past, const Expr& x);
// scale * queries * transposed keys, of matrices [batch, queries, size] and [batch, keys, size].
// Halves are scaled before they are multiplied, so that large products do not overflow.
Expr ScaledScores(const Node& node, const Expr& queries, const Expr& keys, double scale);
// The result is [batch, queries, heads * size of a value]. Throws InvalidArgument or Unimplemented
// for masks of other shapes.
Expr Attend(const Node& node, const Heads& heads, const AttentionOptions& options);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_ATTENTION_H_
