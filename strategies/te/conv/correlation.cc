// Correlation of two images: a sum over a patch and all channels.
#include "tenon/ops/conv/correlation_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

std::vector<Tensor> Correlation(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::CorrelationAttrs>();
  const auto padding = ops::FourPaddings(attrs.padding);
  const DataType dtype = SumType(call.dtype());
  const auto padded = [&](std::size_t i) {
    return PadImage(call.input(i), 2, 3, padding, te::Stored{});
  };
  const Tensor a = padded(0), b = padded(1);
  const std::int64_t channels = ExtentOf(a, 1), kernel = attrs.kernel_size;
  const std::int64_t displacements = ops::DisplacementsOf(attrs);
  const IterVar channel = te::ReduceAxis(0, channels, "rc");
  const std::vector<IterVar> taps = TapAxes({kernel, kernel});
  const Tensor sum = te::Compute(
      call.te_shape(),
      [&](const Var& n, const Var& q, const Var& i, const Var& j) {
        // The first patch of all begins where the displacement cannot leave the image.
        const auto row = i * attrs.stride1 + attrs.max_displacement + taps[0].var;
        const auto column = j * attrs.stride1 + attrs.max_displacement + taps[1].var;
        const auto displaced = [&](const Expr& at, const Expr& which) {
          return at + (which - displacements / 2) * attrs.stride2;
        };
        const Expr x = te::Cast(dtype, a(n, channel.var, row, column));
        const Expr y =
            te::Cast(dtype, b(n, channel.var, displaced(row, te::FloorDiv(q, Expr(displacements))),
                              displaced(column, te::FloorMod(q, Expr(displacements)))));
        return te::Sum(attrs.is_multiply ? x * y : te::Abs(x - y), {channel, taps[0], taps[1]});
      },
      "correlation");
  const auto count = static_cast<double>(kernel * kernel * channels);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        return te::Cast(call.dtype(), sum[ToExprs(i)] / loop::FloatImm(dtype, count));
      },
      "correlation_mean")};
}

}  // namespace

void AttachCorrelationComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.correlation").SetColumn(TeCompute{Correlation});
}

}  // namespace tenon::strategies
