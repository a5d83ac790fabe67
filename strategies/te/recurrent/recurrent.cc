// Recurrent layers as one scan over the steps. Row t + 1 of the states follows from row t, and row
// 0 is the initial state. In step t a sequence of n steps reads the inputs of step t or, in
// reverse, those of step n - 1 - t. After its last step its state stays.
#include "tenon/strategies/te/recurrent/recurrent.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tenon/ops/recurrent/recurrent_attrs.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

Expr Apply(const std::string& function, const Expr& x) {
  if (function == "sigmoid") return te::Sigmoid(x);
  if (function == "tanh") return te::Tanh(x);
  CheckInvariant(function == "relu", "the field allows three functions");
  return te::Max(x, te::Cast(x.dtype(), 0));
}

// What all layers share. `step` is a row of the states from 1 on.
class Layer {
 public:
  Layer(const TeCall& call, bool reverse)
      : call_(call),
        type_(call.input(0).dtype()),
        steps_(call.input(0).shape()[0]),
        batch_(call.input(0).shape()[1]),
        hidden_(ExtentOf(call.input(1), 1)),
        reverse_(reverse) {}

  std::vector<Expr> StateShape() const { return {steps_ + 1, batch_, hidden_}; }
  Tensor State(const std::string& name) const {
    return te::Placeholder(StateShape(), type_, StrCat(name, "_state"));
  }
  Tensor Initial(std::size_t input, const std::string& name) const {
    return te::Compute(
        {1, batch_, hidden_},
        [&](const Var&, const Var& b, const Var& j) { return call_.input(input)(b, j); },
        StrCat(name, "_first"));
  }
  Tensor Cell(const std::string& name, const auto& body) const {
    return te::Compute(StateShape(), body, name);
  }

  // For each step and sequence, the sums of state(step, batch, k) * weight over columns of the
  // recurrence, starting `first` gates after its first one. The columns of the last vectors are
  // padded.
  Tensor Sums(const auto& state, std::int64_t first, std::int64_t gates,
              const std::string& name) const {
    const std::int64_t begin = first * hidden_, columns = gates * hidden_;
    const ColumnBlocks blocks = BlocksOf(columns, type_, call_.target);
    const std::int64_t width = blocks.width();
    const Tensor& recurrence = call_.input(1);
    const Tensor weight = call_.Prepared(te::Compute(
        {blocks.count, hidden_, width},
        [&](const Var& block, const Var& k, const Var& i) {
          const Expr column = block * width + i;
          return te::Select(column < columns,
                            recurrence(te::Min(column, Expr(columns - 1)) + begin, k),
                            te::Cast(type_, 0));
        },
        StrCat(name, "_weight"), te::Stored{}));
    const te::IterVar k = te::ReduceAxis(0, hidden_, "k");
    return te::Compute(
        {steps_ + 1, batch_, blocks.columns()},
        [&](const Var& step, const Var& b, const Var& column) {
          return te::Sum(state(step, b, k.var) * weight(te::FloorDiv(column, width), k.var,
                                                        te::FloorMod(column, width)),
                         {k});
        },
        name, te::RecurrentSums{});
  }

  Expr Length(const Expr& b) const {
    return te::Max(te::Min(call_.input(3)(b), te::Cast(Int64, steps_)), Expr(0));
  }
  // Whether the sequence has that step.
  Expr IsActive(const Expr& step, const Expr& b) const { return step <= Length(b); }
  // The inputs of a gate.
  Expr Input(const Expr& step, const Expr& b, std::int64_t gate, const Expr& j) const {
    const Expr time = reverse_ ? te::Max(Length(b) - step, Expr(0)) : step - 1;
    return call_.input(0)(time, b, j + gate * hidden_);
  }
  Expr Bias(std::int64_t gate, const Expr& j) const { return call_.input(2)(j + gate * hidden_); }
  std::int64_t hidden() const { return hidden_; }
  DataType type() const { return type_; }

  // The states as the steps of the sequences have them, 0 after their ends.
  Tensor Sequence(const Tensor& states, const std::string& name) const {
    return te::Compute(
        {steps_, batch_, hidden_},
        [&](const Var& time, const Var& b, const Var& j) {
          const Expr step = reverse_ ? te::Max(Length(b) - time, Expr(0)) : time + 1;
          return te::Select(time < Length(b), states(step, b, j), te::Cast(type_, 0));
        },
        name);
  }
  Tensor Last(const Tensor& states, const std::string& name) const {
    return te::Compute(
        {batch_, hidden_}, [&](const Var& b, const Var& j) { return states(steps_, b, j); }, name);
  }

 private:
  const TeCall& call_;
  const DataType type_;
  const Expr steps_, batch_;
  const std::int64_t hidden_;
  const bool reverse_;
};

// The sums of the state before each step.
Tensor SumsOf(const Layer& layer, const Tensor& h, std::int64_t first, std::int64_t gates,
              const std::string& name) {
  return layer.Sums(
      [&](const Expr& step, const Expr& b, const Expr& k) { return h(step - 1, b, k); }, first,
      gates, name);
}

std::vector<Tensor> Rnn(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::RnnAttrs>();
  const Layer layer(call, attrs.reverse);
  const Tensor h = layer.State("h");
  const Tensor sums = SumsOf(layer, h, 0, 1, "sums");
  const Tensor next = layer.Cell("h_next", [&](const Var& t, const Var& b, const Var& j) {
    const Expr value =
        Apply(attrs.activation, layer.Input(t, b, 0, j) + (sums(t, b, j) + layer.Bias(0, j)));
    return te::Select(layer.IsActive(t, b), value, h(t - 1, b, j));
  });
  const Tensor states = te::Scan({layer.Initial(4, "h")}, {next}, {h}, "h")[0];
  return {layer.Sequence(states, "rnn"), layer.Last(states, "last_h")};
}

std::vector<Tensor> Gru(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::GruAttrs>();
  const Layer layer(call, attrs.reverse);
  const std::int64_t hidden = layer.hidden();
  const Tensor h = layer.State("h");
  const Tensor sums = SumsOf(layer, h, 0, attrs.reset_after ? 3 : 2, "sums");
  const auto gate = [&](std::int64_t g, const Expr& t, const Expr& b, const Expr& j) {
    return Apply(attrs.gate_activation,
                 layer.Input(t, b, g, j) + (sums(t, b, j + g * hidden) + layer.Bias(g, j)));
  };
  // The product that the new gate takes.
  Tensor reset_sums;
  if (!attrs.reset_after) {
    const Tensor reset = layer.Cell("reset", [&](const Var& t, const Var& b, const Var& k) {
      return gate(1, t, b, k) * h(t - 1, b, k);
    });
    reset_sums =
        layer.Sums([&](const Expr& t, const Expr& b, const Expr& k) { return reset(t, b, k); }, 2,
                   1, "reset_sums");
  }
  const Tensor next = layer.Cell("h_next", [&](const Var& t, const Var& b, const Var& j) {
    const Expr recurred = attrs.reset_after
                              ? gate(1, t, b, j) * (sums(t, b, j + 2 * hidden) + layer.Bias(2, j))
                              : reset_sums(t, b, j) + layer.Bias(2, j);
    const Expr fresh = Apply(attrs.activation, layer.Input(t, b, 2, j) + recurred);
    const Expr update = gate(0, t, b, j), before = h(t - 1, b, j);
    const Expr value = (te::Cast(layer.type(), 1) - update) * fresh + update * before;
    return te::Select(layer.IsActive(t, b), value, before);
  });
  const Tensor states = te::Scan({layer.Initial(4, "h")}, {next}, {h}, "h")[0];
  return {layer.Sequence(states, "gru"), layer.Last(states, "last_h")};
}

std::vector<Tensor> Lstm(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::LstmAttrs>();
  const Layer layer(call, attrs.reverse);
  const Tensor h = layer.State("h"), c = layer.State("c");
  const Tensor sums = SumsOf(layer, h, 0, 4, "sums");
  const auto gate = [&](std::int64_t g, const Expr& t, const Expr& b, const Expr& j) {
    return layer.Input(t, b, g, j) + (sums(t, b, j + g * layer.hidden()) + layer.Bias(g, j));
  };
  const Tensor next_c = layer.Cell("c_next", [&](const Var& t, const Var& b, const Var& j) {
    const Expr before = c(t - 1, b, j);
    const Expr value =
        Apply(attrs.gate_activation, gate(2, t, b, j)) * before +
        Apply(attrs.gate_activation, gate(0, t, b, j)) * Apply(attrs.activation, gate(3, t, b, j));
    return te::Select(layer.IsActive(t, b), value, before);
  });
  const Tensor next_h = layer.Cell("h_next", [&](const Var& t, const Var& b, const Var& j) {
    const Expr value = Apply(attrs.gate_activation, gate(1, t, b, j)) *
                       Apply(attrs.output_activation, next_c(t, b, j));
    return te::Select(layer.IsActive(t, b), value, h(t - 1, b, j));
  });
  const std::vector<Tensor> states =
      te::Scan({layer.Initial(4, "h"), layer.Initial(5, "c")}, {next_h, next_c}, {h, c}, "lstm");
  return {layer.Sequence(states[0], "lstm"), layer.Last(states[0], "last_h"),
          layer.Last(states[1], "last_c")};
}

// Whether no step computes anything: there are no steps, no sequences or no states.
bool HasNoSteps(const TeCall& call) {
  const std::vector<Expr>& inputs = call.input(0).shape();
  return std::ranges::any_of(inputs,
                             [](const Expr& extent) { return loop::IsConstInt(extent, 0); });
}

std::vector<Tensor> WithoutSteps(const TeCall& call) {
  std::vector<Tensor> results = {Filled(call.te_shape(), te::Cast(call.dtype(), 0))};
  for (std::size_t state = 4; state < call.inputs.size(); ++state)
    results.push_back(te::Compute(
        call.te_shape(1), [&](const Var& b, const Var& j) { return call.input(state)(b, j); },
        "initial"));
  return results;
}

TeCompute InOneLoop(const char* name, std::vector<Tensor> (*make)(const TeCall& call)) {
  TeForm form;
  form.name = name;
  form.make = [make](const TeCall& call) {
    return HasNoSteps(call) ? WithoutSteps(call) : make(call);
  };
  form.schedule = ScheduleRecurrence;
  return {.make = nullptr, .forms = {std::move(form)}};
}

}  // namespace

void AttachRecurrentComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.rnn").SetColumn(InOneLoop("rnn.one_loop", Rnn));
  registry.Definition("nn.gru").SetColumn(InOneLoop("gru.one_loop", Gru));
  registry.Definition("nn.lstm").SetColumn(InOneLoop("lstm.one_loop", Lstm));
}

}  // namespace tenon::strategies
