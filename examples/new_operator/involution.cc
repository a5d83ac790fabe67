// Step 7: registration and the builder. As a shared object, the files of this folder are a plug-in.
#include "involution.h"

namespace involution {

namespace ir = tenon::ir;

ir::Expr Involution(const ir::Expr& data, const ir::Expr& kernels, Attrs attrs) {
  return tenon::ops::CallOp(kName, {data, kernels}, tenon::attrs::Attrs::Make(std::move(attrs)));
}

namespace {

TENON_REGISTER_OP(kName)
    .Describe("sums of windows with a kernel for each place of the image")
    .Attrs<Attrs>()
    .Argument("data", "Tensor", "images")
    .Argument("kernels", "Tensor", "a kernel for each place and group of channels")
    .Level(10)
    .TypeRelation(Types, "Involution")
    .Pattern(tenon::ops::OpPattern::kOutEWiseFusable)
    .Layout(Layouts)
    .Compute(Compute)
    .Schedule(ScheduleRows)
    .Form({.name = "involution.channels_last",
           .refusal = RefuseUnlessChannelsLast,
           .make = Compute,
           .priority = 1,
           .schedule = ScheduleChannels})
    .Form({.name = "involution.one_tap",
           .refusal = RefuseUnlessOneTap,
           .make = ComputeByOneTap,
           .priority = 2});

[[maybe_unused]] const bool imported =
    tenon::RegisterOnnxConverter(kOnnxDomain, kOnnxType, FromOnnx);
[[maybe_unused]] const bool exported = tenon::RegisterOnnxExporter(kName, ToOnnx);

}  // namespace
}  // namespace involution
