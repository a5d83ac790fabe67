// Layout rules of operators over axes that their attributes name: answers for the column that
// layout_inference.h describes.
#ifndef TENON_OPS_LAYOUT_LAYOUT_RULES_H_
#define TENON_OPS_LAYOUT_LAYOUT_RULES_H_

#include <string>

#include "tenon/ops/layout/layout_inference.h"

namespace tenon::ops {

// Nothing is known about the axes: everything stays as it is.
LayoutAnswer KeepLayouts(const LayoutQuestion& question);
// The new layout of an input, or its old one.
const std::string& WantedLayout(const LayoutQuestion& question, std::size_t input);
bool IsLayoutChanged(const LayoutQuestion& question, std::size_t input);
// Whether an operator whose attribute says `own` may take the new layout of its first input.
bool MayFollowLayout(const LayoutQuestion& question, const std::string& own);
// Whether `layout` is an order of the letters of `letters`.
bool IsOrderOf(std::string letters, std::string layout);
// Images, whose channels may be cut into blocks.
bool IsPooledLayout(const std::string& text);

// The rule of sum and similar reductions, and of argmax over one whole axis.
LayoutAnswer LayoutsOfReduction(const LayoutQuestion& question);
LayoutAnswer LayoutsOfArgReduction(const LayoutQuestion& question);
LayoutAnswer LayoutsOfConcatenate(const LayoutQuestion& question);
LayoutAnswer LayoutsOfPad(const LayoutQuestion& question);
LayoutAnswer LayoutsOfSplit(const LayoutQuestion& question);
LayoutAnswer LayoutsOfSqueeze(const LayoutQuestion& question);
LayoutAnswer LayoutsOfStridedSlice(const LayoutQuestion& question);
LayoutAnswer LayoutsOfTranspose(const LayoutQuestion& question);

}  // namespace tenon::ops

#endif  // TENON_OPS_LAYOUT_LAYOUT_RULES_H_
