#include "tenon/onnx/convert/gelu.h"

#include <cmath>

#include "tenon/onnx/convert/node.h"
#include "tenon/ops/builders.h"

namespace tenon::onnx_import {
namespace {

Expr NumberLike(const Expr& x, double value) { return ops::Scalar(value, DataTypeOf(x)); }

Expr HalfTimesOnePlus(const Expr& x, const Expr& inner) {
  return ops::Multiply(ops::Multiply(NumberLike(x, 0.5), x), ops::Add(NumberLike(x, 1), inner));
}

}  // namespace

Expr GeluByErf(const Expr& x) {
  return HalfTimesOnePlus(x, ops::Erf(ops::Multiply(x, NumberLike(x, std::sqrt(0.5)))));
}

Expr GeluByTanh(const Expr& x) {
  const Expr cube = ops::Multiply(ops::Multiply(x, x), x);
  const Expr sum = ops::Add(x, ops::Multiply(NumberLike(x, 0.044715), cube));
  return HalfTimesOnePlus(x, ops::Tanh(ops::Multiply(NumberLike(x, std::sqrt(2 / M_PI)), sum)));
}

}  // namespace tenon::onnx_import
