// Builds expressions: one function per operator, with attributes as designated initialisers. Some
// families have headers of their own: index_builders.h, pool_builders.h, qnn_builders.h.
//
// Types are not inferred here (see passes/infer_type.h). Attribute values out of bounds throw
// InvalidArgument.
//
//   Expr y = Relu(Conv2D(x, w, {.strides = {2, 2}, .padding = {1, 1}}));
#ifndef TENON_OPS_BUILDERS_H_
#define TENON_OPS_BUILDERS_H_

#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_attrs.h"
#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/image/image_attrs.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/norm/norm_attrs.h"
#include "tenon/ops/pool/pool_attrs.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"

namespace tenon::ops {

using ir::Expr;

// A call of any registered operator, by name. Throws NotFound.
Expr CallOp(const std::string& name, std::vector<Expr> args, attrs::Attrs attrs = {});

// A rank-0 constant of the given element type; an integer type drops the fraction. Throws
// InvalidArgument for a value that an integer type cannot hold.
Expr Scalar(double value, DataType dtype = Float32);

Expr Abs(const Expr& x);
Expr Cast(const Expr& x, DataType dtype);
Expr Clip(const Expr& x, double a_min, double a_max);
Expr Copy(const Expr& x);
Expr Erf(const Expr& x);
Expr Exp(const Expr& x);
Expr LeakyRelu(const Expr& x, double alpha);
Expr Log(const Expr& x);
Expr Negative(const Expr& x);
Expr Relu(const Expr& x);
Expr Sigmoid(const Expr& x);
Expr Sqrt(const Expr& x);
Expr Tanh(const Expr& x);

Expr Add(const Expr& a, const Expr& b);
Expr Subtract(const Expr& a, const Expr& b);
Expr Multiply(const Expr& a, const Expr& b);
Expr Divide(const Expr& a, const Expr& b);
Expr Maximum(const Expr& a, const Expr& b);
Expr Minimum(const Expr& a, const Expr& b);
Expr Power(const Expr& a, const Expr& b);
Expr Where(const Expr& condition, const Expr& x, const Expr& y);

Expr Sum(const Expr& x, ReduceAttrs attrs = {});
Expr Max(const Expr& x, ReduceAttrs attrs = {});
Expr Min(const Expr& x, ReduceAttrs attrs = {});
Expr Mean(const Expr& x, ReduceAttrs attrs = {});
Expr ArgMax(const Expr& x, ArgReduceAttrs attrs = {});

Expr Concatenate(std::vector<Expr> fields, std::int64_t axis);
Expr ExpandDims(const Expr& x, std::int64_t axis, std::int64_t num_newaxis = 1);
// `newshape` has the operator's codes: 0 is the extent of x there, -1 is inferred.
Expr Reshape(const Expr& x, Ints newshape);
// The same where a 0 is an extent of 0.
Expr ReshapeToExtents(const Expr& x, Ints extents);
Expr Squeeze(const Expr& x, std::optional<Ints> axis = std::nullopt);
Expr Split(const Expr& x, SplitAttrs attrs);  // a tuple
Expr StridedSlice(const Expr& x, StridedSliceAttrs attrs);
Expr Take(const Expr& x, const Expr& indices, TakeAttrs attrs = {});
Expr Transpose(const Expr& x, std::optional<Ints> axes = std::nullopt);
Expr Pad(const Expr& x, std::vector<Ints> pad_width, double value = 0, DataType dtype = Float32);

// Padding is stored with one value per side, strides and dilation with one per axis.
Expr Conv1D(const Expr& data, const Expr& weight, Conv1DAttrs attrs = {});
Expr Conv2D(const Expr& data, const Expr& weight, Conv2DAttrs attrs = {});
Expr Conv3D(const Expr& data, const Expr& weight, Conv3DAttrs attrs = {});
Expr Conv1DTranspose(const Expr& data, const Expr& weight, Conv1DTransposeAttrs attrs = {});
Expr Conv2DTranspose(const Expr& data, const Expr& weight, Conv2DTransposeAttrs attrs = {});
Expr Conv3DTranspose(const Expr& data, const Expr& weight, Conv3DTransposeAttrs attrs = {});
Expr Dense(const Expr& data, const Expr& weight, DenseAttrs attrs = {});
Expr Matmul(const Expr& a, const Expr& b, MatmulAttrs attrs = {});
// Without attributes b is transposed, as by the reference's front end. The attribute's own default,
// which text has as well, is false.
Expr BatchMatmul(const Expr& a, const Expr& b, BatchMatmulAttrs attrs = {.transpose_b = true});
Expr BiasAdd(const Expr& data, const Expr& bias, BiasAddAttrs attrs = {});
Expr BatchNorm(const Expr& data, const Expr& gamma, const Expr& beta, const Expr& moving_mean,
               const Expr& moving_var, BatchNormAttrs attrs = {});  // a tuple
Expr GroupNorm(const Expr& data, const Expr& gamma, const Expr& beta, GroupNormAttrs attrs);
Expr InstanceNorm(const Expr& data, const Expr& gamma, const Expr& beta,
                  InstanceNormAttrs attrs = {});
Expr LayerNorm(const Expr& data, const Expr& gamma, const Expr& beta, LayerNormAttrs attrs = {});
Expr Softmax(const Expr& x, std::int64_t axis = -1);
Expr LogSoftmax(const Expr& x, std::int64_t axis = -1);
Expr Dropout(const Expr& x, double rate = 0.5);  // a tuple
Expr MaxPool2D(const Expr& x, MaxPool2DAttrs attrs = {.pool_size = {1, 1}});
Expr AvgPool2D(const Expr& x, AvgPool2DAttrs attrs = {.pool_size = {1, 1}});
Expr GlobalAvgPool2D(const Expr& x, GlobalPool2DAttrs attrs = {});
Expr GlobalMaxPool2D(const Expr& x, GlobalPool2DAttrs attrs = {});
Expr Resize1D(const Expr& x, Resize1DAttrs attrs);
Expr Resize2D(const Expr& x, Resize2DAttrs attrs);
Expr Resize3D(const Expr& x, Resize3DAttrs attrs);

}  // namespace tenon::ops

#endif  // TENON_OPS_BUILDERS_H_
