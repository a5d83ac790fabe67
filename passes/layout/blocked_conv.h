// Convolutions over blocks of channels. nn.contrib_conv2d_NCHWc or its depthwise form takes the
// place of nn.conv2d; the other operators take the layouts themselves.
#ifndef TENON_PASSES_LAYOUT_BLOCKED_CONV_H_
#define TENON_PASSES_LAYOUT_BLOCKED_CONV_H_

#include "tenon/ops/layout/alter_layout.h"
#include "tenon/passes/layout/rewrite_layouts.h"

namespace tenon::passes {

// The convolution over such blocks. Nothing when they do not divide the channels of a group, when
// it has blocks already, when extents are not static or when the element types differ.
std::optional<LayoutAlteration> BlockedConvolution(const ir::CallNode& call,
                                                   const ops::ChannelBlocks& blocks);
// Whether each channel is convolved separately, with one filter.
bool IsDepthwise(const ir::CallNode& conv2d);

}  // namespace tenon::passes

#endif  // TENON_PASSES_LAYOUT_BLOCKED_CONV_H_
