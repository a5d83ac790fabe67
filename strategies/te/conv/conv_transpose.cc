// Transposed convolutions: a convolution of all phases (conv_phases.h), whose results a stage puts
// side by side. If hardly any phase has a result, each result picks the taps that reach it instead.
#include <algorithm>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te/conv/blocked_sum.h"
#include "tenon/strategies/te/conv/conv_phases.h"
#include "tenon/strategies/te/conv/conv_sum.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// Throws Unimplemented if the difference of expressions is not a number.
std::int64_t NumberOf(const Expr& difference) {
  const Expr value = loop::Simplify(difference);
  if (const auto* number = value.As<loop::IntImmNode>()) return number->value;
  throw Unimplemented("the margin of the image depends on its extents");
}

bool IsEmpty(const std::vector<Expr>& shape) {
  return std::ranges::any_of(shape, [](const Expr& extent) { return loop::IsConstInt(extent, 0); });
}

Tensor InOrder(const Tensor& x, const std::vector<std::size_t>& at) {
  std::vector<Expr> shape;
  bool same = true;
  for (std::size_t d = 0; d < at.size(); ++d) {
    shape.push_back(x.shape()[at[d]]);
    same = same && at[d] == d;
  }
  if (same) return x;
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from(at.size());
        for (std::size_t d = 0; d < at.size(); ++d) from[at[d]] = i[d];
        return x[from];
      },
      "in_order");
}

// The results of all phases, side by side. If layouts have blocks of channels, filters and channels
// count blocks.
struct Transposed {
  ops::ConvRules rules;
  std::vector<Phases> axes;
  std::int64_t phases = 1;
  ConvSum sums;  // without the image, until it is needed
  // The weight of a filter, with the coordinates within a block.
  std::function<Expr(const Expr& filter, const Expr& channel, const std::vector<Expr>& steps,
                     const std::vector<Expr>& lanes)>
      weight;
};

bool IsEmpty(const TeCall& call) {
  return IsEmpty(call.te_shape()) || IsEmpty(call.input(0).shape()) ||
         IsEmpty(call.input(1).shape());
}

// The distance of results that the phases along spatial axis `d` are made for.
std::int64_t StrideOf(const TeCall& call, const ops::ConvRules& rules, std::size_t d) {
  // An element alone has no neighbours, whatever their distance: phases past its kernel are 0.
  if (!IsOne(call.input(0).shape()[rules.data[d + 2]])) return rules.strides[d];
  const std::int64_t taps = ExtentOf(call.input(1), rules.kernel[d + 2]);
  return std::min(rules.strides[d], ops::WindowSpan(taps, rules.dilation[d]));
}

constexpr const char* kDroppedPhases = "nearly all phases lie in what the padding drops";

// Whether the padding drops nearly all phases. Each would be summed up, and the strides say how
// many they are.
bool HasManyPhases(const TeCall& call, const ops::ConvRules& rules) {
  constexpr double kMax = 64;  // for each one that has a result
  const Sizes shape = call.sizes();
  double unused = 1;
  for (std::size_t d = 0; d < rules.dims; ++d) {
    const std::int64_t results = std::max<std::int64_t>(1, shape[rules.out[d + 2]].planned);
    const auto phases = static_cast<double>(StrideOf(call, rules, d));
    unused *= std::max(1.0, phases / static_cast<double>(results));
  }
  return unused > kMax;
}

// Requires that nothing is empty. Where the call has blocks, `rules` are those of whole axes in the
// default order.
Transposed Describe(const TeCall& call, ops::ConvRules rules) {
  const Tensor& weight = call.input(1);
  const DataType dtype = call.dtype();
  const Sizes shape = call.sizes();
  const std::int64_t inputs = ExtentOf(weight, rules.kernel[1]) / rules.groups;
  const std::int64_t outputs = ExtentOf(weight, rules.kernel[0]);
  std::vector<Phases> axes;
  std::int64_t phases = 1;
  for (std::size_t d = 0; d < rules.dims; ++d) {
    const std::int64_t taps = ExtentOf(weight, rules.kernel[d + 2]);
    rules.strides[d] = StrideOf(call, rules, d);
    axes.push_back(PhasesOf(rules, d, taps, shape[rules.out[d + 2]]));
    phases *= axes.back().stride;
  }
  ConvSum sums{.data = {0, 1},
               .out = {0, 1},
               .strides = ops::Ints(rules.dims, 1),
               .dilation = ops::Ints(rules.dims, 1),
               .groups = rules.groups,
               .group_inputs = inputs,
               .group_outputs = outputs * phases,
               .taps = {},
               .image = {},
               .weight = {},
               .weight_is_constant = call.IsConstant(1),
               .is_stored = true,
               .dtype = dtype,
               .shape = {shape[rules.out[0]], shape[rules.out[1]].expr * phases},
               .target = call.target};
  for (std::size_t d = 0; d < rules.dims; ++d) {
    sums.data.push_back(d + 2);
    sums.out.push_back(d + 2);
    sums.taps.push_back(axes[d].steps);
    sums.shape.push_back(axes[d].count);
  }
  const auto weight_of = [=](const Expr& filter, const Expr& channel,
                             const std::vector<Expr>& steps, const std::vector<Expr>& lanes) {
    const Expr output = te::FloorDiv(filter, phases);
    const Expr input =
        rules.groups == 1 ? channel : te::FloorDiv(output, outputs) * inputs + channel;
    return PhaseWeight(axes, {input, te::FloorMod(output, outputs)}, te::FloorMod(filter, phases),
                       steps, rules.kernel, weight, dtype, lanes);
  };
  sums.weight = [=](const Expr& filter, const Expr& channel, const std::vector<Expr>& steps) {
    return weight_of(filter, channel, steps, {});
  };
  return {
      .rules = rules, .axes = axes, .phases = phases, .sums = std::move(sums), .weight = weight_of};
}

Tensor ImageOf(const TeCall& call, const Transposed& t, const te::Label& label = {}) {
  const Tensor x = InOrder(call.input(0), t.rules.data);
  std::vector<std::size_t> spatial;
  ops::Ints before, after;
  for (std::size_t d = 0; d < t.axes.size(); ++d) {
    const Phases& p = t.axes[d];
    spatial.push_back(d + 2);
    before.push_back(p.steps - 1 - p.first);
    after.push_back(NumberOf(p.count.expr + p.first - x.shape()[d + 2]));
  }
  return PadImage(x, spatial, before, after, label);
}

// The phases' sums, put in the order of the result.
Tensor SideBySide(const TeCall& call, const Transposed& t, const Tensor& sums,
                  const std::string& name) {
  return te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        Expr phase = 0;
        std::vector<Expr> at = {i[t.rules.out[0]], 0};
        for (std::size_t d = 0; d < t.axes.size(); ++d) {
          const Phases& p = t.axes[d];
          const Expr place = i[t.rules.out[d + 2]] + (p.dropped - p.first * p.stride);
          phase = phase * p.stride + te::FloorMod(place, p.stride);
          at.push_back(te::FloorDiv(place, p.stride));
        }
        at[1] = i[t.rules.out[1]] * t.phases + phase;
        at.insert(at.end(), i.begin() + static_cast<std::ptrdiff_t>(at.size()), i.end());
        return sums[at];
      },
      name);
}

// The phases' sums over blocks of channels.
Tensor BlockedPhases(const TeCall& call, const Transposed& t, const std::string& name) {
  const Tensor& weight = call.input(1);
  const std::size_t lane = t.rules.dims + 2;
  Shape shape = {t.sums.group_outputs * t.rules.groups, t.sums.group_inputs};
  shape.insert(shape.end(), t.sums.taps.begin(), t.sums.taps.end());
  shape.insert(shape.end(), {ExtentOf(weight, lane), ExtentOf(weight, lane + 1)});
  const Tensor packed = call.Prepared(te::Compute(
      ToExprs(shape),
      [&](const std::vector<Var>& i) {
        const auto begin = i.begin() + 2, end = i.begin() + static_cast<std::ptrdiff_t>(lane);
        return t.weight(i[0], i[1], std::vector<Expr>(begin, end), std::vector<Expr>(end, i.end()));
      },
      "weights", te::Stored{}));
  Shape result;
  for (const Size& size : t.sums.shape) result.push_back(size.planned);
  result.push_back(shape.back());
  return SumOfBlocks({.strides = t.sums.strides,
                      .dilation = t.sums.dilation,
                      .groups = t.rules.groups,
                      .image = ImageOf(call, t, te::Stored{}),
                      .weight = packed,
                      .dtype = t.sums.dtype,
                      .shape = result,
                      .target = call.target},
                     name, te::Stored{});
}

// Each result as the sum over the taps that reach it.
Tensor PickedTaps(const TeCall& call, const ops::ConvRules& rules, const std::string& name) {
  const Tensor &x = call.input(0), &weight = call.input(1);
  const std::int64_t inputs = ExtentOf(weight, rules.kernel[1]) / rules.groups;
  const std::int64_t outputs = ExtentOf(weight, rules.kernel[0]);
  const DataType dtype = call.dtype();
  Shape extents;
  for (std::size_t d = 0; d < rules.dims; ++d)
    extents.push_back(ExtentOf(weight, rules.kernel[d + 2]));
  const IterVar rc = te::ReduceAxis(0, inputs, "rc");
  const std::vector<IterVar> taps = TapAxes(extents);
  std::vector<IterVar> axes = {rc};
  axes.insert(axes.end(), taps.begin(), taps.end());
  return te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const Expr filter = i[rules.out[1]];
        const Expr channel = te::FloorDiv(filter, outputs) * inputs + rc.var;
        std::vector<Expr> from(rules.data.size()), at(rules.kernel.size());
        from[rules.data[0]] = i[rules.out[0]];
        from[rules.data[1]] = at[rules.kernel[1]] = channel;
        at[rules.kernel[0]] = te::FloorMod(filter, outputs);
        Expr reaches = loop::True();
        for (std::size_t d = 0; d < rules.dims; ++d) {
          const Expr way = i[rules.out[d + 2]] + rules.before[d] - taps[d].var * rules.dilation[d];
          const Expr element = te::FloorDiv(way, rules.strides[d]);
          reaches = reaches && te::FloorMod(way, rules.strides[d]) == Expr(0) &&
                    element >= Expr(0) && element < x.shape()[rules.data[d + 2]];
          from[rules.data[d + 2]] = element;
          at[rules.kernel[d + 2]] = taps[d].var;
        }
        const Expr product = te::Cast(dtype, x[from]) * te::Cast(dtype, weight[at]);
        return te::Sum(te::IfThenElse(reaches, product, te::Cast(dtype, 0)), axes);
      },
      name, te::Label(name, te::ReadsRepeatedly{}));
}

template <typename AttrsType>
bool HasBlocks(const TeCall& call) {
  return ops::HasBlocks(call.attrs.As<AttrsType>());
}

template <typename AttrsType>
TeForm FormOfBlocks(const std::string& name) {
  return {.name = StrCat(name, ".", AttrsType{}.data_layout, "c"),
          .refusal = [](const TeCall& call) -> std::optional<std::string> {
            const auto& attrs = call.attrs.As<AttrsType>();
            if (auto refusal = RefuseBlockLayouts(attrs)) return refusal;
            if (HasManyPhases(call, ops::ConvRulesOf(OfWholeAxes(attrs)))) return kDroppedPhases;
            return RefuseBlockedSum(call, attrs.groups, call.shape()[1],
                                    ExtentOf(call.input(1), 0));
          },
          .make = [=](const TeCall& call) -> std::vector<Tensor> {
            const Transposed t =
                Describe(call, ops::ConvRulesOf(OfWholeAxes(call.attrs.As<AttrsType>())));
            return {SideBySide(call, t, BlockedPhases(call, t, name), name)};
          }};
}

using MakeSum = Tensor (*)(const ConvSum& conv, const TeCall& call, const std::string& name);

// The same rows as those of other convolutions over any number of axes (conv_nd.cc).
template <typename AttrsType>
TeCompute FormsOf(const std::string& name) {
  const auto rules_of = [](const TeCall& call) {
    return ops::ConvRulesOf(call.attrs.As<AttrsType>());
  };
  const auto describe = [=](const TeCall& call) { return Describe(call, rules_of(call)); };
  const auto make_by = [=](MakeSum sum) -> TeMake {
    return [=](const TeCall& call) -> std::vector<Tensor> {
      if (IsEmpty(call)) return {Zeros(call)};
      if (HasManyPhases(call, rules_of(call))) return {PickedTaps(call, rules_of(call), name)};
      Transposed transposed = describe(call);
      transposed.sums.image = ImageOf(call, transposed);
      return {SideBySide(call, transposed, sum(transposed.sums, call, name), name)};
    };
  };
  TeForm tiled{.name = StrCat(name, ".tiled"),
               .refusal = [=](const TeCall& call) -> std::optional<std::string> {
                 if (HasBlocks<AttrsType>(call)) return kHasBlocks;
                 if (IsEmpty(call)) return "there is nothing to sum";
                 if (HasManyPhases(call, rules_of(call))) return kDroppedPhases;
                 return RefuseTiledSum(describe(call).sums);
               },
               .make = make_by(TiledSum),
               .cycles = [=](const TeCall& call) { return TiledSumCycles(describe(call).sums); }};
  const TeMake make_plain = make_by(PlainSum);
  TeForm plain{.name = StrCat(name, ".plain"), .refusal = nullptr, .make = [=](const TeCall& call) {
                 return HasBlocks<AttrsType>(call) ? OverWholeAxes<AttrsType>(call, make_plain)
                                                   : make_plain(call);
               }};
  return {.make = nullptr,
          .forms = {std::move(tiled), FormOfBlocks<AttrsType>(name), std::move(plain)}};
}

}  // namespace

void AttachConvTransposeComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.conv1d_transpose")
      .SetColumn(FormsOf<ops::Conv1DTransposeAttrs>("conv1d_transpose"));
  registry.Definition("nn.conv2d_transpose")
      .SetColumn(FormsOf<ops::Conv2DTransposeAttrs>("conv2d_transpose"));
  registry.Definition("nn.conv3d_transpose")
      .SetColumn(FormsOf<ops::Conv3DTransposeAttrs>("conv3d_transpose"));
}

}  // namespace tenon::strategies
