#include "tenon/models/vgg.h"

#include <vector>

#include "tenon/models/weights.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::models {
namespace {

using ir::Expr;

// The number of convolutions in each of the five blocks.
std::vector<int> BlocksOf(int depth) {
  switch (depth) {
    case 11:
      return {1, 1, 2, 2, 2};
    case 13:
      return {2, 2, 2, 2, 2};
    case 16:
      return {2, 2, 3, 3, 3};
    case 19:
      return {2, 2, 4, 4, 4};
    default:
      throw InvalidArgument(
          StrCat("there is no VGG of depth ", depth, "; depths are 11, 13, 16, 19"));
  }
}

void Check(const VggOptions& o) {
  if (o.batch < 1 || o.classes < 1)
    throw InvalidArgument(
        StrCat("batch is ", o.batch, " and classes ", o.classes, "; both must be at least 1"));
  if (o.image_size < 32 || o.image_size % 32 != 0)
    throw InvalidArgument(
        StrCat("image_size is ", o.image_size, "; it must be a positive multiple of 32"));
  if (o.width_divisor < 1 || o.width_divisor > 64)
    throw InvalidArgument(
        StrCat("width_divisor is ", o.width_divisor, "; it must be from 1 to 64"));
}

class Builder {
 public:
  explicit Builder(const VggOptions& options) : options_(options), weights_(options.seed) {}

  ir::Module Build() {
    const ir::Var data = ir::Var::Make(
        "data",
        ir::TensorType({options_.batch, 3, options_.image_size, options_.image_size}, Float32));
    Expr x = data;
    const std::vector<int> blocks = BlocksOf(options_.depth);
    const std::vector<std::int64_t> widths = {64, 128, 256, 512, 512};
    std::int64_t channels = 3;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      const std::int64_t width = widths[block] / options_.width_divisor;
      for (int layer = 0; layer < blocks[block]; ++layer) {
        x = Conv(x, channels, width);
        channels = width;
      }
      x = ops::MaxPool2D(x, {.pool_size = {2, 2}, .strides = {2, 2}, .padding = {0, 0, 0, 0}});
    }
    const std::int64_t side = options_.image_size / 32;
    const std::int64_t hidden = 4096 / options_.width_divisor;
    x = ir::Call::Make(ops::Known().batch_flatten, {x});
    x = ops::Relu(Dense(x, channels * side * side, hidden));
    x = ir::TupleGetItem::Make(ops::Dropout(x), 0);
    x = ops::Relu(Dense(x, hidden, hidden));
    x = ir::TupleGetItem::Make(ops::Dropout(x), 0);
    x = Dense(x, hidden, options_.classes);
    return ir::Module().With("main", ir::Function::Make({data}, x));
  }

 private:
  Expr Conv(const Expr& x, std::int64_t in, std::int64_t out) {
    Expr y = ops::Conv2D(x, weights_.Kernel({out, in, 3, 3}),
                         {.padding = {1, 1}, .channels = out, .kernel_size = ops::Ints{3, 3}});
    y = ops::BiasAdd(y, weights_.Vector(out, -0.1, 0.1));
    if (options_.batch_norm) {
      const Expr gamma = weights_.Vector(out, 0.5, 1.5);
      const Expr beta = weights_.Vector(out, -0.2, 0.2);
      const Expr mean = weights_.Vector(out, -0.2, 0.2);
      const Expr var = weights_.Vector(out, 0.5, 1.5);
      y = ir::TupleGetItem::Make(ops::BatchNorm(y, gamma, beta, mean, var), 0);
    }
    return ops::Relu(y);
  }

  Expr Dense(const Expr& x, std::int64_t in, std::int64_t out) {
    const Expr weight = weights_.Kernel({out, in});
    return ops::BiasAdd(ops::Dense(x, weight, {.units = out}), weights_.Vector(out, -0.1, 0.1));
  }

  const VggOptions options_;
  Weights weights_;
};

}  // namespace

ir::Module Vgg(const VggOptions& options) {
  Check(options);
  return Builder(options).Build();
}

}  // namespace tenon::models
