// FlattenAtrousConv: a convolution between nn.space_to_batch_nd and nn.batch_to_space_nd becomes
// one dilated convolution.
//
//   batch_to_space(conv2d(space_to_batch(x, b, p), w), b, c)  ->  conv2d(x, w, dilation=b)
//
// Requires NHWC, equal blocks of two axes, zeros as padding and strides of 1. The padding of the
// result is what both paddings and the crops leave. Where that would be negative, or where the
// convolution has other readers, nothing changes. Exact. Requires checked types and leaves them.
#ifndef TENON_PASSES_SIMPLIFY_FLATTEN_ATROUS_CONV_H_
#define TENON_PASSES_SIMPLIFY_FLATTEN_ATROUS_CONV_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module FlattenAtrousConv(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_FLATTEN_ATROUS_CONV_H_
