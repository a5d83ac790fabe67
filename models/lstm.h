// A long short-term memory with generated weights, unrolled over time: Hochreiter and Schmidhuber,
// "Long Short-Term Memory", 1997, with the forget gate of Gers et al., 2000.
//
//   ir::Module m = Lstm({.steps = 4});   // @main(%data): (4, 1, 128) -> (1, 256)
#ifndef TENON_MODELS_LSTM_H_
#define TENON_MODELS_LSTM_H_

#include <cstdint>

#include "tenon/ir/module.h"

namespace tenon::models {

struct LstmOptions {
  std::int64_t steps = 16;
  std::int64_t batch = 1;
  std::int64_t features = 128;
  std::int64_t hidden = 256;
  std::uint64_t seed = 1;
};

// @main from %data of shape (steps, batch, features) to the last hidden state of shape (batch,
// hidden). States start at 0. The gates are in the order input, forget, cell, output; there is one
// bias for the input and one for the state. Throws InvalidArgument for impossible values.
ir::Module Lstm(const LstmOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_LSTM_H_
