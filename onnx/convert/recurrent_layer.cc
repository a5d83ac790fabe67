// The projections of all inputs are one matrix product. The steps are one operator (nn.rnn, nn.gru,
// nn.lstm) where that knows the layer's form. Otherwise a long sequence is a loop
// (loop_function.h), and each step of a short one is written out: a product with the recurrence
// weights, plus elementwise functions. A step after the end of a sequence has no effect, so lengths
// may be an input of the model.
#include "tenon/onnx/convert/recurrent_layer.h"

#include <algorithm>
#include <limits>

#include "tenon/onnx/convert/count_within.h"
#include "tenon/onnx/convert/loop_function.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// A step that is written out adds its own expressions, so their number is limited.
constexpr std::int64_t kMaxSteps = 4096;
// As a length: the operators take all steps that there are. ONNX's lengths have 32 bits.
constexpr double kAllSteps = std::numeric_limits<std::int32_t>::max();

// `value` everywhere.
Expr Filled(const Node& node, const Expr& value, const std::vector<Dim>& extents) {
  return node.Typed(BroadcastTo(node.extents(), value, extents));
}

// Elements [begin, end) of the first axis.
Expr Rows(const Node& node, const Expr& e, std::int64_t begin, std::int64_t end) {
  return node.Typed(
      ops::StridedSlice(e, {.begin = {begin}, .end = {end}, .strides = {1}, .axes = Ints{0}}));
}

}  // namespace

RecurrentLayer::RecurrentLayer(Node& node, const RecurrentCell& cell) : node_(node), cell_(cell) {
  batch_first_ = node.Int("layout", 0) != 0;
  x_ = batch_first_ ? node.Typed(ops::Transpose(node.input(0), Ints{1, 0, 2})) : node.input(0);
  const Shape r = ShapeOf(node.input(2));
  const std::vector<Dim> x = DimsOf(x_);
  if (x.size() != 3 || RankOf(node.input(1)) != 3 || r.size() != 3)
    throw InvalidArgument("X, W and R must have rank 3");
  steps_ = x[0];
  batch_ = x[1];
  if (!x[2].is_static())
    throw Unimplemented(StrCat("X has ", x[2].ToString(),
                               " features; their number must be known, those of steps and "
                               "sequences may be variables"));
  inputs_ = x[2].value();
  hidden_ = r[2];
  if (node.Int("hidden_size", hidden_) != hidden_)
    throw InvalidArgument("hidden_size is not the extent of R");
  direction_ = node.String("direction", "forward");
  if (direction_ != "forward" && direction_ != "reverse" && direction_ != "bidirectional")
    throw InvalidArgument(
        StrCat("direction is ", direction_, "; it may be forward, reverse or bidirectional"));
  directions_ = direction_ == "bidirectional" ? 2 : 1;
  RequireWeights();
  ReadLengths();
}

void RecurrentLayer::RequireWeights() const {
  const Shape w = ShapeOf(node_.input(1)), r = ShapeOf(node_.input(2));
  const std::int64_t rows = cell_.gates * hidden_;
  if (w != Shape{directions_, rows, inputs_} || r != Shape{directions_, rows, hidden_})
    throw InvalidArgument(StrCat("W and R must be (", directions_, ", ", rows, ", ", inputs_,
                                 ") and (", directions_, ", ", rows, ", ", hidden_, ")"));
}

Expr RecurrentLayer::Number(double value) const { return ops::Scalar(value, DataTypeOf(x_)); }

Expr RecurrentLayer::Gate(const Expr& all, std::int64_t g) const {
  return ops::StridedSlice(all, {.begin = {g * hidden_},
                                 .end = {(g + 1) * hidden_},
                                 .strides = {1},
                                 .axes = Ints{RankOf(all) - 1}});
}

Expr RecurrentLayer::Recur(const RecurrentDirection& d, const Expr& state, std::int64_t first,
                           std::int64_t last) const {
  const auto rows = [&](const Expr& e) { return Rows(node_, e, first * hidden_, last * hidden_); };
  return Typed(ops::Add(ops::Dense(state, rows(d.recurrence)), rows(d.bias)));
}

std::vector<Expr> RecurrentLayer::Run(const Whole& whole, const Step& step, bool has_cell) {
  std::vector<Expr> sequences, last_h, last_c;
  for (std::int64_t k = 0; k < directions_; ++k) {
    RecurrentDirection d = MakeDirection(k, has_cell);
    const bool is_whole = whole != nullptr && IsWhole(d);
    if (!is_whole) RequireOneBatch(has_cell);
    const Expr sequence = is_whole ? AllSteps(whole, has_cell, &d) : StepByStep(step, &d);
    sequences.push_back(Typed(ops::ExpandDims(sequence, 1)));
    last_h.push_back(Typed(ops::ExpandDims(d.h, 0)));
    if (has_cell) last_c.push_back(Typed(ops::ExpandDims(d.c, 0)));
  }
  // The shapes are (steps, directions, batch, hidden) and (directions, batch, hidden).
  std::vector<Expr> results = {ops::Concatenate(sequences, 1), ops::Concatenate(last_h, 0)};
  if (has_cell) results.push_back(ops::Concatenate(last_c, 0));
  if (batch_first_) {
    results[0] = ops::Transpose(results[0], Ints{2, 0, 1, 3});
    for (std::size_t i = 1; i < results.size(); ++i)
      results[i] = ops::Transpose(results[i], Ints{1, 0, 2});
  }
  for (Expr& result : results) result = Typed(result);
  return results;
}

// Whether an operator of all steps has what the direction has.
bool RecurrentLayer::IsWhole(const RecurrentDirection& d) const {
  const DataType type = DataTypeOf(x_);
  return !d.peepholes && (type == Float32 || type == Float64) &&
         std::ranges::all_of(d.functions, [](const GateFunction& f) { return f.field != nullptr; });
}

// The states of all steps; those of `d` become the last ones.
Expr RecurrentLayer::AllSteps(const Whole& whole, bool has_cell, RecurrentDirection* d) const {
  const Expr all =
      ops::Scalar(steps_.is_static() ? static_cast<double>(steps_.value()) : kAllSteps, Int64);
  const Expr lengths = lengths_ ? Typed(ops::Cast(Typed(ops::Squeeze(lengths_, Ints{1})), Int64))
                                : Filled(node_, all, {batch_});
  std::vector<Expr> args = {d->x_gates, d->recurrence, d->bias, lengths, d->h};
  if (has_cell) args.push_back(d->c);
  const Expr results = Typed(whole(args, *d));
  d->h = Typed(ir::TupleGetItem::Make(results, 1));
  if (has_cell) d->c = Typed(ir::TupleGetItem::Make(results, 2));
  return Typed(ir::TupleGetItem::Make(results, 0));
}

// The operators compare the batches at each run. Steps that are written out have types of their
// own, in which two variables stay two.
void RecurrentLayer::RequireOneBatch(bool has_cell) const {
  const auto require = [&](std::size_t input, std::size_t axis, const char* name) {
    if (!node_.has_input(input)) return;
    const std::vector<Dim> extents = DimsOf(node_.input(input));
    if (extents.size() <= axis || IsStatic({extents[axis], batch_})) return;  // for types to refuse
    if (const Dim& extent = extents[axis]; !(extent == batch_))
      throw Unimplemented(StrCat("input ", input, ", ", name, ", is for ", extent.ToString(),
                                 " sequences and X for ", batch_.ToString(),
                                 "; in a layer that is written out step by step both must have "
                                 "one name"));
  };
  const std::size_t axis = batch_first_ ? 0 : 1;
  require(4, 0, "sequence_lens");
  require(5, axis, "initial_h");
  if (has_cell) require(6, axis, "initial_c");
}

Expr RecurrentLayer::StepByStep(const Step& step, RecurrentDirection* d) const {
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
    outputs[static_cast<std::size_t>(t)] = ops::ExpandDims(Masked(Integer(t), h, c, d), 0);
  }
  return Typed(ops::Concatenate(outputs, 0));
}

// Null where all is constant and few enough steps to be computed at import.
Expr RecurrentLayer::AsLoop(const Step& step, RecurrentDirection* d) const {
  const Expr number = LoopVariable(node_, ir::TensorType({}, Int64));
  const StepNumbers numbers(node_, steps_, d->x_gates, 0);
  const Expr t = d->reverse ? Typed(ops::Subtract(numbers.last, number)) : number;
  RecurrentDirection turn = *d;
  turn.h = LoopVariable(node_, d->h.checked_type());
  if (d->c) turn.c = LoopVariable(node_, d->c.checked_type());
  const Expr h = turn.h, c = turn.c;
  step(*this, Typed(ops::Take(d->x_gates, t, {.axis = 0})), &turn);
  const Expr output = Masked(t, h, c, &turn);
  LoopParts parts;
  parts.Carry(number, Integer(0), Typed(ops::Add(number, Integer(1))));
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
void RecurrentLayer::ReadLengths() {
  if (!node_.has_input(4)) return;
  Expr lengths = node_.input(4);
  const std::vector<Dim> shape = DimsOf(lengths);
  const bool may_fit = shape.size() == 1 && (shape[0] == batch_ || !IsStatic({shape[0], batch_}));
  if (!may_fit)
    throw InvalidArgument(StrCat("input 4, sequence_lens, must have a number for each of the ",
                                 batch_.ToString(), " sequences"));
  if (lengths.As<ir::ConstantNode>() != nullptr) {
    bool are_whole = true;
    std::int64_t longest = 0;
    for (const std::int64_t length : node_.ConstantInts(4)) {
      if (length < 0 || (steps_.is_static() && length > steps_.value()))
        throw InvalidArgument(
            StrCat("input 4, sequence_lens, has ", length, " for ", steps_.ToString(), " steps"));
      are_whole = are_whole && Dim(length) == steps_;
      longest = std::max(longest, length);
    }
    if (are_whole && shape[0] == batch_) return;
    // Of a variable number of steps, a run compares them.
    if (!(Max(longest, steps_) == steps_)) {
      const Expr most = ops::Cast(CountWithin(node_, longest, steps_), DataTypeOf(lengths));
      lengths = Typed(ops::Minimum(lengths, most));
    }
  }
  lengths_ = Typed(ops::ExpandDims(lengths, 1));
}

// The output of step t. Where a sequence has ended, it is 0, and the state of before stays. So a
// backward layer begins at the last element of each sequence.
Expr RecurrentLayer::Masked(const Expr& t, const Expr& h, const Expr& c,
                            RecurrentDirection* d) const {
  if (!lengths_) return d->h;
  const Expr runs =
      Typed(ir::Call::Make(ops::Known().greater, {lengths_, ops::Cast(t, DataTypeOf(lengths_))}));
  const Expr made = d->h;
  d->h = Typed(ops::Where(runs, made, h));
  if (d->c) d->c = Typed(ops::Where(runs, d->c, c));
  return Typed(ops::Where(runs, made, Number(0)));
}

// Element k of the first axis.
Expr RecurrentLayer::At(const Expr& e, std::int64_t k) const {
  return Typed(ElementAlong(e, k, 0));
}

Expr RecurrentLayer::State(std::size_t input, std::int64_t k) const {
  if (!node_.has_input(input) && batch_.is_static())
    return ZerosOf({batch_.value(), hidden_}, DataTypeOf(x_));
  if (!node_.has_input(input)) return Filled(node_, Number(0), {batch_, hidden_});
  Expr state = node_.input(input);
  if (batch_first_) state = Typed(ops::Transpose(state, Ints{1, 0, 2}));
  return At(state, k);
}

// The input of all steps times the weight: (steps, batch, rows). One product has the rows of all
// sequences.
Expr RecurrentLayer::Projected(const Expr& weight, const Expr& bias) const {
  Expr gates =
      ops::Dense(Typed(ReshapeTo(node_.extents(), x_, {steps_ * batch_, inputs_})), weight);
  if (bias) gates = ops::Add(gates, bias);
  gates = Typed(gates);
  if (steps_.is_static() || batch_.is_static())
    return Typed(ReshapeTo(node_.extents(), gates, {steps_, batch_, DimsOf(gates)[1]}));
  return Typed(ops::CallOp("reshape_like", {gates, x_},
                           attrs::Attrs::Make(ops::ReshapeLikeAttrs{.lhs_end = 1, .rhs_end = 2})));
}

RecurrentDirection RecurrentLayer::MakeDirection(std::int64_t k, bool has_cell) {
  RecurrentDirection d;
  const std::int64_t rows = cell_.gates * hidden_;
  Expr bias;  // of the input
  d.bias = ZerosOf({rows}, DataTypeOf(x_));
  if (node_.has_input(3)) {
    const Expr both = At(node_.input(3), k);
    bias = Rows(node_, both, 0, rows);
    d.bias = Rows(node_, both, rows, 2 * rows);
  }
  d.x_gates = Projected(At(node_.input(1), k), bias);
  d.recurrence = At(node_.input(2), k);
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

}  // namespace tenon::onnx_import
