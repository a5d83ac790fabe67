#include <iterator>

#include "tenon/ops/builders.h"
#include "tenon/ops/quantize/qnn_builders.h"
#include "tenon/support/error.h"
#include "tenon/verify/draw/module_drawers.h"

namespace tenon::verify {

using ir::Expr;

namespace {

Expr Arithmetic(Random& random, const Expr& a, const Expr& b) {
  switch (random.Below(6)) {
    case 0:
    case 1:
      return ops::Add(a, b);
    case 2:
    case 3:
      return ops::Multiply(a, b);
    case 4:
      return ops::Subtract(a, b);
    default:
      return ops::Maximum(a, b);
  }
}

}  // namespace

Expr DrawDense(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.SomeOf(2, Float32);
  return ops::Dense(x, draft.Leaf({1 + random.Below(9), draft.ShapeOf(x)[1]}, Float32));
}

Expr DrawProduct(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.SomeOf(2, Float32);
  const std::int64_t terms = draft.ShapeOf(x)[1];
  const std::int64_t columns =
      random.Chance(60) ? terms : random.Of(std::vector<std::int64_t>{1, 13, 16, 33, 48});
  const Expr weight = draft.Weight({columns, terms});
  Expr y = ops::Dense(x, weight);
  // What kernels compute together with a product, the weight itself among it.
  if (random.Chance(30)) y = ops::BiasAdd(y, draft.Leaf({columns}, Float32), {.axis = 1});
  if (draft.ShapeOf(x) == Shape{columns, terms} && random.Chance(25)) y = ops::Add(y, weight);
  if (random.Chance(50)) y = random.Chance(70) ? ops::Relu(y) : ops::Clip(y, 0, 6);
  return y;
}

Expr DrawBroadcast(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  const Expr y = draft.SomeWithin(draft.ShapeOf(x), draft.TypeOf(x));
  return random.Chance(50) ? ops::Subtract(x, y) : Arithmetic(random, x, y);
}

Expr DrawStatistic(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  const auto rank = static_cast<std::int64_t>(draft.ShapeOf(x).size());
  const ops::Ints axis = {random.Chance(75) ? rank - 1 : draft.SomeAxis(x)};
  if (random.Chance(20)) return ops::Max(x, {.axis = axis, .keepdims = true});
  return random.Chance(70) ? ops::Mean(x, {.axis = axis, .keepdims = true})
                           : ops::Sum(x, {.axis = axis, .keepdims = true});
}

Expr DrawBatchMatmul(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.SomeOf(3, Float32);
  const Shape shape = draft.ShapeOf(x);
  return ops::BatchMatmul(x, draft.Leaf({shape[0], 1 + random.Below(6), shape[2]}, Float32),
                          {.transpose_b = true});
}

Expr DrawBiasAdd(ModuleDraft& draft) {
  const Expr x = draft.Some();
  const std::int64_t axis = draft.SomeAxis(x);
  return ops::BiasAdd(
      x, draft.Leaf({draft.ShapeOf(x)[static_cast<std::size_t>(axis)]}, draft.TypeOf(x)),
      {.axis = axis});
}

Expr DrawActivation(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  switch (random.Below(5)) {
    case 0:
    case 1:
      return ops::Relu(x);
    case 2:
      return ops::Sigmoid(x);
    case 3:
      return ops::Clip(x, 0, 6);
    default:
      return ops::LeakyRelu(x, 0.125);
  }
}

Expr DrawConcatenate(ModuleDraft& draft) {
  const Expr x = draft.Some();
  const std::int64_t axis = draft.SomeAxis(x);
  return ops::Concatenate({x, draft.OfShape(draft.ShapeOf(x), draft.TypeOf(x)), x}, axis);
}

Expr DrawReshape(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  const Shape shape = draft.ShapeOf(x);
  if (random.Chance(30)) return ops::ExpandDims(x, 0);
  if (random.Chance(40)) return ops::Reshape(x, {-1});
  if (shape.size() < 2) throw InvalidArgument("nothing to join");
  Shape joined(shape.begin() + 1, shape.end());
  joined[0] *= shape[0];
  return ops::Reshape(x, joined);
}

Expr DrawTranspose(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  ops::Ints axes(draft.ShapeOf(x).size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = axes.size(); i > 1; --i)
    std::swap(axes[i - 1],
              axes[static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(i)))]);
  return ops::Transpose(x, axes);
}

Expr DrawBinary(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  const Expr y = draft.OfShape(draft.ShapeOf(x), draft.TypeOf(x));
  return Arithmetic(random, random.Chance(50) ? x : y, random.Chance(50) ? x : y);
}

Expr DrawScalar(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  if (draft.TypeOf(x).is_bool()) throw InvalidArgument("no arithmetic on bool");
  const Expr c = ops::Scalar(static_cast<double>(random.Below(4)), draft.TypeOf(x));
  return random.Chance(50) ? Arithmetic(random, x, c) : Arithmetic(random, c, x);
}

Expr DrawReduce(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  const ops::Ints axis = {draft.SomeAxis(x)};
  const bool keepdims = random.Chance(50);
  switch (random.Below(3)) {
    case 0:
      return ops::Sum(x, {.axis = axis, .keepdims = keepdims});
    case 1:
      return ops::Max(x, {.axis = axis, .keepdims = keepdims});
    default:
      return ops::Mean(x, {.axis = axis, .keepdims = keepdims});
  }
}

Expr DrawCast(ModuleDraft& draft) {
  Random& random = draft.random();
  static const std::vector<DataType>& types =
      *new std::vector<DataType>{Float32, Float64, Int32, Int8};
  static const std::vector<DataType>& edge_types = *new std::vector<DataType>{
      Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float32, Float64, Bool};
  return ops::Cast(draft.Some(),
                   random.Of(draft.kind() == ModuleKind::kEdges ? edge_types : types));
}

Expr DrawRounding(ModuleDraft& draft) {
  Random& random = draft.special_random();
  const Expr x = draft.Some();
  if (random.Chance(40)) {
    const auto bound = [&] { return static_cast<double>(random.Below(9) - 4) / 2; };
    const double low = bound();
    return ops::Clip(x, low, bound());
  }
  const DataType type = draft.TypeOf(x);
  const bool is_whole = type.is_int() || type.is_uint();
  if (is_whole || random.Chance(30)) {
    // A product of 64 bits that wraps around, as in hashes, and its quotient or remainder, often by
    // the factor itself. Narrower integers may be large, too.
    constexpr std::int64_t kNumbers[] = {1000,
                                         std::int64_t{1} << 46,
                                         std::int64_t{1} << 40,
                                         std::int64_t{3} << 44,
                                         6364136223846793005,
                                         std::int64_t{1} << 62,
                                         -7};
    const auto number = [&] { return kNumbers[random.Below(std::size(kNumbers))]; };
    const auto constant = [](std::int64_t value) {
      return ir::Constant::Make(NDArray::Scalar(value));
    };
    const Expr whole = is_whole && random.Chance(50)
                           ? x
                           : draft.LargeIntegers(random.Of(std::vector<DataType>{Int32, UInt32}));
    const std::int64_t factor = number(), divisor = random.Chance(50) ? factor : number();
    const Expr product = ops::Multiply(ops::Cast(whole, Int64), constant(factor));
    return ops::CallOp(
        "negative",
        {ops::CallOp(random.Chance(50) ? "floor_divide" : "floor_mod",
                     {random.Chance(50) ? ops::Add(product, constant(number())) : product,
                      constant(divisor)})});
  }
  if (type != Float32) throw InvalidArgument("other types have other steps");
  const Expr large = ops::Scalar(random.Chance(50) ? 0x1.8p23 : -0x1.8p22, Float32);
  return random.Chance(50) ? ops::Subtract(ops::Add(x, large), large)
                           : ops::Add(ops::Subtract(x, large), large);
}

Expr DrawSpecial(ModuleDraft& draft) {
  Random& random = draft.special_random();
  const Expr x = draft.Some();
  const DataType type = draft.TypeOf(x);
  if (!type.is_float()) throw InvalidArgument("no special values");
  const Shape shape = draft.ShapeOf(x);
  const auto unary = [&](const char* op) { return ops::CallOp(op, {x}); };
  const auto binary = [&](const char* op) {
    const Expr y = random.Chance(50) ? draft.OfShape(shape, type) : ops::Scalar(0, type);
    return random.Chance(50) ? ops::CallOp(op, {x, y}) : ops::CallOp(op, {y, x});
  };
  switch (random.Below(12)) {
    case 0:
      return ops::Divide(ops::Scalar(1, type), x);
    case 1:
      return ops::Divide(draft.OfShape(shape, type), x);
    case 2:
      return binary(random.Of(std::vector<const char*>{"greater", "less", "greater_equal",
                                                       "less_equal", "equal", "not_equal"}));
    case 3:
      return binary(random.Of(std::vector<const char*>{"maximum", "minimum"}));
    case 4:
      return ops::Cast(x, random.Of(std::vector<DataType>{Bool, Int8, UInt8, Int32, Int64}));
    case 5:
      return unary(random.Of(std::vector<const char*>{"isnan", "isinf", "isfinite"}));
    case 6:
      return unary(random.Of(
          std::vector<const char*>{"sign", "sqrt", "abs", "negative", "floor", "ceil", "tanh"}));
    case 7:
      return ops::Clip(x, -0.5, random.Chance(50) ? 0 : 1);
    case 8: {
      if (shape.empty()) throw InvalidArgument("a scalar has no axis");
      const std::int64_t axis = draft.SomeAxis(x);
      return ops::CallOp(
          random.Chance(50) ? "argmax" : "argmin", {x},
          attrs::Attrs::Make(ops::ArgReduceAttrs{.axis = ops::Ints{axis}, .keepdims = true}));
    }
    case 9:
    case 10: {
      // The sign bit of each number; NaN may have any.
      const DataType bits = type == Float64 ? Int64 : type == Float32 ? Int32 : Int16;
      const Expr sign = ops::CallOp(
          "less", {ops::CallOp("reinterpret", {x}, attrs::Attrs::Make(ops::CastAttrs{bits})),
                   ops::Scalar(0, bits)});
      return ops::CallOp("logical_and",
                         {sign, ops::CallOp("logical_not", {ops::CallOp("isnan", {x})})});
    }
    default:
      return ops::Multiply(x, random.Chance(50) ? x : draft.OfShape(shape, type));
  }
}

Expr DrawQuantized(ModuleDraft& draft) {
  Random& random = draft.random();
  const Expr x = draft.Some();
  const DataType type = draft.TypeOf(x);
  const Expr scale = ops::Scalar(0.25 * static_cast<double>(1 + random.Below(4)));
  const Expr zero_point = ops::Scalar(static_cast<double>(random.Below(8)), Int32);
  if (type == Float32)
    return ops::QnnQuantize(x, scale, zero_point, {.out_dtype = random.Chance(50) ? Int8 : UInt8});
  if (type == Int32)
    return ops::QnnRequantize(x, ops::Scalar(0.01), ops::Scalar(0, Int32), scale, zero_point);
  if (type != Int8 && type != UInt8) throw InvalidArgument("no quantised type");
  const Shape shape = draft.ShapeOf(x);
  const Expr one = ops::Scalar(1);
  const Expr zero = ops::Scalar(0, Int32);
  const ops::QnnParameters parameters{scale, zero_point};
  switch (random.Below(5)) {
    case 0:
      return ops::QnnRequantize(x, scale, zero_point, ops::Scalar(0.5), zero);
    case 1:
      return ops::QnnAdd(x, draft.OfShape(shape, type), parameters, {one, zero}, parameters);
    case 2:
      if (shape.size() == 2)
        return ops::QnnDense(x, draft.Leaf({1 + random.Below(9), shape[1]}, Int8), zero_point, zero,
                             scale, one);
      [[fallthrough]];
    case 3:
      if (shape.size() == 4)
        return ops::QnnConv2D(x, draft.Leaf({1 + random.Below(5), shape[1], 1, 1}, Int8),
                              zero_point, zero, scale, one, {.padding = {random.Below(2), 0}});
      [[fallthrough]];
    default:
      return ops::QnnDequantize(x, scale, zero_point);
  }
}

}  // namespace tenon::verify
