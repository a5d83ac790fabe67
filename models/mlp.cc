#include "tenon/models/mlp.h"

#include "tenon/models/weights.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::models {
namespace {

using ir::Expr;

void Check(const DigitOptions& o) {
  if (o.batch < 1) throw InvalidArgument(StrCat("batch is ", o.batch, "; it must be at least 1"));
}

Expr Dense(Weights& weights, const Expr& x, std::int64_t in, std::int64_t out) {
  const Expr weight = weights.Kernel({out, in});
  return ops::BiasAdd(ops::Dense(x, weight, {.units = out}), weights.Vector(out, -0.1, 0.1));
}

// A convolution of 5 x 5 and pooling of 2 x 2.
Expr Stage(Weights& weights, const Expr& x, std::int64_t in, std::int64_t out) {
  const Expr weight = weights.Kernel({out, in, 5, 5});
  const Expr y = ops::Conv2D(x, weight, {.channels = out, .kernel_size = ops::Ints{5, 5}});
  return ops::MaxPool2D(ops::Relu(ops::BiasAdd(y, weights.Vector(out, -0.1, 0.1))),
                        {.pool_size = {2, 2}, .strides = {2, 2}});
}

}  // namespace

ir::Module Mlp(const DigitOptions& options) {
  Check(options);
  Weights weights(options.seed);
  const ir::Var data = ir::Var::Make("data", ir::TensorType({options.batch, 784}, Float32));
  Expr x = ops::Relu(Dense(weights, data, 784, 128));
  x = ops::Relu(Dense(weights, x, 128, 64));
  x = Dense(weights, x, 64, 10);
  return ir::Module().With("main", ir::Function::Make({data}, x));
}

ir::Module LeNet(const DigitOptions& options) {
  Check(options);
  Weights weights(options.seed);
  const ir::Var data = ir::Var::Make("data", ir::TensorType({options.batch, 1, 32, 32}, Float32));
  Expr x = Stage(weights, Stage(weights, data, 1, 6), 6, 16);
  x = ir::Call::Make(ops::Known().batch_flatten, {x});
  x = ops::Relu(Dense(weights, x, 400, 120));
  x = ops::Relu(Dense(weights, x, 120, 84));
  x = Dense(weights, x, 84, 10);
  return ir::Module().With("main", ir::Function::Make({data}, x));
}

}  // namespace tenon::models
