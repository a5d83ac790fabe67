// nn.pad and nn.mirror_pad.
#include <algorithm>

#include "tenon/ops/builtin.h"
#include "tenon/ops/layout/layout_rules.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

struct Border {
  bool mirrors = false;
  std::int64_t edge = 0;  // 1 where the element at the edge is not repeated
  bool repeats_edge = false;
};

void PadTo(TypeCall& call, const std::vector<Ints>& width, const Border& border) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (width.size() != x->shape.size())
    call.Refuse(
        StrCat("pad_width has ", width.size(), " pairs for an input of rank ", x->shape.size()));
  std::vector<ir::Dim> shape = x->shape;
  for (std::size_t i = 0; i < width.size(); ++i) {
    if (width[i].size() != 2) call.Refuse("each entry of pad_width must be a pair (before, after)");
    const ir::Dim extent = shape[i];
    const std::int64_t widest = std::max(width[i][0], width[i][1]);
    if (border.mirrors && widest > 0 && call.Exceeds(widest, extent - border.edge))
      call.Refuse(StrCat("axis ", i, " of extent ", extent.ToString(), " cannot be mirrored by ",
                         width[i][0], " and ", width[i][1]));
    shape[i] = PaddedExtent(extent, width[i][0], width[i][1]);
    if (call.Exceeds(0, shape[i]))
      call.Refuse(StrCat("axis ", i, " is cropped by more than its extent ", extent.ToString()));
  }
  if (border.repeats_edge) {
    for (std::size_t i = 0; i < shape.size(); ++i)
      RequireElements(call, x->shape[i], StrCat("axis ", i), shape);
  }
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

void Pad(TypeCall& call) {
  const auto& attrs = call.attrs<PadAttrs>();
  const auto *x = call.tensor(0), *value = call.tensor(1);
  if (value != nullptr && !value->shape.empty()) call.Refuse("pad_val must have rank 0");
  if (x != nullptr && value != nullptr && value->dtype != x->dtype)
    call.Refuse(StrCat("pad_val is ", value->dtype.ToString(), "; it must be ", x->dtype.ToString(),
                       ", the type of the data"));
  PadTo(call, attrs.pad_width,
        {.mirrors = attrs.pad_mode == "reflect",
         .edge = 1,
         .repeats_edge = attrs.pad_mode == "edge"});
}

void MirrorPad(TypeCall& call) {
  const auto& attrs = call.attrs<MirrorPadAttrs>();
  PadTo(call, attrs.pad_width, {.mirrors = true, .edge = attrs.mode == "REFLECT" ? 1 : 0});
}

}  // namespace

void RegisterPadOps(OpRegistry& registry) {
  registry.Register("nn.pad")
      .Describe("elements around the input; negative widths crop")
      .Argument("data", "Tensor", "input")
      .Argument("pad_val", "Tensor", "the value, rank 0, of the element type of data")
      .Attrs<PadAttrs>()
      .Level(2)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(Pad, "Pad")
      .Column(PrecisionRule::kFollow)
      .Column(LayoutInference{LayoutsOfPad});
  registry.Register("nn.mirror_pad")
      .Describe("the input mirrored at its edges")
      .Argument("data", "Tensor", "input")
      .Attrs<MirrorPadAttrs>()
      .Level(2)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(MirrorPad, "MirrorPad");
}

}  // namespace tenon::ops
