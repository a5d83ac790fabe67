// Operators on boxes in images: RoIAlign and non-maximum suppression with the operators that
// prepare and cut its tables.
#include <algorithm>

#include "tenon/ops/boxes/vision_attrs.h"
#include "tenon/ops/builtin.h"
#include "tenon/ops/extents/count_up_attrs.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

// Limits the flags of non-maximum suppression: one byte for each pair of boxes of an image.
constexpr std::int64_t kMaxFlags = std::int64_t{1} << 31;

void RoiAlign(TypeCall& call) {
  const auto* data = call.tensor(0);
  const auto* rois = call.tensor(1);
  if (data == nullptr || rois == nullptr) return;
  const auto& attrs = call.attrs<RoiAlignAttrs>();
  const auto pooled = Pair(attrs.pooled_size, "pooled_size");
  RequireRegions(call, *data, *rois);
  call.LearnResult(ir::TensorType({rois->shape[0], data->shape[1], Dim(pooled[0]), Dim(pooled[1])},
                                  data->dtype));
}

void AllClassNonMaximumSuppression(TypeCall& call) {
  const auto* boxes = call.tensor(0);
  const auto* scores = call.tensor(1);
  if (boxes == nullptr || scores == nullptr) return;
  if (boxes->shape.size() != 3 || call.Differ(boxes->shape[2], Dim(4)))
    call.Refuse("the boxes must have the shape (batch, count, 4)");
  if (scores->shape.size() != 3)
    call.Refuse("the scores must have the shape (batch, class, count)");
  if (call.Differ(boxes->shape[0], scores->shape[0]) ||
      call.Differ(boxes->shape[1], scores->shape[2]))
    call.Refuse("boxes and scores must have one batch and one number of boxes");
  if (boxes->dtype != Float32 || scores->dtype != Float32)
    call.Refuse("boxes and scores must be float32");
  for (const std::size_t i : {2U, 3U, 4U}) {
    const auto* parameter = call.tensor(i);
    if (parameter == nullptr) return;
    for (const Dim& extent : parameter->shape) {
      if (call.Differ(extent, Dim(1)))
        call.Refuse(StrCat("argument ", i, " must have one element"));
    }
    if (i == 2 ? !parameter->dtype.is_int() : !parameter->dtype.is_float())
      call.Refuse(StrCat("argument ", i, " cannot be ", parameter->dtype.ToString()));
  }
  const Dim rows = Product({scores->shape[0], scores->shape[1], scores->shape[2]});
  call.LearnResult(
      ir::TupleType({ir::TensorType({rows, Dim(3)}, Int64), ir::TensorType({Dim(1)}, Int64)}));
}

// The extents of boxes of the shape (batch, count, elements).
const std::vector<Dim>& BoxShape(const TypeCall& call, const ir::TensorTypeNode& boxes) {
  if (boxes.shape.size() != 3) call.Refuse("the data must have the shape (batch, count, elements)");
  if (!boxes.dtype.is_float()) call.Refuse("the data must be of a floating type");
  if (!boxes.shape[2].is_static()) call.Refuse("the elements of a box must be known");
  return boxes.shape;
}
void CheckElement(const TypeCall& call, std::int64_t index, const Dim& elements, const char* name) {
  if (index >= elements.value())
    call.Refuse(StrCat(name, " is ", index, " and a box has ", elements.value(), " elements"));
}
void CheckNumber(const TypeCall& call, const ir::TensorTypeNode& type, bool is_float,
                 const char* name) {
  if (!type.shape.empty() || (is_float ? !type.dtype.is_float() : !type.dtype.is_integral()))
    call.Refuse(StrCat(name, " must be ", is_float ? "a float" : "an integer", " of rank 0"));
}

void GetValidCounts(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<GetValidCountsAttrs>();
  const std::vector<Dim>& shape = BoxShape(call, *x);
  CheckElement(call, attrs.id_index, shape[2], "id_index");
  CheckElement(call, attrs.score_index, shape[2], "score_index");
  if (const auto* threshold = call.tensor(1))
    CheckNumber(call, *threshold, true, "score_threshold");
  call.LearnResult(ir::TupleType({ir::TensorType({shape[0]}, Int32), call.input(0),
                                  ir::TensorType({shape[0], shape[1]}, Int32)}));
}

void NonMaximumSuppression(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* counts = call.tensor(1);
  const auto* indices = call.tensor(2);
  const auto* max_output_size = call.tensor(3);
  const auto* threshold = call.tensor(4);
  if (x == nullptr || counts == nullptr || indices == nullptr || max_output_size == nullptr ||
      threshold == nullptr)
    return;
  const auto& attrs = call.attrs<NonMaximumSuppressionAttrs>();
  const std::vector<Dim>& shape = BoxShape(call, *x);
  CheckElement(call, attrs.id_index, shape[2], "id_index");
  CheckElement(call, attrs.score_index, shape[2], "score_index");
  CheckElement(call, attrs.coord_start, shape[2], "coord_start");  // so that 3 more fit 64 bits
  CheckElement(call, attrs.coord_start + 3, shape[2], "coord_start + 3");
  if (counts->shape.size() != 1 || call.Differ(counts->shape[0], shape[0]) ||
      !counts->dtype.is_integral())
    call.Refuse("valid_count must be a vector of integers, one per image");
  if (indices->shape.size() != 2 || call.Differ(indices->shape[0], shape[0]) ||
      call.Differ(indices->shape[1], shape[1]) || !indices->dtype.is_integral())
    call.Refuse("indices must be integers of the shape (batch, count)");
  if (const Dim flags = Product({shape[0], shape[1], shape[1]}); call.Exceeds(flags, kMaxFlags))
    call.Refuse(StrCat(shape[1].ToString(), " boxes of ", shape[0].ToString(),
                       " images; the square of the one times the other may be ", kMaxFlags));
  CheckNumber(call, *max_output_size, false, "max_output_size");
  CheckNumber(call, *threshold, true, "iou_threshold");
  if (!attrs.return_indices) {
    call.LearnResult(call.input(0));
    return;
  }
  call.LearnResult(ir::TupleType(
      {ir::TensorType({shape[0], shape[1]}, Int32), ir::TensorType({shape[0], Dim(1)}, Int32)}));
}

// "#k"
bool IsRunTimeExtent(const std::string& name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return name.size() > 1 && name[0] == '#' && is_letter(name[1]) &&
         std::all_of(name.begin() + 1, name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// The variable that the result has; "?" where there is none yet.
Dim RunTimeExtent(TypeCall& call, const ir::TensorTypeNode* count, const std::string& extent) {
  if (count != nullptr &&
      (count->dtype != Int64 || count->shape.size() != 1 || call.Differ(count->shape[0], Dim(1))))
    call.Refuse("the count must be one element of int64, of rank 1");
  if (!extent.empty() && !IsRunTimeExtent(extent))
    call.Refuse(StrCat("the extent is \"", extent, "\"; it must be # and a name, such as \"#k\""));
  return extent.empty() ? Dim() : Dim::Symbol(extent);
}

void TakeFirst(TypeCall& call) {
  const auto* data = call.tensor(0);
  if (data == nullptr) return;
  const auto& attrs = call.attrs<RunTimeCutAttrs>();
  const auto axis = static_cast<std::size_t>(NormalizeAxis(call, attrs.axis, data->shape.size()));
  std::vector<Dim> shape = data->shape;
  shape[axis] = RunTimeExtent(call, call.tensor(1), attrs.extent);
  call.LearnResult(ir::TensorType(std::move(shape), data->dtype));
}

void CountUp(TypeCall& call) {
  const auto* count = call.tensor(0);
  if (count == nullptr) return;
  call.LearnResult(
      ir::TensorType({RunTimeExtent(call, count, call.attrs<CountUpAttrs>().extent)}, Int64));
}

}  // namespace

void RegisterVisionOps(OpRegistry& registry) {
  registry.Register("take_first")
      .Describe(
          "the first elements of the data along an axis, as many as the count says at run time, at "
          "most all; their number is a variable of the types after it")
      .Argument("data", "Tensor", "input")
      .Argument("count", "Tensor", "one element of int64")
      .Attrs<RunTimeCutAttrs>()
      .Level(6)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(TakeFirst, "TakeFirst");
  registry.Register("count_up")
      .Describe(
          "the numbers 0, 1, 2, ... in int64, as many as the count says at run time; their number "
          "is a variable of the types after it")
      .Argument("count", "Tensor", "one element of int64")
      .Attrs<CountUpAttrs>()
      .Level(6)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(CountUp, "CountUp");
  registry.Register("vision.roi_align")
      .Describe("regions of images, pooled to one size from samples between pixels")
      .Argument("data", "Tensor", "images, NCHW")
      .Argument("rois", "Tensor", "(count, 5): batch index, x1, y1, x2, y2")
      .Attrs<RoiAlignAttrs>()
      .Level(5)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(RoiAlign, "ROIAlign");
  registry.Register("vision.get_valid_counts")
      .Describe(
          "boxes with a score above the threshold, moved to the front and followed by -1: their "
          "number, the boxes, and their old indices")
      .Argument("data", "Tensor", "(batch, count, elements)")
      .Argument("score_threshold", "Tensor", "of rank 0; score above which a box counts")
      .Attrs<GetValidCountsAttrs>()
      .Level(5)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(GetValidCounts, "GetValidCount");
  registry.Register("vision.non_max_suppression")
      .Describe(
          "non-maximum suppression: boxes by falling score without those that overlap a better "
          "one. Gives their indices, followed by -1, and their number; or the boxes, with -1 in "
          "place of those that are dropped. Memory grows with the square of the count")
      .Argument("data", "Tensor", "(batch, count, elements)")
      .Argument("valid_count", "1D Tensor", "boxes of each image that are considered")
      .Argument("indices", "Tensor", "(batch, count): what is returned for a box")
      .Argument("max_output_size", "Tensor",
                "maximum number of boxes to keep, of rank 0; all when not positive")
      .Argument("iou_threshold", "Tensor", "minimum overlap at which a box is dropped, of rank 0")
      .Attrs<NonMaximumSuppressionAttrs>()
      .Level(5)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(NonMaximumSuppression, "NMS");
  registry.Register("vision.all_class_non_max_suppression")
      .Describe(
          "non-maximum suppression for each image and class: the boxes that do not overlap a "
          "better one, as rows of image, class and box, followed by zeros; and the number of rows "
          "that count")
      .Argument("boxes", "Tensor", "(batch, count, 4): y1, x1, y2, x2 of any two opposite corners")
      .Argument("scores", "Tensor", "(batch, class, count)")
      .Argument("max_output_boxes_per_class", "Tensor", "one integer")
      .Argument("iou_threshold", "Tensor", "overlap above which a box is dropped")
      .Argument("score_threshold", "Tensor", "score above which a box counts")
      .Attrs<AllClassNonMaximumSuppressionAttrs>()
      .Level(5)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(AllClassNonMaximumSuppression, "AllClassNMS");
}

}  // namespace tenon::ops
