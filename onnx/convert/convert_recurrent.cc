// RNN, GRU and LSTM. The projections of all inputs are one matrix product. The steps are one
// operator (nn.rnn, nn.gru, nn.lstm) where that knows the layer's form. Otherwise a long sequence
// is a loop (loop_function.h), and each step of a short one is written out: a product with the
// recurrence weights, plus elementwise functions. A step after the end of a sequence has no effect,
// so lengths may be an input of the model.
#include <algorithm>
#include <functional>
#include <limits>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/gate_function.h"
#include "tenon/onnx/convert/loop_function.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/recurrent_attrs.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// A step that is written out adds its own expressions, so their number is limited.
constexpr std::int64_t kMaxSteps = 4096;
// As a length: the operators take all steps that there are. ONNX's lengths have 32 bits.
constexpr double kAllSteps = std::numeric_limits<std::int32_t>::max();

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
  std::vector<GateFunction> functions;
  bool reverse = false;
};

class Layer {
 public:
  Layer(Node& node, const Cell& cell) : node_(node), cell_(cell) {
    batch_first_ = node.Int("layout", 0) != 0;
    x_ = batch_first_ ? node.Typed(ops::Transpose(node.input(0), Ints{1, 0, 2})) : node.input(0);
    const Shape w = ShapeOf(node.input(1)), r = ShapeOf(node.input(2));
    const std::vector<Dim> x = DimsOf(x_);
    if (x.size() != 3 || w.size() != 3 || r.size() != 3)
      throw InvalidArgument("X, W and R must have rank 3");
    // The steps alone may be a variable.
    if (!IsStatic({x[1], x[2]})) ShapeOf(x_);
    steps_ = x[0];
    batch_ = x[1].value();
    inputs_ = x[2].value();
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
    ReadLengths();
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
  // The operator of all steps; null where there is none for the layer.
  using Whole = std::function<Expr(const std::vector<Expr>& args, const Direction& d)>;
  std::vector<Expr> Run(const Whole& whole, const Step& step, bool has_cell) {
    std::vector<Expr> sequences, last_h, last_c;
    for (std::int64_t k = 0; k < directions_; ++k) {
      Direction d = MakeDirection(k, has_cell);
      const Expr sequence =
          whole != nullptr && IsWhole(d) ? AllSteps(whole, has_cell, &d) : StepByStep(step, &d);
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
  // Whether an operator of all steps has what the direction has.
  bool IsWhole(const Direction& d) const {
    const DataType type = DataTypeOf(x_);
    return !d.peepholes && (type == Float32 || type == Float64) &&
           std::ranges::all_of(d.functions,
                               [](const GateFunction& f) { return f.field != nullptr; });
  }

  // The states of all steps; those of `d` become the last ones.
  Expr AllSteps(const Whole& whole, bool has_cell, Direction* d) const {
    const Expr lengths =
        node_.has_input(4)
            ? node_.Typed(ops::Cast(node_.input(4), Int64))
            : node_.Typed(ops::Add(
                  ZerosOf({batch_}, Int64),
                  ops::Scalar(steps_.is_static() ? static_cast<double>(steps_.value()) : kAllSteps,
                              Int64)));
    std::vector<Expr> args = {d->x_gates, d->recurrence, d->bias, lengths, d->h};
    if (has_cell) args.push_back(d->c);
    const Expr results = node_.Typed(whole(args, *d));
    d->h = node_.Typed(ir::TupleGetItem::Make(results, 1));
    if (has_cell) d->c = node_.Typed(ir::TupleGetItem::Make(results, 2));
    return node_.Typed(ir::TupleGetItem::Make(results, 0));
  }

  Expr StepByStep(const Step& step, Direction* d) const {
    const std::int64_t steps = steps_.is_static() ? steps_.value() : 0;
    if ((!steps_.is_static() || steps > kUnrolledTurns) && node_.loops() != nullptr) {
      if (const Expr sequence = AsLoop(step, d)) return sequence;
    }
    if (steps < 1 || steps > kMaxSteps)
      throw Unimplemented(StrCat("a sequence of ", steps_.ToString(),
                                 " steps is not supported in a layer ",
                                 "that is written out step by step; 1 to ", kMaxSteps, " are"));
    std::vector<Expr> outputs(static_cast<std::size_t>(steps));
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::int64_t t = d->reverse ? steps - 1 - i : i;
      const Expr h = d->h, c = d->c;
      step(*this, At(d->x_gates, t), d);
      outputs[static_cast<std::size_t>(t)] = ops::ExpandDims(Masked(TurnNumber(t), h, c, d), 0);
    }
    return node_.Typed(ops::Concatenate(outputs, 0));
  }

  // Null where all is constant and few enough steps to be computed at import.
  Expr AsLoop(const Step& step, Direction* d) const {
    const Expr number = LoopVariable(node_, ir::TensorType({}, Int64));
    const StepNumbers numbers(node_, steps_, d->x_gates, 0);
    const Expr t = d->reverse ? Typed(ops::Subtract(numbers.last, number)) : number;
    Direction turn = *d;
    turn.h = LoopVariable(node_, d->h.checked_type());
    if (d->c) turn.c = LoopVariable(node_, d->c.checked_type());
    const Expr h = turn.h, c = turn.c;
    step(*this, Typed(ops::Take(d->x_gates, t, {.axis = 0})), &turn);
    const Expr output = Masked(t, h, c, &turn);
    LoopParts parts;
    parts.Carry(number, TurnNumber(0), Typed(ops::Add(number, TurnNumber(1))));
    parts.Carry(h, d->h, Typed(turn.h));
    if (d->c) parts.Carry(c, d->c, Typed(turn.c));
    parts.CarryBuffer(node_, steps_, t, Typed(output));
    parts.goes_on = Typed(ir::Call::Make(ops::Known().less, {number, numbers.count}));
    parts.around = {d->x_gates, d->recurrence, d->bias, d->peepholes, lengths_};
    const MadeLoop loop = MakeLoop(node_, parts);
    if (loop.is_constant && steps_.is_static() && steps_.value() <= kMaxSteps) return Expr();
    d->h = loop.final_state[1];
    if (d->c) d->c = loop.final_state[2];
    return loop.final_state.back();
  }

  // Sequences of a batch may be shorter than the others.
  void ReadLengths() {
    if (!node_.has_input(4)) return;
    const Expr& lengths = node_.input(4);
    if (ShapeOf(lengths) != Shape{batch_})
      throw InvalidArgument(StrCat("input 4, sequence_lens, must have a number for each of the ",
                                   batch_, " sequences"));
    if (lengths.As<ir::ConstantNode>() != nullptr) {
      bool are_whole = true;
      for (const std::int64_t length : node_.ConstantInts(4)) {
        if (length < 0 || (steps_.is_static() && length > steps_.value()))
          throw InvalidArgument(
              StrCat("input 4, sequence_lens, has ", length, " for ", steps_.ToString(), " steps"));
        are_whole = are_whole && Dim(length) == steps_;
      }
      if (are_whole) return;
    }
    lengths_ = node_.Typed(ops::ExpandDims(lengths, 1));
  }

  // The output of step t. Where a sequence has ended, it is 0, and the state of before stays. So a
  // backward layer begins at the last element of each sequence.
  Expr Masked(const Expr& t, const Expr& h, const Expr& c, Direction* d) const {
    if (!lengths_) return d->h;
    const Expr runs = node_.Typed(
        ir::Call::Make(ops::Known().greater, {lengths_, ops::Cast(t, DataTypeOf(lengths_))}));
    const Expr made = d->h;
    d->h = node_.Typed(ops::Where(runs, made, h));
    if (d->c) d->c = node_.Typed(ops::Where(runs, d->c, c));
    return node_.Typed(ops::Where(runs, made, Number(0)));
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
    Expr gates =
        ops::Dense(node_.Typed(ReshapeTo(x_, {steps_ * batch_, inputs_})), At(node_.input(1), k));
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
    d.x_gates = node_.Typed(ReshapeTo(node_.Typed(gates), {steps_, batch_, rows}));
    d.h = State(5, k);
    if (has_cell) d.c = State(6, k);
    if (has_cell && node_.has_input(7)) d.peepholes = At(node_.input(7), k);
    const std::vector<GateFunction> functions = GateFunctionsOf(
        node_, cell_.activations, has_cell ? 2 : cell_.activations.size(), directions_);
    const auto each = static_cast<std::ptrdiff_t>(cell_.activations.size());
    const auto first = functions.begin() + static_cast<std::ptrdiff_t>(k) * each;
    d.functions.assign(first, first + each);
    d.reverse = direction_ == "reverse" || k == 1;
    return d;
  }

  Node& node_;
  const Cell cell_;
  bool batch_first_ = false;
  std::string direction_;
  Expr x_;
  Expr lengths_;  // (batch, 1) or null when all sequences have as many steps
  Dim steps_ = 0;
  std::int64_t batch_ = 0, inputs_ = 0, hidden_ = 0, directions_ = 1;
};

std::vector<Expr> Rnn(Node& node) {
  Layer layer(node, {.gates = 1, .activations = {"Tanh"}});
  return layer.Run(
      [](const std::vector<Expr>& args, const Direction& d) {
        return Call("nn.rnn", args,
                    ops::RnnAttrs{.activation = d.functions[0].field, .reverse = d.reverse});
      },
      [](const Layer& l, const Expr& gates, Direction* d) {
        d->h = l.Typed(d->functions[0](ops::Add(gates, l.Recur(*d, d->h, 0, 1))));
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
                    ops::GruAttrs{.gate_activation = d.functions[0].field,
                                  .activation = d.functions[1].field,
                                  .reset_after = reset_after,
                                  .reverse = d.reverse});
      },
      [reset_after](const Layer& l, const Expr& gates, Direction* d) {
        const Expr zr = l.Recur(*d, d->h, 0, 2);
        const auto gate = [&](std::int64_t g) {
          return l.Typed(d->functions[0](ops::Add(l.Gate(gates, g), l.Gate(zr, g))));
        };
        const Expr z = gate(0), r = gate(1);
        const Expr recurred = reset_after ? ops::Multiply(r, l.Recur(*d, d->h, 2, 3))
                                          : l.Recur(*d, l.Typed(ops::Multiply(r, d->h)), 2, 3);
        const Expr h = l.Typed(d->functions[1](ops::Add(l.Gate(gates, 2), recurred)));
        d->h = l.Typed(
            ops::Add(ops::Multiply(ops::Subtract(l.Number(1), z), h), ops::Multiply(z, d->h)));
      },
      false);
}

// The gates are i, o, f and c; the peepholes are i, o and f.
std::vector<Expr> Lstm(Node& node) {
  const bool coupled = node.Int("input_forget", 0) != 0;
  Layer layer(node, {.gates = 4, .activations = {"Sigmoid", "Tanh", "Tanh"}});
  const Layer::Whole whole = [](const std::vector<Expr>& args, const Direction& d) {
    return Call("nn.lstm", args,
                ops::LstmAttrs{.gate_activation = d.functions[0].field,
                               .activation = d.functions[1].field,
                               .output_activation = d.functions[2].field,
                               .reverse = d.reverse});
  };
  return layer.Run(
      coupled ? nullptr : whole,
      [coupled](const Layer& l, const Expr& gates, Direction* d) {
        const Expr all = l.Typed(ops::Add(gates, l.Recur(*d, d->h, 0, 4)));
        const auto gate = [&](std::int64_t g, const Expr& cell, std::int64_t peephole) {
          Expr value = l.Gate(all, g);
          if (d->peepholes)
            value = ops::Add(value, ops::Multiply(l.Gate(d->peepholes, peephole), cell));
          return l.Typed(d->functions[0](value));
        };
        const Expr i = gate(0, d->c, 0);
        // The input gate may decide for both.
        const Expr f = coupled ? l.Typed(ops::Subtract(l.Number(1), i)) : gate(2, d->c, 2);
        const Expr candidate = d->functions[1](l.Gate(all, 3));
        d->c = l.Typed(ops::Add(ops::Multiply(f, d->c), ops::Multiply(i, candidate)));
        const Expr o = gate(1, d->c, 1);
        d->h = l.Typed(ops::Multiply(o, d->functions[2](d->c)));
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
