// Windows and the discrete Fourier transform.
#include <cmath>

#include "tenon/onnx/converters.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

constexpr std::int64_t kLongestWindow = 1 << 20;
// A transform is a product with a matrix of this many rows.
constexpr std::int64_t kLongestTransform = 2048;

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), with n one less where both ends are part of it.
Converter CosineWindow(double a0, double a1, double a2) {
  return [=](Node& node) {
    const auto size = static_cast<std::int64_t>(node.ConstantScalar(0));
    if (size < 0 || size > kLongestWindow)
      throw InvalidArgument(StrCat("a window of ", size, " elements"));
    const double n = static_cast<double>(node.Int("periodic", 1) != 0 ? size : size - 1);
    const DataType dtype = ToDataType(static_cast<int>(node.Int("output_datatype", 1)),
                                      "the attribute output_datatype");
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; ++i) {
      const double turn = n == 0 ? 0 : 2 * M_PI * static_cast<double>(i) / n;
      values.push_back(a0 - a1 * std::cos(turn) + a2 * std::cos(2 * turn));
    }
    return std::vector<Expr>{
        node.Typed(ops::Cast(ir::Constant::Make(NDArray::FromVector({size}, values)), dtype))};
  };
}

// The signal (batch, ..., 1 or 2) as real and imaginary parts times cosines and sines.
std::vector<Expr> Dft(Node& node) {
  const Expr& x = node.input(0);
  const DataType t = DataTypeOf(x);
  const std::int64_t rank = RankOf(x);
  Shape shape = ShapeOf(x);
  if (rank < 3 || (shape.back() != 1 && shape.back() != 2))
    throw InvalidArgument("the input must end in an axis of 1 or 2 (real, or real and imaginary)");
  const std::int64_t given = node.opset() < 20   ? node.Int("axis", 1)
                             : node.has_input(2) ? static_cast<std::int64_t>(node.ConstantScalar(2))
                                                 : -2;
  const auto axis = static_cast<std::int64_t>(ops::NormalAxis(given, shape.size()));
  if (axis == rank - 1) throw InvalidArgument("the last axis holds real and imaginary parts");
  const bool inverse = node.Int("inverse", 0) != 0;
  const bool onesided = node.Int("onesided", 0) != 0;
  const std::int64_t have = shape[static_cast<std::size_t>(axis)];
  const std::int64_t n =
      node.has_input(1) ? static_cast<std::int64_t>(node.ConstantScalar(1)) : have;
  if (n < 1 || n > kLongestTransform)
    throw Unimplemented(StrCat("a transform of ", n, " elements is not supported; 1 to ",
                               kLongestTransform, " are"));
  if (onesided && inverse) throw Unimplemented("onesided=1 with inverse=1 is not supported");
  const std::int64_t used = std::min(have, n), made = onesided ? n / 2 + 1 : n;
  std::vector<double> cosines, sines;
  for (std::int64_t i = 0; i < used; ++i) {
    for (std::int64_t k = 0; k < made; ++k) {
      // i * k modulo n keeps the angle small, and so exact.
      const double turn = 2 * M_PI * static_cast<double>(i * k % n) / static_cast<double>(n);
      const double scale = inverse ? 1 / static_cast<double>(n) : 1;
      cosines.push_back(std::cos(turn) * scale);
      sines.push_back(std::sin(turn) * (inverse ? scale : -scale));
    }
  }
  const auto matrix = [&](const std::vector<double>& values) {
    return node.Typed(ops::Cast(ir::Constant::Make(NDArray::FromVector({used, made}, values)), t));
  };
  // The transformed axis last, and the others as rows.
  Ints order, back(static_cast<std::size_t>(rank) - 1);
  for (std::int64_t d = 0; d + 1 < rank; ++d) {
    if (d != axis) order.push_back(d);
  }
  order.push_back(axis);
  for (std::size_t d = 0; d < order.size(); ++d)
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  Ints moved;
  for (const std::int64_t d : order) moved.push_back(shape[static_cast<std::size_t>(d)]);
  moved.back() = made;
  const auto part = [&](std::int64_t which) {
    const Expr one =
        ops::Take(x, ops::Scalar(static_cast<double>(which), Int64), {.axis = rank - 1});
    const Expr last = ops::Transpose(one, order);
    return node.Typed(
        ops::StridedSlice(ops::Reshape(last, {-1, have}),
                          {.begin = {0}, .end = {used}, .strides = {1}, .axes = Ints{1}}));
  };
  const auto times = [&](const Expr& rows, const std::vector<double>& values) {
    return ops::Matmul(rows, matrix(values));
  };
  const Expr real_part = part(0);
  Expr real = times(real_part, cosines), imaginary = times(real_part, sines);
  if (shape.back() == 2) {
    const Expr imaginary_part = part(1);
    real = ops::Subtract(real, times(imaginary_part, sines));
    imaginary = ops::Add(imaginary, times(imaginary_part, cosines));
  }
  const auto whole = [&](const Expr& e) {
    return node.Typed(ops::ExpandDims(ops::Transpose(ops::Reshape(e, moved), back), -1));
  };
  return {node.Typed(ops::Concatenate({whole(real), whole(imaginary)}, rank - 1))};
}

}  // namespace

void AddSignalConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["BlackmanWindow"] = CosineWindow(0.42, 0.5, 0.08);
  t["DFT"] = Dft;
  t["HammingWindow"] = CosineWindow(25.0 / 46, 21.0 / 46, 0);
  t["HannWindow"] = CosineWindow(0.5, 0.5, 0);
}

}  // namespace tenon::onnx_import
