// Recurrent layers over whole sequences: nn.rnn, nn.gru and nn.lstm.
#include <cstdint>

#include "tenon/ops/builtin.h"
#include "tenon/ops/recurrent/recurrent_attrs.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;
using ir::TensorTypeNode;

// Learns what the argument lacks of the type. Extents of two names stay two, of which a run needs
// that they are equal.
void Take(TypeCall& call, std::size_t i, const char* what, const std::vector<Dim>& wanted,
          DataType dtype) {
  std::vector<Dim> shape = wanted;
  if (const TensorTypeNode* given = call.tensor(i)) {
    if (given->dtype != dtype) call.Refuse(StrCat(what, " must be ", dtype.ToString()));
    if (call.Differ(given->shape, wanted))
      call.Refuse(StrCat(
          what, " must have the shape (",
          StrJoin(wanted, ", ",
                  [](std::string* text, const Dim& dim) { StrAppend(text, dim.ToString()); }),
          ")"));
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!given->shape[d].is_any() && !shape[d].is_static()) shape[d] = given->shape[d];
    }
  }
  call.LearnInput(i, ir::TensorType(std::move(shape), dtype));
}

// Arguments: gates, recurrence, bias, lengths, then `states` initial states.
void Layer(TypeCall& call, std::int64_t gates, std::size_t states) {
  const auto* inputs = call.tensor(0);
  const auto* recurrence = call.tensor(1);
  if (inputs == nullptr || recurrence == nullptr) return;
  if (inputs->shape.size() != 3)
    call.Refuse("the inputs of the gates must have the shape (steps, batch, gates * hidden)");
  if (inputs->dtype != Float32 && inputs->dtype != Float64)
    call.Refuse("the inputs of the gates must be float32 or float64");
  if (recurrence->shape.size() != 2 || !recurrence->shape[1].is_static())
    call.Refuse("the recurrence must have the shape (gates * hidden, hidden), which is known");
  const Dim &steps = inputs->shape[0], &batch = inputs->shape[1], &hidden = recurrence->shape[1];
  const Dim columns = Product({Dim(gates), hidden});
  if (call.Differ(inputs->shape[2], columns))
    call.Refuse(StrCat("the last axis of the inputs of the gates must be ", columns.ToString(),
                       ": ", gates, " gates of ", hidden.ToString()));
  Take(call, 1, "the recurrence", {columns, hidden}, inputs->dtype);
  Take(call, 2, "the bias", {columns}, inputs->dtype);
  Take(call, 3, "the lengths", {batch}, Int64);
  std::vector<ir::Type> results = {ir::TensorType({steps, batch, hidden}, inputs->dtype)};
  for (std::size_t i = 0; i < states; ++i) {
    Take(call, 4 + i, "an initial state", {batch, hidden}, inputs->dtype);
    results.push_back(ir::TensorType({batch, hidden}, inputs->dtype));
  }
  call.LearnResult(ir::TupleType(std::move(results)));
}

}  // namespace

void RegisterRecurrentOps(OpRegistry& registry) {
  const auto op = [&](const char* name, const char* help, const char* gates) {
    OpBuilder made = registry.Register(name);
    made.Describe(help)
        .Argument("gates", "3D Tensor", gates)
        .Argument("recurrence", "2D Tensor",
                  "(gates * hidden, hidden): the weight of the state, gate after gate")
        .Argument("bias", "1D Tensor", "(gates * hidden), added to the product with the state")
        .Argument("lengths", "1D Tensor",
                  "(batch) of int64: how many steps each sequence has. Results after them are 0")
        .Argument("initial_h", "2D Tensor", "(batch, hidden): the state before the first step");
    made.Level(5).Pattern(OpPattern::kOpaque);
    return made;
  };
  op("nn.rnn",
     "a recurrent layer over sequences: h = f(gates + recurrence h + bias). Gives all states "
     "(steps, batch, hidden) and the last one",
     "(steps, batch, hidden): products of the inputs with their weight")
      .Attrs<RnnAttrs>()
      .TypeRelation([](TypeCall& call) { Layer(call, 1, 1); }, "Rnn");
  op("nn.gru",
     "a layer of gated recurrent units over sequences, with the gates update, reset and new. Gives "
     "all states (steps, batch, hidden) and the last one",
     "(steps, batch, 3 * hidden): products of the inputs with their weights")
      .Attrs<GruAttrs>()
      .TypeRelation([](TypeCall& call) { Layer(call, 3, 1); }, "Gru");
  op("nn.lstm",
     "a layer of long short-term memory over sequences, with the gates input, output, forget and "
     "new. Gives all states (steps, batch, hidden), the last one and the last cell",
     "(steps, batch, 4 * hidden): products of the inputs with their weights")
      .Argument("initial_c", "2D Tensor", "(batch, hidden): the cell before the first step")
      .Attrs<LstmAttrs>()
      .TypeRelation([](TypeCall& call) { Layer(call, 4, 2); }, "Lstm");
}

}  // namespace tenon::ops
