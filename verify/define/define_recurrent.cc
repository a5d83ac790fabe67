// Recurrent layers, step by step. A step after the end of its sequence changes nothing.
#include <algorithm>
#include <cmath>
#include <string>

#include "tenon/ops/recurrent/recurrent_attrs.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

using Vector = std::vector<Real>;

Real Applied(const std::string& function, Real x) {
  if (function == "sigmoid") return 1 / (1 + std::exp(-x));
  return function == "tanh" ? std::tanh(x) : std::max(x, Real{0});
}

// One step of one sequence.
class Step {
 public:
  Step(const DefinedCall& call, std::int64_t first) : call_(call), first_(first) {}

  std::int64_t hidden() const { return call_.shape(1)[1]; }
  Real Input(std::int64_t gate, std::int64_t j) const {
    return call_.Arg(0, first_ + gate * hidden() + j);
  }
  // Of the recurrence with a state, and the bias.
  Real Recurred(std::int64_t gate, std::int64_t j, const Vector& state) const {
    const std::int64_t row = gate * hidden() + j;
    Real sum = call_.Arg(2, row);
    for (std::int64_t k = 0; k < hidden(); ++k)
      sum += call_.Arg(1, row * hidden() + k) * state[static_cast<std::size_t>(k)];
    return sum;
  }
  Real Gate(const std::string& function, std::int64_t gate, std::int64_t j,
            const Vector& state) const {
    return Applied(function, Input(gate, j) + Recurred(gate, j, state));
  }
  Vector Each(const std::function<Real(std::int64_t j)>& of) const {
    Vector made;
    for (std::int64_t j = 0; j < hidden(); ++j) made.push_back(of(j));
    return made;
  }

 private:
  const DefinedCall& call_;
  const std::int64_t first_;  // of the inputs of this step
};

// Changes the states: h, and the cell where there is one.
using Advance = std::function<void(const Step& step, std::vector<Vector>* states)>;

std::vector<Definition> Layer(const DefinedCall& call, bool reverse, const Advance& advance) {
  const Shape& inputs = call.shape(0);
  const std::int64_t steps = inputs[0], batch = inputs[1], hidden = call.shape(1)[1];
  std::vector<Definition> made(call.results.size());
  for (std::size_t r = 0; r < made.size(); ++r)
    made[r].elements.resize(static_cast<std::size_t>(call.results[r].size()));
  Real largest = 1;
  const auto put = [&](std::size_t result, std::int64_t row, const Vector& values) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      made[result].elements[static_cast<std::size_t>(row * hidden) + j].real = values[j];
      if (std::isfinite(values[j])) largest = std::max(largest, std::abs(values[j]));
    }
  };
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = std::clamp<std::int64_t>(IndexAt(call.args[3], b), 0, steps);
    std::vector<Vector> states;
    for (std::size_t state = 4; state < call.args.size(); ++state) {
      states.emplace_back();
      for (std::int64_t j = 0; j < hidden; ++j)
        states.back().push_back(call.Arg(state, b * hidden + j));
    }
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int64_t row = (reverse ? length - 1 - t : t) * batch + b;
      advance(Step(call, row * inputs[2]), &states);
      put(0, row, states[0]);
    }
    for (std::size_t state = 0; state < states.size(); ++state) put(1 + state, b, states[state]);
  }
  // Errors pass from step to step.
  const Real tolerance = 4000 * static_cast<Real>(RoundingError(call.results[0].dtype())) * largest;
  for (Definition& definition : made)
    definition.tolerances.assign(definition.elements.size(), tolerance);
  return made;
}

std::vector<Definition> Rnn(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::RnnAttrs>();
  return Layer(call, attrs.reverse, [&](const Step& step, std::vector<Vector>* states) {
    Vector& h = states->at(0);
    h = step.Each([&](std::int64_t j) { return step.Gate(attrs.activation, 0, j, h); });
  });
}

// Gates: update, reset, new.
std::vector<Definition> Gru(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::GruAttrs>();
  return Layer(call, attrs.reverse, [&](const Step& step, std::vector<Vector>* states) {
    Vector& h = states->at(0);
    const auto gate = [&](std::int64_t g) {
      return step.Each([&](std::int64_t j) { return step.Gate(attrs.gate_activation, g, j, h); });
    };
    const Vector update = gate(0), reset = gate(1);
    const auto at = [](const Vector& of, std::int64_t j) {
      return of[static_cast<std::size_t>(j)];
    };
    const Vector kept = step.Each([&](std::int64_t j) { return at(reset, j) * at(h, j); });
    h = step.Each([&](std::int64_t j) {
      const Real recurred =
          attrs.reset_after ? at(reset, j) * step.Recurred(2, j, h) : step.Recurred(2, j, kept);
      const Real fresh = Applied(attrs.activation, step.Input(2, j) + recurred);
      return (1 - at(update, j)) * fresh + at(update, j) * at(h, j);
    });
  });
}

// Gates: input, output, forget, new.
std::vector<Definition> Lstm(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::LstmAttrs>();
  return Layer(call, attrs.reverse, [&](const Step& step, std::vector<Vector>* states) {
    Vector &h = states->at(0), &c = states->at(1);
    const auto gate = [&](std::int64_t g, const std::string& function) {
      return step.Each([&](std::int64_t j) { return step.Gate(function, g, j, h); });
    };
    const Vector in = gate(0, attrs.gate_activation), out = gate(1, attrs.gate_activation),
                 forget = gate(2, attrs.gate_activation), fresh = gate(3, attrs.activation);
    for (std::size_t j = 0; j < h.size(); ++j) {
      c[j] = forget[j] * c[j] + in[j] * fresh[j];
      h[j] = out[j] * Applied(attrs.output_activation, c[j]);
    }
  });
}

}  // namespace

void AddRecurrentDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["nn.rnn"] = Rnn;
  t["nn.gru"] = Gru;
  t["nn.lstm"] = Lstm;
}

}  // namespace tenon::verify
