// ConvertLayout: gives operators the layouts that the caller asks for.
//
// For each operator: the layout of the data and, for a convolution, of the kernel. If that is
// "default" or left out, it is the one that goes with the data's ("NHWC": "HWIO"). Convolutions
// also take blocks of channels, "NCHW{n}c", and stay unchanged where blocks do not divide the
// channels. Operators in between follow; where they cannot, a layout_transform is inserted. Calls
// whose extents are not all static stay. Needs checked types and leaves them. Throws
// InvalidArgument for an operator that has no such layout.
//
//   Module out = ConvertLayout(module, {{"nn.conv2d", {"NHWC", "default"}}});
#ifndef TENON_PASSES_LAYOUT_CONVERT_LAYOUT_H_
#define TENON_PASSES_LAYOUT_CONVERT_LAYOUT_H_

#include <map>
#include <string>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

using DesiredLayouts = std::map<std::string, std::vector<std::string>>;

// 2-D convolutions with images in that layout, and with kernels in this one.
DesiredLayouts ImagesOf(const std::string& data, const std::string& kernel = "default");

ir::Module ConvertLayout(const ir::Module& module, const DesiredLayouts& desired);
// Adds the layouts that `text` names, such as "nn.conv2d=NHWC" or "nn.conv2d=NHWC:HWIO". Throws
// InvalidArgument for any other text.
void AddDesiredLayout(const std::string& text, DesiredLayouts* desired);

}  // namespace tenon::passes

#endif  // TENON_PASSES_LAYOUT_CONVERT_LAYOUT_H_
