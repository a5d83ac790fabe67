#include "tenon/models/transformer.h"

#include <algorithm>
#include <cmath>

#include "tenon/models/weights.h"
#include "tenon/ops/builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::models {
namespace {

using ir::Expr;

void Check(const TransformerOptions& o) {
  if (std::min({o.layers, o.tokens, o.features, o.heads, o.hidden}) < 1)
    throw InvalidArgument(StrCat("layers, tokens, features, heads and hidden are ", o.layers, ", ",
                                 o.tokens, ", ", o.features, ", ", o.heads, " and ", o.hidden,
                                 "; all must be at least 1"));
  if (o.features % o.heads != 0)
    throw InvalidArgument(
        StrCat("features is ", o.features, "; it must be a multiple of the ", o.heads, " heads"));
}

class Builder {
 public:
  explicit Builder(const TransformerOptions& options) : o_(options), weights_(options.seed) {}

  ir::Module Build() {
    const ir::Var data = ir::Var::Make("data", ir::TensorType({o_.tokens, o_.features}, Float32));
    Expr x = data;
    for (std::int64_t i = 0; i < o_.layers; ++i) {
      x = Norm(ops::Add(x, Attention(x)));
      x = Norm(ops::Add(x, FeedForward(x)));
    }
    return ir::Module().With("main", ir::Function::Make({data}, x));
  }

 private:
  Expr Dense(const Expr& x, std::int64_t in, std::int64_t out) {
    const Expr weight = weights_.Kernel({out, in});
    return ops::BiasAdd(ops::Dense(x, weight, {.units = out}), weights_.Vector(out, -0.1, 0.1));
  }
  Expr Norm(const Expr& x) {
    const Expr gamma = weights_.Vector(o_.features, 0.5, 1.5);
    return ops::LayerNorm(x, gamma, weights_.Vector(o_.features, -0.2, 0.2));
  }
  // Turns (tokens, features) into the given order of (tokens, heads, features of a head).
  Expr Heads(const Expr& x, const ops::Ints& order) const {
    const Expr heads = ops::Reshape(x, {o_.tokens, o_.heads, o_.features / o_.heads});
    return ops::Transpose(heads, order);
  }
  Expr Attention(const Expr& x) {
    const double scale = 1 / std::sqrt(static_cast<double>(o_.features / o_.heads));
    const Expr query = Heads(Dense(x, o_.features, o_.features), {1, 0, 2});
    const Expr key = Heads(Dense(x, o_.features, o_.features), {1, 0, 2});
    // The second operand of a batched product is transposed.
    const Expr value = Heads(Dense(x, o_.features, o_.features), {1, 2, 0});
    Expr weights =
        ops::Multiply(ops::BatchMatmul(query, key, {.transpose_b = true}), ops::Scalar(scale));
    weights = ops::Softmax(weights);
    const Expr heads = ops::BatchMatmul(weights, value, {.transpose_b = true});
    const Expr joined =
        ops::Reshape(ops::Transpose(heads, ops::Ints{1, 0, 2}), {o_.tokens, o_.features});
    return Dense(joined, o_.features, o_.features);
  }
  Expr FeedForward(const Expr& x) {
    return Dense(ops::Relu(Dense(x, o_.features, o_.hidden)), o_.hidden, o_.features);
  }

  const TransformerOptions o_;
  Weights weights_;
};

}  // namespace

ir::Module TransformerEncoder(const TransformerOptions& options) {
  Check(options);
  return Builder(options).Build();
}

}  // namespace tenon::models
