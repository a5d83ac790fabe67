// The encoder of the transformer with generated weights: Vaswani et al., "Attention Is All You
// Need", 2017, section 3, with layer norm after each residual sum.
//
//   ir::Module m = TransformerEncoder();   // @main(%data): (128, 256) -> (128, 256)
#ifndef TENON_MODELS_TRANSFORMER_H_
#define TENON_MODELS_TRANSFORMER_H_

#include <cstdint>

#include "tenon/ir/module.h"

namespace tenon::models {

struct TransformerOptions {
  std::int64_t layers = 4;
  std::int64_t tokens = 128;
  std::int64_t features = 256;  // a multiple of heads
  std::int64_t heads = 8;
  std::int64_t hidden = 1024;  // features of the inner layer of the feed-forward network
  std::uint64_t seed = 1;
};

// @main from embedded tokens %data of shape (tokens, features) to the same shape. Throws
// InvalidArgument for impossible values.
ir::Module TransformerEncoder(const TransformerOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_TRANSFORMER_H_
