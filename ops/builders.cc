#include "tenon/ops/builders.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using attrs::Attrs;
using ir::Call;

// Turns one, two or four paddings into four. The type relation refuses any other length.
void WidenPadding(Ints* padding) {
  if (padding->size() != 1 && padding->size() != 2) return;
  const auto four = FourPaddings(*padding);
  padding->assign(four.begin(), four.end());
}

// The type relation refuses bad lengths.
template <typename AttrsType>
Expr Convolution(const Expr& op, const Expr& data, const Expr& weight, AttrsType a) {
  const std::size_t dims = AttrsType{}.strides.size();
  const auto widen = [&](Ints* values) {
    if (values->size() == 1) values->resize(dims, values->front());
  };
  widen(&a.strides);
  widen(&a.dilation);
  if (a.kernel_size) widen(&*a.kernel_size);
  if constexpr (requires { a.output_padding; }) widen(&a.output_padding);
  if (a.padding.size() == 1 || a.padding.size() == dims) a.padding = SidePaddings(a.padding, dims);
  return Call::Make(op, {data, weight}, Attrs::Make(std::move(a)));
}

}  // namespace

Expr CallOp(const std::string& name, std::vector<Expr> args, Attrs attrs) {
  const Expr& op = OpRegistry::Global().Get(name);
  const attrs::Schema* schema = OpOf(op)->schema;
  if (schema != nullptr && !attrs.defined()) attrs = Attrs::FromFields(*schema, {});
  return Call::Make(op, std::move(args), std::move(attrs));
}

Expr Abs(const Expr& x) { return Call::Make(Known().abs, {x}); }
Expr Copy(const Expr& x) { return Call::Make(Known().copy, {x}); }
Expr Erf(const Expr& x) { return Call::Make(Known().erf, {x}); }
Expr Exp(const Expr& x) { return Call::Make(Known().exp, {x}); }
Expr Log(const Expr& x) { return Call::Make(Known().log, {x}); }
Expr Negative(const Expr& x) { return Call::Make(Known().negative, {x}); }
Expr Relu(const Expr& x) { return Call::Make(Known().relu, {x}); }
Expr Sigmoid(const Expr& x) { return Call::Make(Known().sigmoid, {x}); }
Expr Sqrt(const Expr& x) { return Call::Make(Known().sqrt, {x}); }
Expr Tanh(const Expr& x) { return Call::Make(Known().tanh, {x}); }
Expr Add(const Expr& a, const Expr& b) { return Call::Make(Known().add, {a, b}); }
Expr Subtract(const Expr& a, const Expr& b) { return Call::Make(Known().subtract, {a, b}); }
Expr Multiply(const Expr& a, const Expr& b) { return Call::Make(Known().multiply, {a, b}); }
Expr Divide(const Expr& a, const Expr& b) { return Call::Make(Known().divide, {a, b}); }
Expr Maximum(const Expr& a, const Expr& b) { return Call::Make(Known().maximum, {a, b}); }
Expr Minimum(const Expr& a, const Expr& b) { return Call::Make(Known().minimum, {a, b}); }
Expr Power(const Expr& a, const Expr& b) { return Call::Make(Known().power, {a, b}); }
Expr Sum(const Expr& x, ReduceAttrs a) {
  return Call::Make(Known().sum, {x}, Attrs::Make(std::move(a)));
}
Expr Max(const Expr& x, ReduceAttrs a) {
  return Call::Make(Known().max, {x}, Attrs::Make(std::move(a)));
}
Expr Min(const Expr& x, ReduceAttrs a) {
  return Call::Make(Known().min, {x}, Attrs::Make(std::move(a)));
}
Expr Mean(const Expr& x, ReduceAttrs a) {
  return Call::Make(Known().mean, {x}, Attrs::Make(std::move(a)));
}

namespace {

// The whole part of `value`, which must be a T.
template <typename T>
NDArray WholeScalar(double value) {
  using Limits = std::numeric_limits<T>;
  // One above the highest value is a power of two, which a double holds for every T.
  constexpr double above = 2.0 * static_cast<double>(T{1} << (Limits::digits - 1));
  const double whole = std::trunc(value);
  if (!(whole >= static_cast<double>(Limits::min()) && whole < above))
    throw InvalidArgument(StrCat(value, " is not a value of ", DataTypeOf<T>().ToString()));
  return NDArray::Scalar(static_cast<T>(whole));
}

}  // namespace

Expr Scalar(double value, DataType dtype) {
  NDArray scalar;
  if (dtype == Float32)
    scalar = NDArray::Scalar(static_cast<float>(value));
  else if (dtype == Float64)
    scalar = NDArray::Scalar(value);
  else if (dtype == Int16)
    scalar = WholeScalar<std::int16_t>(value);
  else if (dtype == Int32)
    scalar = WholeScalar<std::int32_t>(value);
  else if (dtype == Int64)
    scalar = WholeScalar<std::int64_t>(value);
  else if (dtype == Int8)
    scalar = WholeScalar<std::int8_t>(value);
  else if (dtype == UInt8)
    scalar = WholeScalar<std::uint8_t>(value);
  else if (dtype.is_bool())
    scalar = NDArray::Scalar(value != 0);
  else
    return Cast(Scalar(value, Float64), dtype);
  return ir::Constant::Make(std::move(scalar));
}
Expr Cast(const Expr& x, DataType dtype) {
  return Call::Make(Known().cast, {x}, Attrs::Make(CastAttrs{dtype}));
}
Expr Clip(const Expr& x, double a_min, double a_max) {
  return Call::Make(Known().clip, {x}, Attrs::Make(ClipAttrs{a_min, a_max}));
}
Expr LeakyRelu(const Expr& x, double alpha) {
  return Call::Make(Known().leaky_relu, {x}, Attrs::Make(LeakyReluAttrs{alpha}));
}
Expr Where(const Expr& c, const Expr& x, const Expr& y) {
  return Call::Make(Known().where, {c, x, y});
}
Expr ArgMax(const Expr& x, ArgReduceAttrs a) {
  return Call::Make(Known().argmax, {x}, Attrs::Make(std::move(a)));
}
Expr Concatenate(std::vector<Expr> fields, std::int64_t axis) {
  return Call::Make(Known().concatenate, {ir::Tuple::Make(std::move(fields))},
                    Attrs::Make(ConcatenateAttrs{axis}));
}
Expr ExpandDims(const Expr& x, std::int64_t axis, std::int64_t num_newaxis) {
  return Call::Make(Known().expand_dims, {x}, Attrs::Make(ExpandDimsAttrs{axis, num_newaxis}));
}
Expr Reshape(const Expr& x, Ints newshape) {
  return Call::Make(Known().reshape, {x},
                    Attrs::Make(ReshapeAttrs{.newshape = std::move(newshape)}));
}
Expr ReshapeToExtents(const Expr& x, Ints extents) {
  ReshapeAttrs attrs{.newshape = std::move(extents)};
  attrs.allowzero = std::ranges::find(attrs.newshape, 0) != attrs.newshape.end();
  return Call::Make(Known().reshape, {x}, Attrs::Make(std::move(attrs)));
}
Expr Squeeze(const Expr& x, std::optional<Ints> axis) {
  return Call::Make(Known().squeeze, {x}, Attrs::Make(SqueezeAttrs{std::move(axis)}));
}
Expr Split(const Expr& x, SplitAttrs a) {
  return Call::Make(Known().split, {x}, Attrs::Make(std::move(a)));
}
Expr StridedSlice(const Expr& x, StridedSliceAttrs a) {
  return Call::Make(Known().strided_slice, {x}, Attrs::Make(std::move(a)));
}
Expr Take(const Expr& x, const Expr& i, TakeAttrs a) {
  return Call::Make(Known().take, {x, i}, Attrs::Make(std::move(a)));
}
Expr Transpose(const Expr& x, std::optional<Ints> axes) {
  return Call::Make(Known().transpose, {x}, Attrs::Make(TransposeAttrs{std::move(axes)}));
}
Expr Pad(const Expr& x, std::vector<Ints> pad_width, double value, DataType dtype) {
  return Call::Make(Known().pad, {x, Scalar(value, dtype)},
                    Attrs::Make(PadAttrs{.pad_width = std::move(pad_width)}));
}
Expr Conv1D(const Expr& data, const Expr& weight, Conv1DAttrs a) {
  return Convolution(Known().conv1d, data, weight, std::move(a));
}
Expr Conv2D(const Expr& data, const Expr& weight, Conv2DAttrs a) {
  return Convolution(Known().conv2d, data, weight, std::move(a));
}
Expr Conv3D(const Expr& data, const Expr& weight, Conv3DAttrs a) {
  return Convolution(Known().conv3d, data, weight, std::move(a));
}
Expr Conv1DTranspose(const Expr& data, const Expr& weight, Conv1DTransposeAttrs a) {
  return Convolution(Known().conv1d_transpose, data, weight, std::move(a));
}
Expr Conv2DTranspose(const Expr& data, const Expr& weight, Conv2DTransposeAttrs a) {
  return Convolution(Known().conv2d_transpose, data, weight, std::move(a));
}
Expr Conv3DTranspose(const Expr& data, const Expr& weight, Conv3DTransposeAttrs a) {
  return Convolution(Known().conv3d_transpose, data, weight, std::move(a));
}
Expr Dense(const Expr& data, const Expr& weight, DenseAttrs a) {
  return Call::Make(Known().dense, {data, weight}, Attrs::Make(a));
}
Expr Matmul(const Expr& x, const Expr& y, MatmulAttrs a) {
  return Call::Make(Known().matmul, {x, y}, Attrs::Make(a));
}
Expr BatchMatmul(const Expr& x, const Expr& y, BatchMatmulAttrs a) {
  return Call::Make(Known().batch_matmul, {x, y}, Attrs::Make(a));
}
Expr BiasAdd(const Expr& data, const Expr& bias, BiasAddAttrs a) {
  return Call::Make(Known().bias_add, {data, bias}, Attrs::Make(a));
}
Expr BatchNorm(const Expr& data, const Expr& gamma, const Expr& beta, const Expr& mean,
               const Expr& var, BatchNormAttrs a) {
  return Call::Make(Known().batch_norm, {data, gamma, beta, mean, var}, Attrs::Make(a));
}
Expr GroupNorm(const Expr& data, const Expr& gamma, const Expr& beta, GroupNormAttrs a) {
  return Call::Make(Known().group_norm, {data, gamma, beta}, Attrs::Make(a));
}
Expr InstanceNorm(const Expr& data, const Expr& gamma, const Expr& beta, InstanceNormAttrs a) {
  return Call::Make(Known().instance_norm, {data, gamma, beta}, Attrs::Make(a));
}
Expr LayerNorm(const Expr& data, const Expr& gamma, const Expr& beta, LayerNormAttrs a) {
  return Call::Make(Known().layer_norm, {data, gamma, beta}, Attrs::Make(a));
}
Expr Softmax(const Expr& x, std::int64_t axis) {
  return Call::Make(Known().softmax, {x}, Attrs::Make(SoftmaxAttrs{axis}));
}
Expr LogSoftmax(const Expr& x, std::int64_t axis) {
  return Call::Make(Known().log_softmax, {x}, Attrs::Make(SoftmaxAttrs{axis}));
}
Expr Dropout(const Expr& x, double rate) {
  return Call::Make(Known().dropout, {x}, Attrs::Make(DropoutAttrs{rate}));
}
Expr MaxPool2D(const Expr& x, MaxPool2DAttrs a) {
  WidenPadding(&a.padding);
  return Call::Make(Known().max_pool2d, {x}, Attrs::Make(std::move(a)));
}
Expr AvgPool2D(const Expr& x, AvgPool2DAttrs a) {
  WidenPadding(&a.padding);
  return Call::Make(Known().avg_pool2d, {x}, Attrs::Make(std::move(a)));
}
Expr GlobalAvgPool2D(const Expr& x, GlobalPool2DAttrs a) {
  return Call::Make(Known().global_avg_pool2d, {x}, Attrs::Make(std::move(a)));
}
Expr GlobalMaxPool2D(const Expr& x, GlobalPool2DAttrs a) {
  return Call::Make(Known().global_max_pool2d, {x}, Attrs::Make(std::move(a)));
}
Expr Resize1D(const Expr& x, Resize1DAttrs a) {
  return Call::Make(Known().resize1d, {x}, Attrs::Make(std::move(a)));
}
Expr Resize2D(const Expr& x, Resize2DAttrs a) {
  return Call::Make(Known().resize2d, {x}, Attrs::Make(std::move(a)));
}
Expr Resize3D(const Expr& x, Resize3DAttrs a) {
  return Call::Make(Known().resize3d, {x}, Attrs::Make(std::move(a)));
}

}  // namespace tenon::ops
