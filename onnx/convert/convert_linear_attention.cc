// Layers whose state has one size however long the sequence is, from opset 27 on: attention without
// softmax (Yang et al., "Gated delta networks", 2025) and the causal convolution before it.
// Attention runs step by step, as a loop where there are many: the state decays, the value that the
// key retrieves from it is subtracted where the rule says so, the product of key and value is
// added, and the query reads.
#include <cmath>
#include <functional>
#include <limits>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/loop_function.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// A step that is unrolled adds its own expressions, so their number is limited.
constexpr std::int64_t kMaxSteps = 4096;

struct Rule {
  bool decays = false, corrects = false;
};

Rule RuleOf(Node& node) {
  const std::string name = node.String("update_rule", "gated_delta");
  Rule rule;
  if (name == "gated") {
    rule = {true, false};
  } else if (name == "delta") {
    rule = {false, true};
  } else if (name == "gated_delta") {
    rule = {true, true};
  } else if (name != "linear") {
    throw InvalidArgument(
        StrCat("update_rule is ", name, "; it may be linear, gated, delta or gated_delta"));
  }
  const auto require = [&](std::size_t i, const char* what, bool wanted) {
    if (node.has_input(i) != wanted)
      throw InvalidArgument(StrCat("input ", i, ", ", what, wanted ? ", must" : ", must not",
                                   " be given for the update_rule ", name));
  };
  require(4, "decay", rule.decays);
  require(5, "beta", rule.corrects);
  return rule;
}

// Batch and steps may be expressions of variables.
struct Extents {
  Dim batch, steps;
  std::int64_t heads, groups, key, value;
};

Extents ExtentsOf(Node& node) {
  const std::vector<Dim> q = DimsOf(node.input(0)), k = DimsOf(node.input(1)),
                         v = DimsOf(node.input(2));
  const std::int64_t heads = node.Int("q_num_heads", 0), groups = node.Int("kv_num_heads", 0);
  if (heads < 1 || groups < 1 || heads % groups != 0)
    throw InvalidArgument(StrCat("q_num_heads is ", heads, " and kv_num_heads ", groups,
                                 "; the first must be a multiple of the second"));
  const bool is_alike = q.size() == 3 && k.size() == 3 && v.size() == 3 && k[0] == q[0] &&
                        v[0] == q[0] && k[1] == q[1] && v[1] == q[1];
  const bool is_known = is_alike && IsStatic({q[2], k[2], v[2]});
  const bool fits = is_known && q[2].value() % heads == 0 && k[2].value() % groups == 0 &&
                    k[2].value() / groups == q[2].value() / heads && v[2].value() % groups == 0;
  if (!fits)
    throw InvalidArgument(StrCat("query, key and value have the shapes ", ir::ToText(q), ", ",
                                 ir::ToText(k), " and ", ir::ToText(v), "; for ", heads, " and ",
                                 groups,
                                 " heads they must be (batch, length, heads * size) with one "
                                 "batch, one length and one size of query and key, which is a "
                                 "number"));
  return {q[0], q[1], heads, groups, q[2].value() / heads, v[2].value() / groups};
}

class Recurrence {
 public:
  Recurrence(Node& node) : node_(node), rule_(RuleOf(node)), of_(ExtentsOf(node)) {
    node.Ignore("chunk_size");  // how a kernel may cut the sequence
    const double given = node.Float("scale", 0);
    scale_ = given != 0 ? given : 1 / std::sqrt(static_cast<double>(of_.key));
    query_ = ByStep(0, of_.heads, of_.key);
    key_ = ByStep(1, of_.groups, of_.key);
    value_ = ByStep(2, of_.groups, of_.value);
    if (rule_.decays) decay_ = Gate(4, {of_.groups, of_.groups * of_.key});
    if (rule_.corrects) beta_ = Gate(5, {of_.groups, 1});
    const std::vector<Dim> state = {of_.batch, of_.groups, of_.key, of_.value};
    if (!node.has_input(3)) {
      state_ = Zeros(state, Float32);
    } else if (DimsOf(node.input(3)) == state) {
      state_ = As(node.input(3), Float32);
    } else {
      throw InvalidArgument(StrCat("input 3, the past state, has the shape ",
                                   ir::ToText(DimsOf(node.input(3))), ", not ", ir::ToText(state)));
    }
  }

  std::vector<Expr> Run() {
    const DataType type = DataTypeOf(node_.input(0));
    const Expr all =
        Typed(ReshapeTo(node_.extents(), Outputs(), {of_.batch, of_.steps, of_.heads * of_.value}));
    return {As(all, type), As(state_, node_.has_input(3) ? DataTypeOf(node_.input(3)) : type)};
  }

 private:
  Expr Typed(const Expr& e) const { return node_.Typed(e); }
  Expr As(const Expr& x, DataType type) const {
    return DataTypeOf(x) == type ? x : Typed(ops::Cast(x, type));
  }
  Expr Zeros(const std::vector<Dim>& extents, DataType type) const {
    if (IsStatic(extents)) return ZerosOf(NumbersOf(extents), type);
    return Typed(
        BroadcastTo(node_.extents(), ir::Constant::Make(NDArray::Zeros({}, type)), extents));
  }
  // [batch, steps, heads, size] of float32.
  Expr ByStep(std::size_t i, std::int64_t heads, std::int64_t size) const {
    return Typed(ReshapeTo(node_.extents(), As(node_.input(i), Float32),
                           {of_.batch, of_.steps, heads, size}));
  }
  // A gate whose last extent is one of two: a number for each head, or more or fewer.
  Expr Gate(std::size_t i, const Ints& allowed) const {
    const std::vector<Dim> shape = DimsOf(node_.input(i));
    if (shape.size() != 3 || shape[0] != of_.batch || shape[1] != of_.steps ||
        (shape[2] != Dim(allowed[0]) && shape[2] != Dim(allowed[1])))
      throw InvalidArgument(StrCat(
          "input ", i, " has the shape ", ir::ToText(shape), "; it must be (", of_.batch.ToString(),
          ", ", of_.steps.ToString(), ", ", allowed[0], " or ", allowed[1], ")"));
    const std::int64_t heads = shape[2] == Dim(1) ? 1 : of_.groups;
    return ByStep(i, heads, shape[2].value() / heads);
  }

  // The outputs of all steps, [batch, steps, heads, size of a value]. The state becomes the last.
  Expr Outputs() {
    const std::int64_t steps = of_.steps.is_static() ? of_.steps.value() : kMaxSteps + 1;
    if (steps > kUnrolledTurns && node_.loops() != nullptr) {
      if (const Expr all = AsLoop()) return all;
    }
    if (steps > kMaxSteps)
      throw Unimplemented(StrCat("a sequence of ", of_.steps.ToString(), " steps is not supported ",
                                 "where it is unrolled; up to ", kMaxSteps, " are"));
    if (steps == 0) return Zeros({of_.batch, 0, of_.heads, of_.value}, Float32);
    std::vector<Expr> outputs;
    for (std::int64_t t = 0; t < steps; ++t)
      outputs.push_back(Typed(
          ops::ExpandDims(Step([&](const Expr& x) { return Typed(ElementAlong(x, t, 1)); }), 1)));
    return Typed(ops::Concatenate(outputs, 1));
  }

  // Null where all is constant and few enough steps to be computed at import.
  Expr AsLoop() {
    const Expr number = LoopVariable(node_, ir::TensorType({}, Int64));
    const StepNumbers numbers(node_, of_.steps, query_, 1);
    const Expr before = state_;
    const Expr state = LoopVariable(node_, before.checked_type());
    state_ = state;
    const Expr output =
        Step([&](const Expr& x) { return Typed(ops::Take(x, number, {.axis = 1})); });
    LoopParts parts;
    parts.Carry(number, Integer(0), Typed(ops::Add(number, Integer(1))));
    parts.Carry(state, before, state_);
    parts.CarryBuffer(node_, of_.steps, number, output);
    parts.goes_on = Typed(ir::Call::Make(ops::Known().less, {number, numbers.count}));
    parts.around = {query_, key_, value_, decay_, beta_};
    const MadeLoop loop = MakeLoop(node_, parts);
    const bool may_unroll = of_.steps.is_static() && of_.steps.value() <= kMaxSteps;
    state_ = loop.is_constant && may_unroll ? before : loop.final_state[1];
    if (loop.is_constant && may_unroll) return Expr();
    return Typed(ops::Transpose(loop.final_state.back(), Ints{1, 0, 2, 3}));
  }

  // One step, whose elements `at` gives: the output, [batch, heads, size of a value].
  Expr Step(const std::function<Expr(const Expr& x)>& at) {
    const Expr key = Typed(ops::ExpandDims(at(key_), 3));
    Expr value = at(value_);
    if (rule_.decays)
      state_ = Typed(ops::Multiply(state_, ops::ExpandDims(ops::Exp(at(decay_)), 3)));
    if (rule_.corrects) {
      const Expr retrieved = ops::Sum(ops::Multiply(state_, key), {.axis = Ints{2}});
      value = Typed(ops::Multiply(at(beta_), ops::Subtract(value, retrieved)));
    }
    state_ = Typed(ops::Add(state_, ops::Multiply(key, Typed(ops::ExpandDims(value, 2)))));
    const std::int64_t each = of_.heads / of_.groups;
    const Dim matrix_count = of_.batch * of_.groups;
    const Expr queries =
        Typed(ReshapeTo(node_.extents(), at(query_), {matrix_count, each, of_.key}));
    const Expr matrices =
        Typed(ReshapeTo(node_.extents(), state_, {matrix_count, of_.key, of_.value}));
    const Expr read = Typed(ops::Multiply(
        ops::BatchMatmul(queries, matrices, {.transpose_b = false}), ops::Scalar(scale_)));
    return Typed(ReshapeTo(node_.extents(), read, {of_.batch, of_.heads, of_.value}));
  }

  Node& node_;
  const Rule rule_;
  const Extents of_;
  double scale_ = 1;
  Expr query_, key_, value_, decay_, beta_, state_;
};

std::vector<Expr> LinearAttention(Node& node) { return Recurrence(node).Run(); }

// Each channel is convolved for itself with what came before it.
std::vector<Expr> CausalConvWithState(Node& node) {
  const Expr &x = node.input(0), &weight = node.input(1);
  const std::vector<Dim> in = DimsOf(x);
  const Shape w = ShapeOf(weight);
  if (in.size() != 3 || w.size() != 3 || in[1] != Dim(w[0]) || w[1] != 1 || w[2] < 1)
    throw InvalidArgument(StrCat("input 0 and 1 have the shapes ", ir::ToText(in), " and (",
                                 StrJoin(w, ", "),
                                 "); they must be (batch, channels, length) and "
                                 "(channels, 1, size)"));
  const std::string activation = node.String("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    throw InvalidArgument(StrCat("activation is ", activation, "; it may be none, silu or swish"));
  const std::vector<Dim> state = {in[0], in[1], w[2] - 1};
  if (node.has_input(3) && DimsOf(node.input(3)) != state)
    throw InvalidArgument(StrCat("input 3, the past state, has the shape ",
                                 ir::ToText(DimsOf(node.input(3))), ", not ", ir::ToText(state)));
  Expr padded = x;
  if (w[2] > 1 && node.has_input(3)) {
    padded = node.Typed(ops::Concatenate({node.input(3), x}, 2));
  } else if (w[2] > 1) {
    padded = node.Typed(ops::Pad(x, {{0, 0}, {0, 0}, {w[2] - 1, 0}}, 0, DataTypeOf(x)));
  }
  // A window needs elements, so a sequence that may have none gets one, whose result is cut off.
  const bool may_be_empty = in[2].LowerBound().value_or(0) < 1;
  const Expr convolved =
      may_be_empty ? node.Typed(ops::Pad(padded, {{0, 0}, {0, 0}, {0, 1}}, 0, DataTypeOf(x)))
                   : padded;
  Expr y = ops::Conv1D(convolved, weight, {.groups = w[0]});
  if (node.has_input(2)) y = ops::BiasAdd(y, node.input(2));
  y = node.Typed(y);
  if (may_be_empty) y = node.Typed(FirstOf(node.extents(), y, in[2], 2));
  if (activation != "none") y = node.Typed(ops::Multiply(y, ops::Sigmoid(y)));
  // The last w - 1 elements.
  const Expr present = node.Typed(
      w[2] > 1
          ? ops::StridedSlice(padded, {.begin = {1 - w[2]},
                                       .end = {std::numeric_limits<std::int32_t>::max()},
                                       .strides = {1},
                                       .axes = Ints{2}})
          : ops::StridedSlice(padded, {.begin = {0}, .end = {0}, .strides = {1}, .axes = Ints{2}}));
  return {y, present};
}

}  // namespace

void AddLinearAttentionConverters(ConverterTable* table) {
  (*table)["CausalConvWithState"] = CausalConvWithState;
  (*table)["LinearAttention"] = Converter(LinearAttention).With({.other = "no erase gate"});
}

}  // namespace tenon::onnx_import
