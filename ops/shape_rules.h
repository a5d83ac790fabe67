// Shape rules that type relations and computes share. All throw InvalidArgument that says what is
// wrong.
#ifndef TENON_OPS_SHAPE_RULES_H_
#define TENON_OPS_SHAPE_RULES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/ir/type.h"
#include "tenon/ops/shape/transform_attrs.h"

namespace tenon::ops {

class TypeCall;

// `axis` as a number in [0, rank).
int NormalAxis(std::int64_t axis, std::size_t rank, const char* attribute = "axis");

// For each axis, whether it is reduced.
std::vector<bool> ReducedAxes(const std::optional<Ints>& axis, bool exclude, std::size_t rank);

// The target of a reshape with its codes (0, -1 to -4) resolved. Unknown input extents give unknown
// target extents. Where variables decide whether it has as many elements, `call` is told.
std::vector<ir::Dim> ReshapeTarget(const ReshapeAttrs& attrs, const std::vector<ir::Dim>& input,
                                   TypeCall* call = nullptr);

// `whole` elements and the product of `parts`, both without the variables of the parts where these
// divide the whole: what is left to divide is a number then.
std::pair<ir::Dim, ir::Dim> WithoutVariables(const ir::Dim& whole,
                                             const std::vector<ir::Dim>& parts);

// A longer step takes one element of any axis, as this one does. Sums with it fit 64 bits, and it
// is a double.
inline constexpr std::int64_t kLongestStep = std::int64_t{1} << 62;

// One axis of a slice: the elements begin, begin + stride, ...; there are `extent` of them.
struct SliceRange {
  std::int64_t begin = 0;
  std::int64_t stride = 1;
  std::int64_t extent = 0;
};
std::vector<SliceRange> SliceRanges(const StridedSliceAttrs& attrs, const Shape& input);
// The same for extents of which some are expressions.
struct SliceDims {
  ir::Dim begin = 0;
  std::int64_t stride = 1;
  ir::Dim extent = 0;
};
std::vector<SliceDims> SliceRanges(const StridedSliceAttrs& attrs,
                                   const std::vector<ir::Dim>& input);

// Each part of a split has a type and a value of its own.
inline constexpr std::int64_t kMaxParts = 65536;
// First element and length of each part of a split. At most kMaxParts equal parts are allowed.
std::vector<std::pair<std::int64_t, std::int64_t>> SplitParts(const SplitAttrs& attrs,
                                                              std::int64_t extent);

// The extent of an axis with `before` and `after` elements added around it. Refuses one beyond 64
// bits.
std::int64_t PaddedExtent(std::int64_t extent, std::int64_t before, std::int64_t after);
ir::Dim PaddedExtent(const ir::Dim& extent, std::int64_t before, std::int64_t after);
// How many elements a dilated kernel spans. Refuses a span beyond 64 bits.
std::int64_t WindowSpan(std::int64_t kernel, std::int64_t dilation);

// Top, left, bottom, right from one, two or four values.
std::array<std::int64_t, 4> FourPaddings(const Ints& padding);
// Exactly two values: height and width.
std::array<std::int64_t, 2> Pair(const Ints& values, const char* attribute);

// The position of each letter of `wanted` in `layout`, which must be an order of these letters.
std::vector<std::size_t> LayoutPositions(const std::string& layout, const std::string& wanted,
                                         const char* attribute);

}  // namespace tenon::ops

#endif  // TENON_OPS_SHAPE_RULES_H_
