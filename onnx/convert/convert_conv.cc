// Convolutions and transposed convolutions over one to three spatial axes.
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/window.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// The spatial extents of the weight, which kernel_shape must agree with.
Ints KernelOf(Node& node, const Shape& weight) {
  if (weight.size() < 3)
    throw InvalidArgument(StrCat("the weight has rank ", weight.size(), "; it needs at least 3"));
  const Ints kernel(weight.begin() + 2, weight.end());
  if (node.IntsOr("kernel_shape", kernel) != kernel)
    throw InvalidArgument("kernel_shape is not the shape of the weight");
  return kernel;
}

std::int64_t GroupsOf(Node& node) {
  const std::int64_t groups = node.Int("group", 1);
  if (groups < 1) throw InvalidArgument(StrCat("group is ", groups, "; it must be at least 1"));
  return groups;
}

template <typename AttrsType>
AttrsType Attributes(const Window& w, std::int64_t groups, std::int64_t channels) {
  AttrsType attrs;
  attrs.strides = w.strides;
  attrs.padding = w.pads();
  attrs.dilation = w.dilations;
  attrs.groups = groups;
  attrs.channels = channels;
  attrs.kernel_size = w.kernel;
  return attrs;
}

std::vector<Expr> WithBias(Node& node, Expr y) {
  if (node.has_input(2)) y = ops::BiasAdd(y, node.input(2));
  return {node.Typed(y)};
}

std::vector<Expr> Conv(Node& node) {
  Expr x = node.input(0);
  const Expr& weight = node.input(1);
  const Shape shape = ShapeOf(weight);
  const Window w = ReadWindow(node, KernelOf(node, shape), 0, &x);
  const std::int64_t groups = GroupsOf(node);
  switch (w.kernel.size()) {
    case 1:
      return WithBias(node,
                      ops::Conv1D(x, weight, Attributes<ops::Conv1DAttrs>(w, groups, shape[0])));
    case 2:
      return WithBias(node,
                      ops::Conv2D(x, weight, Attributes<ops::Conv2DAttrs>(w, groups, shape[0])));
    default:
      return WithBias(node,
                      ops::Conv3D(x, weight, Attributes<ops::Conv3DAttrs>(w, groups, shape[0])));
  }
}

// Sets padding and output_padding so that the result has `total` elements less than all that the
// windows reach: what is too much is dropped on both sides, what is missing is added at the end.
void Drop(std::int64_t total, std::size_t axis, Window* w, Ints* output_padding) {
  std::int64_t& added = (*output_padding)[axis];
  if (total < 0 && __builtin_sub_overflow(added, total, &added))
    throw InvalidArgument(StrCat("the result's extent along axis ", axis + 2, " is too much"));
  const std::int64_t dropped = std::max<std::int64_t>(0, total);
  w->before[axis] = BeforeOf(*w, dropped);
  w->after[axis] = dropped - w->before[axis];
}

// So that the result has the wanted extents.
void FitTo(const Ints& wanted, const Shape& data, Window* w, Ints* output_padding) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int64_t full =
        ops::PaddedExtent(ops::WindowSpan(data[i + 2], w->strides[i]),
                          ops::WindowSpan(w->kernel[i], w->dilations[i]) - 1, (*output_padding)[i]);
    if (wanted[i] < 1) throw InvalidArgument(StrCat("output_shape has the extent ", wanted[i]));
    Drop(full - wanted[i], i, w, output_padding);
  }
}

// So that the result has as many elements as the data, times the stride: n elements reach
// (n - 1) * stride + span + output_padding.
void FitToStrides(Window* w, Ints* output_padding) {
  for (std::size_t i = 0; i < w->kernel.size(); ++i)
    Drop(ops::PaddedExtent(ops::WindowSpan(w->kernel[i], w->dilations[i]), (*output_padding)[i],
                           -w->strides[i]),
         i, w, output_padding);
}

template <typename AttrsType>
AttrsType TransposedAttributes(const Window& w, std::int64_t groups, std::int64_t channels,
                               const Ints& output_padding) {
  AttrsType attrs = Attributes<AttrsType>(w, groups, channels);
  attrs.output_padding = output_padding;
  return attrs;
}

std::vector<Expr> ConvTranspose(Node& node) {
  const Expr& x = node.input(0);
  const Expr& weight = node.input(1);
  const Shape shape = ShapeOf(weight);
  const std::vector<Dim> data = DimsOf(x);
  Window w = ReadAttributes(node, data, KernelOf(node, shape));
  const std::size_t dims = w.kernel.size();
  Ints output_padding = node.IntsOr("output_padding", Ints(dims, 0));
  if (output_padding.size() != dims)
    throw InvalidArgument(StrCat("output_padding takes ", dims, " values"));
  for (const std::int64_t extent : output_padding) {
    if (extent < 0)
      throw InvalidArgument(StrCat("output_padding has ", extent, "; it must be at least 0"));
  }
  if (const auto wanted = node.OptionalInts("output_shape"); wanted && !wanted->empty()) {
    // Some models give the batch and the channels, too.
    if (wanted->size() != dims && wanted->size() != dims + 2)
      throw InvalidArgument(StrCat("output_shape takes ", dims, " values"));
    FitTo({wanted->end() - static_cast<std::ptrdiff_t>(dims), wanted->end()}, ShapeOf(x), &w,
          &output_padding);
  } else if (w.automatic == "SAME_UPPER" || w.automatic == "SAME_LOWER") {
    FitToStrides(&w, &output_padding);
  }
  const std::int64_t groups = GroupsOf(node);
  std::int64_t channels = 0;
  if (__builtin_mul_overflow(shape[1], groups, &channels))
    throw InvalidArgument("the number of output channels does not fit 64 bits");
  switch (dims) {
    case 1:
      return WithBias(node, ops::Conv1DTranspose(x, weight,
                                                 TransposedAttributes<ops::Conv1DTransposeAttrs>(
                                                     w, groups, channels, output_padding)));
    case 2:
      return WithBias(node, ops::Conv2DTranspose(x, weight,
                                                 TransposedAttributes<ops::Conv2DTransposeAttrs>(
                                                     w, groups, channels, output_padding)));
    default:
      return WithBias(node, ops::Conv3DTranspose(x, weight,
                                                 TransposedAttributes<ops::Conv3DTransposeAttrs>(
                                                     w, groups, channels, output_padding)));
  }
}

}  // namespace

void AddConvConverters(ConverterTable* table) {
  (*table)["Conv"] = Converter(Conv).With({.other = "one to three spatial axes"});
  (*table)["ConvTranspose"] = Converter(ConvTranspose).With({.other = "one to three spatial axes"});
}

}  // namespace tenon::onnx_import
