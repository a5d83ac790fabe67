// nn.conv2d as a direct sum over input channels and kernel taps, for any order of the axes. The
// padded image is a stage of its own, so that the sum reads without conditions.
#include "tenon/strategies/te/conv/conv.h"

#include <cctype>

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te/conv/blocked_sum.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {

using te::Expr;
using te::IterVar;
using te::Tensor;

namespace {

Expr Element(const Tensor& tensor, const std::vector<std::size_t>& positions,
             const std::array<Expr, 4>& coordinates, DataType dtype) {
  std::vector<Expr> at(4);
  for (std::size_t d = 0; d < 4; ++d) at[positions[d]] = coordinates[d];
  return te::Cast(dtype, tensor[at]);
}

// The convolution in its general form.
ConvSum SumOf(const Conv& conv, const TeCall& call) {
  return {.data = conv.data,
          .out = conv.out,
          .strides = {conv.strides.begin(), conv.strides.end()},
          .dilation = {conv.dilation.begin(), conv.dilation.end()},
          .groups = conv.groups,
          .group_inputs = conv.group_inputs,
          .group_outputs = conv.group_outputs,
          .taps = {conv.taps.begin(), conv.taps.end()},
          .image = conv.image,
          .weight =
              [&conv](const Expr& filter, const Expr& channel, const std::vector<Expr>& taps) {
                return conv.Weight(filter, channel, taps[0], taps[1]);
              },
          .weight_is_constant = call.IsConstant(1),
          .dtype = conv.dtype,
          .shape = call.sizes(),
          .target = call.target};
}

// All fields except the image.
Conv Describe(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const std::string& out_layout = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  const auto kernel = ops::LayoutPositions(attrs.kernel_layout, "OIHW", "kernel_layout");
  const Tensor& weight = call.input(1);
  return {.name = ConvName(attrs),
          .data = ops::LayoutPositions(attrs.data_layout, "NCHW", "data_layout"),
          .kernel = kernel,
          .out = ops::LayoutPositions(out_layout, "NCHW", "out_layout"),
          .strides = ops::Pair(attrs.strides, "strides"),
          .dilation = ops::Pair(attrs.dilation, "dilation"),
          .padding = ops::FourPaddings(attrs.padding),
          .groups = attrs.groups,
          .group_inputs = ExtentOf(weight, kernel[1]),
          .group_outputs = ExtentOf(weight, kernel[0]) / attrs.groups,
          .taps = {ExtentOf(weight, kernel[2]), ExtentOf(weight, kernel[3])},
          .image = {},
          .weight = weight,
          .dtype = call.dtype(),
          .target = call.target};
}

Conv ConvOf(const TeCall& call) {
  Conv conv = Describe(call);
  conv.image = PadImage(call.input(0), conv.data[2], conv.data[3], conv.padding);
  return conv;
}

// The inputs, with an image of halves widened to float32 if that is the type of the sum. What reads
// the image tap by tap then finds a copy, maybe the padded one.
std::vector<Tensor> WithWideImage(const Conv& conv, const TeCall& call) {
  const Tensor& x = call.input(0);
  if (SumType(x.dtype()) != call.dtype() || x.dtype() == call.dtype()) return call.inputs;
  const bool is_read_by_taps = !conv.IsPadded() && conv.group_inputs > 1;
  return {AsType(x, call.dtype(), is_read_by_taps ? te::Stored{} : te::Label()), call.input(1)};
}

Tensor WordConv(const Conv& conv, const TeCall& call) {
  return TiledSum(InWords(conv, SumOf(conv, call), call), call, conv.name);
}

// The sum in tiles that leave out taps.
ConvSum SkippingSumOf(const Conv& conv, const TeCall& call) {
  const auto& [top, left, bottom, right] = conv.padding;
  return Skipping(SumOf(conv, call), call.input(0), {top, left}, {bottom, right});
}

Refusal RefuseTiledConv(const Conv& conv, const TeCall& call) {
  return RefuseTiledSum(SumOf(conv, call));
}
Refusal RefuseSkippingConv(const Conv& conv, const TeCall& call) {
  return RefuseSkippingSum(SkippingSumOf(conv, call));
}
template <ConvSum (*Sum)(const Conv&, const TeCall&)>
double TiledCycles(const Conv& conv, const TeCall& call) {
  return TiledSumCycles(Sum(conv, call));
}
template <ConvSum (*Sum)(const Conv&, const TeCall&)>
Tensor TiledConv(const Conv& conv, const TeCall& call) {
  return TiledSum(Sum(conv, call), call, conv.name);
}
Tensor PlainConv(const Conv& conv, const TeCall& call) {
  return PlainSum(SumOf(conv, call), call, conv.name);
}

struct Row {
  const char* name;
  Refusal (*refusal)(const Conv& conv, const TeCall& call);
  Tensor (*make)(const Conv& conv, const TeCall& call);
  bool of_wide_image = false;
  double (*cycles)(const Conv& conv, const TeCall& call) = nullptr;
  bool rounds_differently = false;
};

// The conditions of forms without estimates say where they are faster than those after them.
// Nobody can estimate yet what leaves registers through shuffles or reads under masks.
constexpr Row kRows[] = {
    {"words", RefuseWords, WordConv},
    {"depthwise_dot", RefuseDepthwiseDot, DepthwiseDotConv},
    {"depthwise_covering", RefuseCovering, CoveringConv},
    {"depthwise_small_image", RefuseSmallImage, SmallImageConv},
    {"depthwise_tall", RefuseTall, TallConv},
    {"depthwise_padded", RefusePadded, PaddedConv},
    {"depthwise_flat", RefuseFlat, FlatConv},
    {"depthwise_channels_last", RefuseDepthwiseChannelsLast, DepthwiseChannelsLast},
    {"winograd", RefuseWinograd, WinogradConv, true, WinogradCycles, true},
    {"row_tiled", RefuseRowTiled, RowTiledConv, true},
    {"skipping", RefuseSkippingConv, TiledConv<SkippingSumOf>, true, TiledCycles<SkippingSumOf>,
     true},
    {"tiled", RefuseTiledConv, TiledConv<SumOf>, true, TiledCycles<SumOf>},
    {"plain", nullptr, PlainConv, true},
};

std::vector<Tensor> PlainOfWideImage(const TeCall& call) {
  const std::vector<Tensor> inputs = WithWideImage(Describe(call), call);
  const TeCall wide{call.attrs,   inputs, call.result, call.target,     call.preparer,
                    call.symbols, {},     call.config, call.keeps_order};
  return {PlainConv(ConvOf(wide), wide)};
}

TeForm FormOfBlocks() {
  return {.name = "conv2d.NCHWc", .refusal = RefuseBlocks, .make = [](const TeCall& call) {
            return BlockedConv2D(call, IsBlockedDepthwise(call));
          }};
}

bool HasBlocks(const TeCall& call) { return ops::HasBlocks(call.attrs.As<ops::Conv2DAttrs>()); }

std::vector<Tensor> MakeRow(const Row& row, const TeCall& call) {
  if (HasBlocks(call)) return OverWholeAxes<ops::Conv2DAttrs>(call, PlainOfWideImage);
  if (!row.of_wide_image) return {row.make(ConvOf(call), call)};
  const std::vector<Tensor> inputs = WithWideImage(Describe(call), call);
  const TeCall wide{call.attrs,   inputs, call.result, call.target,     call.preparer,
                    call.symbols, {},     call.config, call.keeps_order};
  return {row.make(ConvOf(wide), wide)};
}

TeForm FormOf(const Row& row) {
  TeForm form{.name = StrCat("conv2d.", row.name),
              .refusal = nullptr,
              .make = [&row](const TeCall& call) { return MakeRow(row, call); },
              .rounds_differently = row.rounds_differently};
  if (row.refusal != nullptr)
    form.refusal = [&row](const TeCall& call) -> Refusal {
      if (HasBlocks(call)) return kHasBlocks;
      return row.refusal(Describe(call), call);
    };
  if (row.cycles != nullptr)
    form.cycles = [&row](const TeCall& call) { return row.cycles(Describe(call), call); };
  return form;
}

}  // namespace

std::string ConvName(const ops::Conv2DAttrs& attrs) {
  std::string layout = attrs.data_layout;
  for (char& c : layout) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return StrCat(attrs.groups > 1 ? "group_" : "", "conv2d_", layout);
}

bool Conv::IsNchw() const {
  const std::vector<std::size_t> nchw = {0, 1, 2, 3};
  return data == nchw && out == nchw;
}

bool Conv::IsPadded() const { return padding != std::array<std::int64_t, 4>{}; }

std::optional<std::string> Conv::RefuseLanes(const Sizes& shape) const {
  if (dtype.bytes() != 4) return StrCat("sums of ", dtype.ToString(), " are not 32 bits wide");
  if (ElementsOf(shape).planned == 0) return "the result has no elements";
  return std::nullopt;
}

Expr Conv::Pixel(const Expr& n, const Expr& channel, const Expr& y, const Expr& x) const {
  return Element(image, data, {n, channel, y, x}, dtype);
}

Expr Conv::Weight(const Expr& filter, const Expr& channel, const Expr& y, const Expr& x) const {
  return Element(weight, kernel, {filter, channel, y, x}, dtype);
}

std::vector<IterVar> Conv::ReduceAxes() const {
  return {te::ReduceAxis(0, group_inputs, "rc"), te::ReduceAxis(0, taps[0], "ry"),
          te::ReduceAxis(0, taps[1], "rx")};
}

TapAxesOfTile TapsByColumn(const Conv& conv, const TeCall& call) {
  const IterVar row = te::ReduceAxis(0, conv.taps[0], "ry");
  const IterVar column = te::ReduceAxis(0, conv.taps[1], "rx");
  return {row, column, call.keeps_order ? std::vector{row, column} : std::vector{column, row}};
}

Expr PaddedPixel(const Conv& conv, const Tensor& x, const Expr& n, const Expr& channel,
                 const Expr& row, const Expr& column) {
  return ReadPadded(x, {n, channel, row - conv.padding[0], column - conv.padding[1]}, {2, 3},
                    te::Cast(x.dtype(), 0));
}

void AttachConvComputes(ops::OpRegistry& registry) {
  std::vector<TeForm> forms;
  for (const Row& row : kRows) forms.push_back(FormOf(row));
  forms.insert(forms.end() - 1, FormOfBlocks());
  registry.Definition(ops::OpOf(ops::Known().conv2d)->name)
      .SetColumn(TeCompute{.make = nullptr, .forms = std::move(forms)});
}

}  // namespace tenon::strategies
