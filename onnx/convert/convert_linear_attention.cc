// Layers whose state has one size however long the sequence is, from opset 27 on: attention without
// softmax (Yang et al., "Gated delta networks", 2025) and the causal convolution before it.
// Attention runs step by step: the state decays, the value that the key retrieves from it is
// subtracted where the rule says so, the product of key and value is added, and the query reads.
#include <cmath>

#include "tenon/onnx/convert/converters.h"
#include "tenon/ops/builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Every step adds its own expressions, so their number is limited.
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

struct Extents {
  std::int64_t batch, steps, heads, groups, key, value;
};

Extents ExtentsOf(Node& node) {
  const Shape q = ShapeOf(node.input(0)), k = ShapeOf(node.input(1)), v = ShapeOf(node.input(2));
  const std::int64_t heads = node.Int("q_num_heads", 0), groups = node.Int("kv_num_heads", 0);
  if (heads < 1 || groups < 1 || heads % groups != 0)
    throw InvalidArgument(StrCat("q_num_heads is ", heads, " and kv_num_heads ", groups,
                                 "; the first must be a multiple of the second"));
  const bool fits = q.size() == 3 && k.size() == 3 && v.size() == 3 && k[0] == q[0] &&
                    v[0] == q[0] && k[1] == q[1] && v[1] == q[1] && q[2] % heads == 0 &&
                    k[2] % groups == 0 && k[2] / groups == q[2] / heads && v[2] % groups == 0;
  if (!fits)
    throw InvalidArgument(StrCat("query, key and value have the shapes (", StrJoin(q, ", "), "), (",
                                 StrJoin(k, ", "), ") and (", StrJoin(v, ", "), "); for ", heads,
                                 " and ", groups,
                                 " heads they must be (batch, length, heads * "
                                 "size) with one size of query and key"));
  if (q[1] > kMaxSteps)
    throw Unimplemented(
        StrCat("a sequence of ", q[1], " steps is not supported; up to ", kMaxSteps, " are"));
  return {q[0], q[1], heads, groups, q[2] / heads, v[2] / groups};
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
    const Shape state = {of_.batch, of_.groups, of_.key, of_.value};
    if (!node.has_input(3)) {
      state_ = ZerosOf(state, Float32);
    } else if (ShapeOf(node.input(3)) == state) {
      state_ = As(node.input(3), Float32);
    } else {
      throw InvalidArgument(StrCat("input 3, the past state, has the shape (",
                                   StrJoin(ShapeOf(node.input(3)), ", "), "), not (",
                                   StrJoin(state, ", "), ")"));
    }
  }

  std::vector<Expr> Run() {
    std::vector<Expr> steps;
    for (std::int64_t t = 0; t < of_.steps; ++t) steps.push_back(Step(t));
    const DataType type = DataTypeOf(node_.input(0));
    const Shape shape = {of_.batch, of_.steps, of_.heads * of_.value};
    const Expr y =
        steps.empty()
            ? ZerosOf(shape, type)
            : As(node_.Typed(ops::ReshapeToExtents(node_.Typed(ops::Concatenate(steps, 1)), shape)),
                 type);
    return {y, As(state_, node_.has_input(3) ? DataTypeOf(node_.input(3)) : type)};
  }

 private:
  Expr As(const Expr& x, DataType type) const {
    return DataTypeOf(x) == type ? x : node_.Typed(ops::Cast(x, type));
  }
  // [batch, steps, heads, size] of float32.
  Expr ByStep(std::size_t i, std::int64_t heads, std::int64_t size) const {
    return node_.Typed(
        ops::ReshapeToExtents(As(node_.input(i), Float32), {of_.batch, of_.steps, heads, size}));
  }
  // A gate whose last extent is one of two: a number for each head, or more or fewer.
  Expr Gate(std::size_t i, const Ints& allowed) const {
    const Shape shape = ShapeOf(node_.input(i));
    if (shape.size() != 3 || shape[0] != of_.batch || shape[1] != of_.steps ||
        (shape[2] != allowed[0] && shape[2] != allowed[1]))
      throw InvalidArgument(StrCat("input ", i, " has the shape (", StrJoin(shape, ", "),
                                   "); it must be (", of_.batch, ", ", of_.steps, ", ", allowed[0],
                                   " or ", allowed[1], ")"));
    const std::int64_t heads = shape[2] == 1 ? 1 : of_.groups;
    return ByStep(i, heads, shape[2] / heads);
  }
  // [batch, heads, size]
  Expr At(const Expr& x, std::int64_t t) const { return node_.Typed(ElementAlong(x, t, 1)); }

  // The output of a step, [batch, 1, heads, size of a value].
  Expr Step(std::int64_t t) {
    const Expr key = node_.Typed(ops::ExpandDims(At(key_, t), 3));
    Expr value = At(value_, t);
    if (rule_.decays)
      state_ = node_.Typed(ops::Multiply(state_, ops::ExpandDims(ops::Exp(At(decay_, t)), 3)));
    if (rule_.corrects) {
      const Expr retrieved = ops::Sum(ops::Multiply(state_, key), {.axis = Ints{2}});
      value = node_.Typed(ops::Multiply(At(beta_, t), ops::Subtract(value, retrieved)));
    }
    state_ =
        node_.Typed(ops::Add(state_, ops::Multiply(key, node_.Typed(ops::ExpandDims(value, 2)))));
    const std::int64_t each = of_.heads / of_.groups;
    const Expr queries =
        node_.Typed(ops::ReshapeToExtents(At(query_, t), {of_.batch * of_.groups, each, of_.key}));
    const Expr matrices =
        node_.Typed(ops::ReshapeToExtents(state_, {of_.batch * of_.groups, of_.key, of_.value}));
    const Expr read = node_.Typed(ops::Multiply(
        ops::BatchMatmul(queries, matrices, {.transpose_b = false}), ops::Scalar(scale_)));
    return node_.Typed(ops::ReshapeToExtents(read, {of_.batch, 1, of_.heads, of_.value}));
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
  const Shape in = ShapeOf(x), w = ShapeOf(weight);
  if (in.size() != 3 || w.size() != 3 || w[0] != in[1] || w[1] != 1 || w[2] < 1)
    throw InvalidArgument(StrCat("input 0 and 1 have the shapes (", StrJoin(in, ", "), ") and (",
                                 StrJoin(w, ", "),
                                 "); they must be (batch, channels, length) and "
                                 "(channels, 1, size)"));
  const std::string activation = node.String("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    throw InvalidArgument(StrCat("activation is ", activation, "; it may be none, silu or swish"));
  const Shape state = {in[0], in[1], w[2] - 1};
  if (node.has_input(3) && ShapeOf(node.input(3)) != state)
    throw InvalidArgument(StrCat("input 3, the past state, has the shape (",
                                 StrJoin(ShapeOf(node.input(3)), ", "), "), not (",
                                 StrJoin(state, ", "), ")"));
  Expr padded = x;
  if (w[2] > 1) {
    const Expr past = node.has_input(3) ? node.input(3) : ZerosOf(state, DataTypeOf(x));
    padded = node.Typed(ops::Concatenate({past, x}, 2));
  }
  Expr y = ops::Conv1D(padded, weight, {.groups = in[1]});
  if (node.has_input(2)) y = ops::BiasAdd(y, node.input(2));
  y = node.Typed(y);
  if (activation != "none") y = node.Typed(ops::Multiply(y, ops::Sigmoid(y)));
  const Expr present = node.Typed(ops::StridedSlice(
      padded, {.begin = {in[2]}, .end = {in[2] + w[2] - 1}, .strides = {1}, .axes = Ints{2}}));
  return {y, present};
}

}  // namespace

void AddLinearAttentionConverters(ConverterTable* table) {
  (*table)["CausalConvWithState"] = CausalConvWithState;
  (*table)["LinearAttention"] = LinearAttention;
}

}  // namespace tenon::onnx_import
