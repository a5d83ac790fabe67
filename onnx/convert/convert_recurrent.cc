// RNN, GRU and LSTM. The projections of all inputs are one matrix product. The steps are one
// operator (nn.rnn, nn.gru, nn.lstm) where that knows the layer's form. Otherwise each step is
// written out: a product with the recurrence weights, plus elementwise functions.
#include <functional>

#include "tenon/onnx/convert/converters.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/recurrent_attrs.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// A step that is written out adds its own expressions, so their number is limited.
constexpr std::int64_t kMaxSteps = 4096;

using Function = Expr (*)(const Expr&);

// An activation: its name in an operator's attributes, and as an operator of its own.
struct Activation {
  const char* onnx;
  const char* name;
  Function function;
};
constexpr Activation kActivations[] = {
    {"Sigmoid", "sigmoid", ops::Sigmoid}, {"Tanh", "tanh", ops::Tanh}, {"Relu", "relu", ops::Relu}};

const Activation& ActivationOf(const std::string& onnx) {
  for (const Activation& known : kActivations) {
    if (onnx == known.onnx) return known;
  }
  throw Unimplemented(
      StrCat("the activation ", onnx, " is not supported; Sigmoid, Tanh and Relu are"));
}

template <typename AttrsType>
Expr Call(const char* op, std::vector<Expr> args, AttrsType attrs) {
  return ir::Call::Make(ops::OpRegistry::Global().Get(op), std::move(args),
                        attrs::Attrs::Make(std::move(attrs)));
}

struct Cell {
  std::int64_t gates;
  std::vector<std::string> activations;  // defaults for one direction
};

// One direction of the layer.
struct Direction {
  Expr x_gates;     // (steps, batch, gates * hidden), with the input's bias
  Expr recurrence;  // (gates * hidden, hidden)
  Expr bias;        // (gates * hidden) of the recurrence
  Expr h, c;        // (batch, hidden)
  Expr peepholes;   // (3 * hidden) or null
  std::vector<Activation> activations;
  bool reverse = false;
};

class Layer {
 public:
  Layer(Node& node, const Cell& cell) : node_(node), cell_(cell) {
    if (node.Has("clip")) throw Unimplemented("the attribute clip is not supported");
    batch_first_ = node.Int("layout", 0) != 0;
    x_ = batch_first_ ? node.Typed(ops::Transpose(node.input(0), Ints{1, 0, 2})) : node.input(0);
    const Shape x = ShapeOf(x_), w = ShapeOf(node.input(1)), r = ShapeOf(node.input(2));
    if (x.size() != 3 || w.size() != 3 || r.size() != 3)
      throw InvalidArgument("X, W and R must have rank 3");
    steps_ = x[0];
    batch_ = x[1];
    inputs_ = x[2];
    hidden_ = r[2];
    if (node.Int("hidden_size", hidden_) != hidden_)
      throw InvalidArgument("hidden_size is not the extent of R");
    direction_ = node.String("direction", "forward");
    if (direction_ != "forward" && direction_ != "reverse" && direction_ != "bidirectional")
      throw InvalidArgument(
          StrCat("direction is ", direction_, "; it may be forward, reverse or bidirectional"));
    directions_ = direction_ == "bidirectional" ? 2 : 1;
    if (w[0] != directions_ || w[1] != cell.gates * hidden_ || w[2] != inputs_ ||
        r[0] != directions_ || r[1] != w[1])
      throw InvalidArgument(StrCat("W and R must be (", directions_, ", ", cell.gates * hidden_,
                                   ", ", inputs_, ") and (", directions_, ", ",
                                   cell.gates * hidden_, ", ", hidden_, ")"));
  }

  std::int64_t hidden() const { return hidden_; }
  Expr Number(double value) const { return ops::Scalar(value, DataTypeOf(x_)); }
  // The columns of gate g.
  Expr Gate(const Expr& all, std::int64_t g) const {
    return ops::StridedSlice(all, {.begin = {g * hidden_},
                                   .end = {(g + 1) * hidden_},
                                   .strides = {1},
                                   .axes = Ints{RankOf(all) - 1}});
  }
  // The state (batch, hidden) times the rows of gates [first, last) of the recurrence, plus their
  // bias.
  Expr Recur(const Direction& d, const Expr& state, std::int64_t first, std::int64_t last) const {
    const auto rows = [&](const Expr& e) {
      return node_.Typed(ops::StridedSlice(
          e,
          {.begin = {first * hidden_}, .end = {last * hidden_}, .strides = {1}, .axes = Ints{0}}));
    };
    return node_.Typed(ops::Add(ops::Dense(state, rows(d.recurrence)), rows(d.bias)));
  }
  Expr Typed(const Expr& e) const { return node_.Typed(e); }

  // One step: gets the projected input and the direction with its state, and updates the state.
  using Step = std::function<void(const Layer& layer, const Expr& gates, Direction* d)>;
  // The operator of all steps, with the attributes for that direction.
  using Whole = std::function<Expr(const std::vector<Expr>& args, const Direction& d)>;
  std::vector<Expr> Run(const Whole& whole, const Step& step, bool has_cell) {
    std::vector<Expr> sequences, last_h, last_c;
    for (std::int64_t k = 0; k < directions_; ++k) {
      Direction d = MakeDirection(k, has_cell);
      const Expr sequence = IsWhole(d) ? AllSteps(whole, &d, has_cell) : StepByStep(step, &d);
      sequences.push_back(node_.Typed(ops::ExpandDims(sequence, 1)));
      last_h.push_back(node_.Typed(ops::ExpandDims(d.h, 0)));
      if (has_cell) last_c.push_back(node_.Typed(ops::ExpandDims(d.c, 0)));
    }
    // The shapes are (steps, directions, batch, hidden) and (directions, batch, hidden).
    Expr y = ops::Concatenate(sequences, 1);
    Expr h = ops::Concatenate(last_h, 0);
    std::vector<Expr> results;
    if (batch_first_) {
      y = ops::Transpose(y, Ints{2, 0, 1, 3});
      h = ops::Transpose(h, Ints{1, 0, 2});
    }
    results = {node_.Typed(y), node_.Typed(h)};
    if (has_cell) {
      Expr c = ops::Concatenate(last_c, 0);
      if (batch_first_) c = ops::Transpose(c, Ints{1, 0, 2});
      results.push_back(node_.Typed(c));
    }
    return results;
  }

 private:
  // Whether there is an operator of all steps.
  bool IsWhole(const Direction& d) const {
    const DataType type = DataTypeOf(x_);
    return !d.peepholes && (type == Float32 || type == Float64);
  }

  // The states of all steps; those of `d` become the last ones.
  Expr AllSteps(const Whole& whole, Direction* d, bool has_cell) const {
    std::vector<Expr> args = {d->x_gates, d->recurrence, d->bias, Lengths(), d->h};
    if (has_cell) args.push_back(d->c);
    const Expr results = node_.Typed(whole(args, *d));
    d->h = node_.Typed(ir::TupleGetItem::Make(results, 1));
    if (has_cell) d->c = node_.Typed(ir::TupleGetItem::Make(results, 2));
    return node_.Typed(ir::TupleGetItem::Make(results, 0));
  }
  Expr StepByStep(const Step& step, Direction* d) const {
    if (steps_ < 1 || steps_ > kMaxSteps)
      throw Unimplemented(StrCat("a sequence of ", steps_,
                                 " steps with peepholes or of 16-bit floats is not supported; 1 "
                                 "to ",
                                 kMaxSteps, " are"));
    RequireWholeSequences();
    std::vector<Expr> outputs(static_cast<std::size_t>(steps_));
    for (std::int64_t i = 0; i < steps_; ++i) {
      const std::int64_t t = d->reverse ? steps_ - 1 - i : i;
      step(*this, At(d->x_gates, t), d);
      outputs[static_cast<std::size_t>(t)] = ops::ExpandDims(d->h, 0);
    }
    return node_.Typed(ops::Concatenate(outputs, 0));
  }

  // How many steps each sequence of the batch has.
  Expr Lengths() const {
    if (!node_.has_input(4))
      return ir::Constant::Make(NDArray::FromVector<std::int64_t>(
          {batch_}, std::vector<std::int64_t>(static_cast<std::size_t>(batch_), steps_)));
    return node_.Typed(ops::Cast(node_.input(4), Int64));
  }

  void RequireWholeSequences() const {
    if (!node_.has_input(4)) return;
    if (node_.input(4).As<ir::ConstantNode>() == nullptr)
      throw Unimplemented(
          "sequence_lens must be known when the model is imported, and the same for all: packed "
          "sequences (pack_padded_sequence) are not supported, only sequences of one length");
    for (const std::int64_t length : node_.ConstantInts(4)) {
      if (length != steps_)
        throw Unimplemented(StrCat("sequence_lens has ", length, " for ", steps_,
                                   " steps; sequences of one length are supported"));
    }
  }

  // Element k of the first axis.
  Expr At(const Expr& e, std::int64_t k) const { return node_.Typed(ElementAlong(e, k, 0)); }

  Expr State(std::size_t input, std::int64_t k) const {
    if (!node_.has_input(input)) return ZerosOf({batch_, hidden_}, DataTypeOf(x_));
    Expr state = node_.input(input);
    if (batch_first_) state = node_.Typed(ops::Transpose(state, Ints{1, 0, 2}));
    return At(state, k);
  }

  Direction MakeDirection(std::int64_t k, bool has_cell) {
    Direction d;
    const std::int64_t rows = cell_.gates * hidden_;
    Expr gates = ops::Dense(node_.Typed(ops::Reshape(x_, {steps_ * batch_, inputs_})),
                            At(node_.input(1), k));
    d.recurrence = At(node_.input(2), k);
    if (node_.has_input(3)) {
      const Expr both = At(node_.input(3), k);
      const auto half = [&](std::int64_t i) {
        return node_.Typed(ops::StridedSlice(
            both, {.begin = {i * rows}, .end = {(i + 1) * rows}, .strides = {1}, .axes = Ints{0}}));
      };
      gates = ops::Add(gates, half(0));
      d.bias = half(1);
    } else {
      d.bias = ZerosOf({rows}, DataTypeOf(x_));
    }
    d.x_gates = node_.Typed(ops::Reshape(gates, {steps_, batch_, rows}));
    d.h = State(5, k);
    if (has_cell) d.c = State(6, k);
    if (has_cell && node_.has_input(7)) d.peepholes = At(node_.input(7), k);
    const std::vector<std::string> names = Activations();
    const std::size_t each = cell_.activations.size();
    for (std::size_t i = 0; i < each; ++i)
      d.activations.push_back(ActivationOf(names[static_cast<std::size_t>(k) * each + i]));
    d.reverse = direction_ == "reverse" || k == 1;
    return d;
  }

  std::vector<std::string> Activations() {
    std::vector<std::string> names;
    if (const auto* given = node_.Find("activations"))
      names.assign(given->strings().begin(), given->strings().end());
    const std::size_t wanted = cell_.activations.size() * static_cast<std::size_t>(directions_);
    if (names.empty()) {
      for (std::int64_t k = 0; k < directions_; ++k)
        names.insert(names.end(), cell_.activations.begin(), cell_.activations.end());
    }
    if (names.size() != wanted)
      throw InvalidArgument(StrCat("activations has ", names.size(), " names; it takes ", wanted));
    return names;
  }

  Node& node_;
  const Cell cell_;
  bool batch_first_ = false;
  std::string direction_;
  Expr x_;
  std::int64_t steps_ = 0, batch_ = 0, inputs_ = 0, hidden_ = 0, directions_ = 1;
};

std::vector<Expr> Rnn(Node& node) {
  Layer layer(node, {.gates = 1, .activations = {"Tanh"}});
  return layer.Run(
      [](const std::vector<Expr>& args, const Direction& d) {
        return Call("nn.rnn", args,
                    ops::RnnAttrs{.activation = d.activations[0].name, .reverse = d.reverse});
      },
      [](const Layer& l, const Expr& gates, Direction* d) {
        d->h = l.Typed(d->activations[0].function(ops::Add(gates, l.Recur(*d, d->h, 0, 1))));
      },
      false);
}

// The gates are z, r and h.
std::vector<Expr> Gru(Node& node) {
  const bool reset_after = node.Int("linear_before_reset", 0) != 0;
  Layer layer(node, {.gates = 3, .activations = {"Sigmoid", "Tanh"}});
  return layer.Run(
      [reset_after](const std::vector<Expr>& args, const Direction& d) {
        return Call("nn.gru", args,
                    ops::GruAttrs{.gate_activation = d.activations[0].name,
                                  .activation = d.activations[1].name,
                                  .reset_after = reset_after,
                                  .reverse = d.reverse});
      },
      [reset_after](const Layer& l, const Expr& gates, Direction* d) {
        const Expr zr = l.Recur(*d, d->h, 0, 2);
        const auto gate = [&](std::int64_t g) {
          return l.Typed(d->activations[0].function(ops::Add(l.Gate(gates, g), l.Gate(zr, g))));
        };
        const Expr z = gate(0), r = gate(1);
        const Expr recurred = reset_after ? ops::Multiply(r, l.Recur(*d, d->h, 2, 3))
                                          : l.Recur(*d, l.Typed(ops::Multiply(r, d->h)), 2, 3);
        const Expr h = l.Typed(d->activations[1].function(ops::Add(l.Gate(gates, 2), recurred)));
        d->h = l.Typed(
            ops::Add(ops::Multiply(ops::Subtract(l.Number(1), z), h), ops::Multiply(z, d->h)));
      },
      false);
}

// The gates are i, o, f and c; the peepholes are i, o and f.
std::vector<Expr> Lstm(Node& node) {
  if (node.Int("input_forget", 0) != 0) throw Unimplemented("input_forget=1 is not supported");
  Layer layer(node, {.gates = 4, .activations = {"Sigmoid", "Tanh", "Tanh"}});
  return layer.Run(
      [](const std::vector<Expr>& args, const Direction& d) {
        return Call("nn.lstm", args,
                    ops::LstmAttrs{.gate_activation = d.activations[0].name,
                                   .activation = d.activations[1].name,
                                   .output_activation = d.activations[2].name,
                                   .reverse = d.reverse});
      },
      [](const Layer& l, const Expr& gates, Direction* d) {
        const Expr all = l.Typed(ops::Add(gates, l.Recur(*d, d->h, 0, 4)));
        const auto gate = [&](std::int64_t g, const Expr& cell, std::int64_t peephole) {
          Expr value = l.Gate(all, g);
          if (d->peepholes)
            value = ops::Add(value, ops::Multiply(l.Gate(d->peepholes, peephole), cell));
          return l.Typed(d->activations[0].function(value));
        };
        const Expr i = gate(0, d->c, 0), f = gate(2, d->c, 2);
        const Expr candidate = d->activations[1].function(l.Gate(all, 3));
        d->c = l.Typed(ops::Add(ops::Multiply(f, d->c), ops::Multiply(i, candidate)));
        const Expr o = gate(1, d->c, 1);
        d->h = l.Typed(ops::Multiply(o, d->activations[2].function(d->c)));
      },
      true);
}

}  // namespace

void AddRecurrentConverters(ConverterTable* table) {
  (*table)["GRU"] = Gru;
  (*table)["LSTM"] = Lstm;
  (*table)["RNN"] = Rnn;
}

}  // namespace tenon::onnx_import
