#include "tenon/models/lstm.h"

#include <algorithm>

#include "tenon/models/weights.h"
#include "tenon/ops/builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::models {
namespace {

using ir::Expr;

void Check(const LstmOptions& o) {
  if (std::min({o.steps, o.batch, o.features, o.hidden}) < 1)
    throw InvalidArgument(StrCat("steps, batch, features and hidden are ", o.steps, ", ", o.batch,
                                 ", ", o.features, " and ", o.hidden, "; all must be at least 1"));
}

struct Parameters {
  Expr of_input, of_state, input_bias, state_bias;
};

struct State {
  Expr hidden, cell;
};

State Step(const Parameters& p, const Expr& x, const State& state, std::int64_t hidden) {
  const Expr input = ops::BiasAdd(ops::Dense(x, p.of_input, {.units = 4 * hidden}), p.input_bias);
  const Expr carried =
      ops::BiasAdd(ops::Dense(state.hidden, p.of_state, {.units = 4 * hidden}), p.state_bias);
  const Expr gates =
      ops::Split(ops::Add(input, carried), {.indices_or_sections = std::int64_t{4}, .axis = 1});
  const auto gate = [&](int index) -> Expr { return ir::TupleGetItem::Make(gates, index); };
  const Expr kept = ops::Multiply(ops::Sigmoid(gate(1)), state.cell);
  const Expr added = ops::Multiply(ops::Sigmoid(gate(0)), ops::Tanh(gate(2)));
  const Expr cell = ops::Add(kept, added);
  return {ops::Multiply(ops::Sigmoid(gate(3)), ops::Tanh(cell)), cell};
}

}  // namespace

ir::Module Lstm(const LstmOptions& o) {
  Check(o);
  Weights weights(o.seed);
  const Parameters parameters = {
      weights.Kernel({4 * o.hidden, o.features}), weights.Kernel({4 * o.hidden, o.hidden}),
      weights.Vector(4 * o.hidden, -0.1, 0.1), weights.Vector(4 * o.hidden, -0.1, 0.1)};
  const ir::Var data =
      ir::Var::Make("data", ir::TensorType({o.steps, o.batch, o.features}, Float32));
  const Expr steps = ops::Split(data, {.indices_or_sections = o.steps, .axis = 0});
  const Expr zeros = ir::Constant::Make(NDArray::Zeros({o.batch, o.hidden}, Float32));
  State state = {zeros, zeros};
  for (std::int64_t i = 0; i < o.steps; ++i) {
    const Expr step = ir::TupleGetItem::Make(steps, static_cast<int>(i));
    state = Step(parameters, ops::Reshape(step, {o.batch, o.features}), state, o.hidden);
  }
  return ir::Module().With("main", ir::Function::Make({data}, state.hidden));
}

}  // namespace tenon::models
