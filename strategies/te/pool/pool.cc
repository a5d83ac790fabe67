// Pooling into bins and over whole images, and dilation. Windows: windows.cc.
#include "tenon/strategies/te/pool/pool.h"

#include "tenon/ops/conv/dilation_rules.h"
#include "tenon/ops/pool/pool_rules.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// The elements of a spatial axis that the bins of the result cover.
struct Bins {
  std::size_t axis;
  std::int64_t extent, count;

  Bins(const TeCall& call, std::size_t at)
      : axis(at), extent(ExtentOf(call.input(0), at)), count(call.shape()[at]) {}

  bool IsUniform() const { return count == 0 || extent % count == 0; }
  // An upper bound on the elements of the longest bin.
  std::int64_t Longest() const {
    if (count == 0) return 0;
    return IsUniform() ? extent / count : std::min(extent, extent / count + 2);
  }
  Expr Begin(const std::vector<Var>& i) const {
    return IsUniform() ? i[axis] * Longest() : te::FloorDiv(i[axis] * extent, Expr(count));
  }
  Expr Length(const std::vector<Var>& i) const {
    if (IsUniform()) return Expr(Longest());
    return te::FloorDiv((i[axis] + 1) * extent + (count - 1), Expr(count)) - Begin(i);
  }
};

std::vector<Bins> BinsOf(const TeCall& call, const std::vector<std::size_t>& at) {
  std::vector<Bins> bins;
  for (const std::size_t axis : at) bins.emplace_back(call, axis);
  return bins;
}

// Bins are reduced as if all were as long as the longest one; `outside` stands for what is beyond.
Tensor OverBins(const TeCall& call, const Tensor& x, const std::vector<Bins>& bins,
                const Expr& outside, Reducer reducer, const std::string& name) {
  ops::Ints longest;
  for (const Bins& b : bins) longest.push_back(b.Longest());
  const std::vector<IterVar> taps = TapAxes(longest);
  return te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        Expr inside = loop::True();
        bool is_uniform = true;
        for (std::size_t d = 0; d < bins.size(); ++d) {
          const Bins& b = bins[d];
          from[b.axis] = b.Begin(i) + taps[d].var;
          if (b.IsUniform()) continue;
          is_uniform = false;
          inside = inside && taps[d].var < b.Length(i);
          from[b.axis] = te::Min(from[b.axis], Expr(b.extent - 1));
        }
        return reducer(is_uniform ? x[from] : te::Select(inside, x[from], outside), taps);
      },
      name, te::Label("pool", te::ReadsRepeatedly{}));
}

template <typename AttrsType>
std::vector<Tensor> AdaptiveMaxPool(const TeCall& call) {
  constexpr std::size_t kDims = AttrsType::kSpatialAxes;
  const auto at = ops::PooledAxes(call.attrs.As<AttrsType>().layout, kDims);
  return {OverBins(call, call.input(0), BinsOf(call, at), LowestOf(call.dtype()), te::Max,
                   StrCat("adaptive_max_pool", kDims, "d"))};
}

template <typename AttrsType>
std::vector<Tensor> AdaptiveAvgPool(const TeCall& call) {
  constexpr std::size_t kDims = AttrsType::kSpatialAxes;
  const auto bins = BinsOf(call, ops::PooledAxes(call.attrs.As<AttrsType>().layout, kDims));
  const std::string name = StrCat("adaptive_avg_pool", kDims, "d");
  Shape longest;
  for (const Bins& b : bins) longest.push_back(b.Longest());
  const Tensor x = ForMeans(call.input(0), NumElements(longest));
  const Tensor sum = OverBins(call, x, bins, te::Cast(x.dtype(), 0), te::Sum, StrCat(name, "_sum"));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        Expr count = 1;
        for (const Bins& b : bins) count = count * b.Length(i);
        return te::Cast(call.dtype(), sum[ToExprs(i)] / te::Cast(sum.dtype(), count));
      },
      name)};
}

// An image is one row of pixels, which lie together in most layouts.
Tensor OverImage(const TeCall& call, const Tensor& x, Reducer reducer, const char* name) {
  const auto at = ops::PooledAxes(call.attrs.As<ops::GlobalPool2DAttrs>().layout, 2);
  std::vector<Expr> image;
  for (const std::size_t axis : at) image.push_back(x.shape()[axis]);
  const IterVar pixel = te::ReduceAxis(0, ProductOf(image), "pixel");
  return te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        const std::vector<Expr> place = Unflatten(pixel.var, image);
        for (std::size_t d = 0; d < at.size(); ++d) from[at[d]] = place[d];
        return reducer(x[from], {pixel});
      },
      name, te::Label("pool", te::ReadsRepeatedly{}));
}

std::vector<Tensor> GlobalAvgPool2D(const TeCall& call) {
  std::vector<Expr> image;
  for (const std::size_t axis : ops::PooledAxes(call.attrs.As<ops::GlobalPool2DAttrs>().layout, 2))
    image.push_back(call.input(0).shape()[axis]);
  const Expr count = ProductOf(image);
  const auto* number = count.As<loop::IntImmNode>();
  const Tensor x = ForMeans(call.input(0), number == nullptr ? INT64_MAX : number->value);
  const Expr divisor = number == nullptr ? loop::Cast(x.dtype(), count)
                                         : te::Cast(x.dtype(), static_cast<double>(number->value));
  const Tensor sum = OverImage(call, x, te::Sum, "global_pool_sum");
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) { return te::Cast(call.dtype(), sum[ToExprs(i)] / divisor); },
      "global_avg_pool2d")};
}

std::vector<Tensor> Dilation2D(const TeCall& call) {
  const ops::DilationRules rules = ops::DilationRulesOf(call.attrs.As<ops::Dilation2DAttrs>());
  const Tensor& weight = call.input(1);
  const std::vector<std::size_t> at = {rules.data[2], rules.data[3]};
  const auto& p = rules.padding;
  const Tensor image =
      PadImage(call.input(0), at, {p[0], p[1]}, {p[2], p[3]}, LowestOf(weight.dtype()));
  const std::vector<IterVar> taps =
      TapAxes({ExtentOf(weight, rules.kernel[1]), ExtentOf(weight, rules.kernel[2])});
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i), tap(3);
        tap[rules.kernel[0]] = i[rules.data[1]];
        Expr inside = loop::True();
        for (std::size_t d = 0; d < 2; ++d) {
          from[at[d]] = i[at[d]] * rules.strides[d] + taps[d].var * rules.dilations[d];
          tap[rules.kernel[d + 1]] = taps[d].var;
          // The lowest value must stay the lowest when a weight is added to it, which integers do
          // not guarantee.
          if (p[d] + p[d + 2] > 0 && !weight.dtype().is_float())
            inside = inside && from[at[d]] >= Expr(p[d]) &&
                     from[at[d]] < Expr(p[d] + ExtentOf(call.input(0), at[d]));
        }
        const Expr sum = te::Select(inside, image[from] + weight[tap], LowestOf(weight.dtype()));
        return te::Max(te::Cast(call.dtype(), sum), taps);
      },
      "dilation2d", te::Label("pool", te::ReadsRepeatedly{}))};
}

template <std::size_t kDims>
void AttachBins(ops::OpRegistry& registry) {
  using AttrsType = ops::AdaptivePoolAttrs<kDims>;
  registry.Definition(StrCat("nn.adaptive_max_pool", kDims, "d"))
      .SetColumn(TeCompute{AdaptiveMaxPool<AttrsType>});
  registry.Definition(StrCat("nn.adaptive_avg_pool", kDims, "d"))
      .SetColumn(TeCompute{AdaptiveAvgPool<AttrsType>});
}

}  // namespace

void AttachPoolComputes(ops::OpRegistry& registry) {
  AttachWindowPools(registry);
  registry.Definition("image.dilation2d").SetColumn(TeCompute{Dilation2D});
  AttachBins<1>(registry);
  AttachBins<2>(registry);
  AttachBins<3>(registry);
  registry.Definition("nn.global_avg_pool2d").SetColumn(TeCompute{GlobalAvgPool2D});
  registry.Definition("nn.global_max_pool2d").SetColumn(TeCompute{[](const TeCall& call) {
    return std::vector<Tensor>{OverImage(call, call.input(0), te::Max, "global_max_pool2d")};
  }});
}

}  // namespace tenon::strategies
