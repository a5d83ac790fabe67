// Correlation of two images (Dosovitskiy et al., "FlowNet", ICCV 2015, section 3).
#include "tenon/ops/builtin.h"
#include "tenon/ops/conv/correlation_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

// With a larger value, extents and offsets could exceed 64 bits.
constexpr std::int64_t kMaxReach = std::int64_t{1} << 20;

void Correlation(TypeCall& call) {
  const auto* a = call.tensor(0);
  const auto* b = call.tensor(1);
  if (a == nullptr || b == nullptr) return;
  const auto& attrs = call.attrs<CorrelationAttrs>();
  if (a->shape.size() != 4 || b->shape.size() != 4) call.Refuse("both images must have rank 4");
  if (!a->dtype.is_float() || b->dtype != a->dtype)
    call.Refuse(StrCat("both images must be of one floating type, not ", a->dtype.ToString(),
                       " and ", b->dtype.ToString()));
  if (call.Differ(a->shape, b->shape)) call.Refuse("both images must have one shape");
  if (attrs.kernel_size % 2 == 0)
    call.Refuse(StrCat("kernel_size is ", attrs.kernel_size, "; it must be odd"));
  if (attrs.kernel_size > kMaxReach || attrs.max_displacement > kMaxReach)
    call.Refuse(StrCat("kernel_size and max_displacement may be ", kMaxReach, " at most"));
  const auto padding = FourPaddings(attrs.padding);
  const std::int64_t border = attrs.max_displacement + attrs.kernel_size / 2;
  const auto places = [&](const Dim& extent, std::size_t side) {
    const Dim padded = PaddedExtent(extent, padding[side], padding[side + 2]);
    if (call.Exceeds(2 * border + 1, padded))
      call.Refuse(StrCat("patches reach over ", 2 * border + 1,
                         " elements and the padded image "
                         "has ",
                         padded.ToString()));
    // For expressions it is not known.
    return extent.is_static() ? FloorDiv(padded - 2 * border - 1, attrs.stride1) + 1 : Dim();
  };
  const std::int64_t displacements = DisplacementsOf(attrs);
  call.LearnResult(ir::TensorType({a->shape[0], Dim(displacements * displacements),
                                   places(a->shape[2], 0), places(a->shape[3], 1)},
                                  a->dtype));
}

}  // namespace

void RegisterCorrelationOps(OpRegistry& registry) {
  registry.Register("nn.correlation")
      .Describe(
          "how similar patches of two images are: for each patch of the first and each "
          "displacement, row by row from the upper left one, the mean over the patch and all "
          "channels")
      .Argument("data1", "Tensor", "images, NCHW")
      .Argument("data2", "Tensor", "second images, which are compared within the displacement")
      .Attrs<CorrelationAttrs>()
      .Level(2)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(Correlation, "Correlation");
}

}  // namespace tenon::ops
