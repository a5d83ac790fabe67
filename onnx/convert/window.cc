#include "tenon/onnx/convert/window.h"

#include <algorithm>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

Ints Window::pads() const {
  Ints all = before;
  all.insert(all.end(), after.begin(), after.end());
  return all;
}

Window ReadAttributes(Node& node, const std::vector<Dim>& data, const Ints& kernel) {
  const std::size_t dims = kernel.size();
  if (dims < 1 || dims > 3 || data.size() != dims + 2)
    throw Unimplemented(StrCat("a window over ", dims, " axes of data of rank ", data.size(),
                               " is not supported; one to three spatial axes after batch and "
                               "channels are"));
  Window w{.kernel = kernel,
           .strides = node.IntsOr("strides", Ints(dims, 1)),
           .dilations = node.IntsOr("dilations", Ints(dims, 1)),
           .before = {},
           .after = {},
           .automatic = node.String("auto_pad", "NOTSET")};
  const Ints pads = node.IntsOr("pads", Ints(2 * dims, 0));
  if (w.strides.size() != dims || w.dilations.size() != dims || pads.size() != 2 * dims)
    throw InvalidArgument(StrCat("a window over ", dims, " axes takes ", dims,
                                 " strides and dilations and ", 2 * dims, " pads"));
  const bool given = w.automatic == "NOTSET";
  if (!given && w.automatic != "VALID" && w.automatic != "SAME_UPPER" &&
      w.automatic != "SAME_LOWER")
    throw InvalidArgument(
        StrCat("auto_pad is ", w.automatic, "; it may be NOTSET, VALID, SAME_UPPER or SAME_LOWER"));
  for (std::size_t i = 0; i < dims; ++i) {
    if (w.strides[i] < 1 || w.dilations[i] < 1 || w.kernel[i] < 1)
      throw InvalidArgument("strides, dilations and the kernel must be at least 1");
    w.before.push_back(given ? pads[i] : 0);
    w.after.push_back(given ? pads[i + dims] : 0);
  }
  return w;
}

std::int64_t BeforeOf(const Window& w, std::int64_t total) {
  return w.automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
}

namespace {

// What auto_pad asks for along an axis of n elements is max(span - stride + rest, 0), where the
// rest, below the stride, is what n lacks to a multiple of it.
void PadVariable(const Node& node, std::size_t axis, double fill, Window* w, Expr* x) {
  const Dim extent = DimsOf(*x)[axis + 2];
  const std::int64_t stride = w->strides[axis];
  const std::int64_t span = ops::WindowSpan(w->kernel[axis], w->dilations[axis]);
  const std::int64_t least = std::max<std::int64_t>(span - stride, 0), most = span - 1;
  const std::int64_t before = BeforeOf(*w, most), least_before = BeforeOf(*w, least);
  if (before == least_before) {
    // What is too much after the elements is less than a stride, so it makes no window.
    w->before[axis] = before;
    w->after[axis] = most - before;
    return;
  }
  const auto floor = [&](const Expr& op, const Expr& a, std::int64_t b) {
    return node.Typed(ir::Call::Make(op, {node.Typed(a), Integer(b)}));
  };
  const Expr count = node.Typed(ExtentValue(*x, axis + 2));
  const Expr rest = floor(ops::Known().floor_mod, ops::Subtract(Integer(0), count), stride);
  const Expr total = node.Typed(ops::Maximum(ops::Add(rest, Integer(span - stride)), Integer(0)));
  const Expr half = floor(ops::Known().floor_divide, total, 2);
  const Expr given = w->automatic == "SAME_UPPER" ? half : node.Typed(ops::Subtract(total, half));
  // The most padding that any extent has, and the elements from where that of this one begins.
  std::vector<Ints> width(DimsOf(*x).size(), Ints{0, 0});
  width[axis + 2] = {before, most - least_before};
  const Expr padded = node.Typed(ops::Pad(*x, width, fill, DataTypeOf(*x)));
  const Expr places =
      ops::Add(Places(node.extents(), extent + most), ops::Subtract(Integer(before), given));
  *x = node.Typed(
      ops::Take(padded, node.Typed(places), {.axis = static_cast<std::int64_t>(axis + 2)}));
  w->in_data[axis] = given;
}

}  // namespace

Window ReadWindow(Node& node, const Ints& kernel, double fill, Expr* x) {
  const std::vector<Dim> data = DimsOf(*x);
  Window w = ReadAttributes(node, data, kernel);
  w.in_data.resize(kernel.size());
  if (w.automatic != "SAME_UPPER" && w.automatic != "SAME_LOWER") return w;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (!data[i + 2].is_static()) {
      PadVariable(node, i, fill, &w, x);
      continue;
    }
    const std::int64_t in = data[i + 2].value();
    const std::int64_t out = in == 0 ? 0 : (in - 1) / w.strides[i] + 1;
    const std::int64_t span = ops::WindowSpan(w.kernel[i], w.dilations[i]);
    const std::int64_t pad = std::max<std::int64_t>(
        0, ops::PaddedExtent(ops::WindowSpan(out, w.strides[i]), span - 1, -in));
    w.before[i] = BeforeOf(w, pad);
    w.after[i] = pad - w.before[i];
  }
  return w;
}

}  // namespace tenon::onnx_import
