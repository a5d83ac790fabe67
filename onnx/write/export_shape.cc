// Operators that rearrange, select or join elements.
#include <limits>

#include "tenon/onnx/write/exporters.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::onnx_export {
namespace {

// Whatever the attributes say, the target's extents are known, since types have been inferred.
Names Reshape(CallToWrite& call) {
  return {call.graph.AddNode("Reshape", {call.input(0), call.graph.AddInts(call.result_shape())},
                             {{"allowzero", std::int64_t{1}}})};
}

// Keeps the batch free: the file's own declaration says which extents are numbers.
Names BatchFlatten(CallToWrite& call) {
  return {call.graph.AddNode("Flatten", {call.input(0)}, {{"axis", std::int64_t{1}}})};
}

Names Transpose(CallToWrite& call) {
  const auto& axes = call.attrs<ops::TransposeAttrs>().axes;
  const auto rank = static_cast<std::int64_t>(call.rank(0));
  // ONNX cannot say an empty list of axes.
  if (rank == 0) return {call.graph.AddNode("Identity", {call.input(0)})};
  Ints order;
  for (std::int64_t i = 0; i < rank; ++i)
    order.push_back(axes ? call.Axis((*axes)[static_cast<std::size_t>(i)]) : rank - 1 - i);
  return {call.graph.AddNode("Transpose", {call.input(0)}, {{"perm", order}})};
}

Names Concatenate(CallToWrite& call) {
  const auto rank = call.result_shape().size();
  const std::int64_t axis = ops::NormalAxis(call.attrs<ops::ConcatenateAttrs>().axis, rank);
  return {call.graph.AddNode("Concat", call.fields(0), {{"axis", axis}})};
}

Names Split(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::SplitAttrs>();
  const std::int64_t axis = call.Axis(attrs.axis);
  Ints lengths;
  for (const auto& [first, length] :
       ops::SplitParts(attrs, call.shape(0)[static_cast<std::size_t>(axis)]))
    lengths.push_back(length);
  return call.graph.AddNode("Split", lengths.size(), {call.input(0), call.graph.AddInts(lengths)},
                            {{"axis", axis}});
}

Names StridedSlice(CallToWrite& call) {
  const auto ranges = ops::SliceRanges(call.attrs<ops::StridedSliceAttrs>(), call.shape(0));
  Ints starts, ends, axes, steps;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const ops::SliceRange& range = ranges[i];
    const std::int64_t end = range.begin + range.extent * range.stride;
    starts.push_back(range.extent == 0 ? 0 : range.begin);
    // An end before the first element is smaller than any index that counts from the end.
    ends.push_back(range.extent == 0 ? 0
                   : end < 0         ? std::numeric_limits<std::int64_t>::min()
                                     : end);
    axes.push_back(static_cast<std::int64_t>(i));
    steps.push_back(range.extent == 0 ? 1 : range.stride);
  }
  return {call.graph.AddNode("Slice",
                             {call.input(0), call.graph.AddInts(starts), call.graph.AddInts(ends),
                              call.graph.AddInts(axes), call.graph.AddInts(steps)})};
}

Names Pad(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::PadAttrs>();
  Ints before, after;
  for (const Ints& sides : attrs.pad_width) {
    before.push_back(sides.at(0));
    after.push_back(sides.at(1));
  }
  before.insert(before.end(), after.begin(), after.end());
  Names inputs = {call.input(0), call.graph.AddInts(before)};
  if (attrs.pad_mode == "constant") inputs.push_back(call.input(1));
  return {call.graph.AddNode("Pad", inputs, {{"mode", attrs.pad_mode}})};
}

}  // namespace

void AddShapeExporters(ExporterTable* table) {
  const auto& known = ops::Known();
  ExporterTable& t = *table;
  t[known.batch_flatten] = BatchFlatten;
  t[known.expand_dims] = Reshape;
  t[known.pad] = Pad;
  t[known.reshape] = Reshape;
  t[known.squeeze] = Reshape;
  t[known.concatenate] = Concatenate;
  t[known.split] = Split;
  t[known.strided_slice] = StridedSlice;
  t[known.transpose] = Transpose;
}

}  // namespace tenon::onnx_export
