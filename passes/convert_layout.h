// ConvertLayout: gives operators the layouts that are wished for.
//
// By operator: the layout of the data and, for a convolution, of the kernel, "default" or left out
// for the one that goes with the data's ("NHWC": "HWIO"). nn.conv2d takes "NCHW{n}c" as well and
// stays as it is where the block does not divide its channels. Operators in between follow; where
// they cannot, layout_transform stands. Calls whose extents are not all static stay. Needs checked
// types and leaves them. Throws InvalidArgument for an operator that has no such layout.
//
//   Module out = ConvertLayout(module, {{"nn.conv2d", {"NHWC", "default"}}});
#ifndef TENON_PASSES_CONVERT_LAYOUT_H_
#define TENON_PASSES_CONVERT_LAYOUT_H_

#include <map>
#include <string>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

using DesiredLayouts = std::map<std::string, std::vector<std::string>>;

ir::Module ConvertLayout(const ir::Module& module, const DesiredLayouts& desired);
// Of text such as "nn.conv2d=NHWC" or "nn.conv2d=NHWC:HWIO". Throws InvalidArgument.
void AddDesiredLayout(const std::string& text, DesiredLayouts* desired);

}  // namespace tenon::passes

#endif  // TENON_PASSES_CONVERT_LAYOUT_H_
