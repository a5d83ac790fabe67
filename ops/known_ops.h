// The built-in operators that Tenon's own passes and front ends build and look for, as callees of
// calls.
//
//   if (call.callee == Known().relu) ...
#ifndef TENON_OPS_KNOWN_OPS_H_
#define TENON_OPS_KNOWN_OPS_H_

#include "tenon/ops/registry.h"

namespace tenon::ops {

struct KnownOps {
  explicit KnownOps(const OpRegistry& registry);

  ir::Expr abs, acos, acosh, asin, asinh, atan, atanh, ceil, cos, cosh, erf, exp, floor, isinf,
      isnan, log, logical_not, nearbyint, negative, relu, round, rsqrt, sigmoid, sign, sin, sinh,
      sqrt, tan, tanh, copy, zeros_like, ones_like;
  ir::Expr cast, clip, leaky_relu, prelu, stop_fusion;
  ir::Expr add, subtract, multiply, divide, floor_divide, floor_mod, mod, power, maximum, minimum;
  ir::Expr equal, less, less_equal, greater, greater_equal, not_equal;
  ir::Expr logical_and, logical_or, logical_xor, where;
  ir::Expr sum, prod, max, min, mean, variance, argmax, argmin;
  ir::Expr concatenate, expand_dims, reshape, squeeze, transpose, split, stack, strided_slice, take,
      gather, tile, broadcast_to, batch_flatten, shape_of;
  ir::Expr gather_nd, scatter_elements, scatter_nd, one_hot, trilu, cumsum, reverse,
      reverse_sequence;
  ir::Expr bitwise_and, bitwise_not, bitwise_or, bitwise_xor, left_shift, right_shift, lrn;
  ir::Expr full, zeros, ones;
  ir::Expr conv1d, conv3d, conv1d_transpose, conv2d_transpose, conv3d_transpose;
  ir::Expr conv2d, dense, matmul, batch_matmul, bias_add, batch_norm, layer_norm, group_norm,
      instance_norm, softmax, log_softmax, dropout, pad;
  ir::Expr on_device, device_copy, compiler_begin, compiler_end;
  ir::Expr max_pool2d, avg_pool2d, global_avg_pool2d, global_max_pool2d, resize1d, resize2d,
      resize3d, grid_sample;
};

const KnownOps& Known();

}  // namespace tenon::ops

#endif  // TENON_OPS_KNOWN_OPS_H_
