#include "tenon/onnx/convert/window.h"

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

Window ReadWindow(Node& node, const std::vector<Dim>& data, const Ints& kernel) {
  Window w = ReadAttributes(node, data, kernel);
  if (w.automatic != "SAME_UPPER" && w.automatic != "SAME_LOWER") return w;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (!data[i + 2].is_static())
      throw Unimplemented(
          StrCat("auto_pad ", w.automatic, " of an extent of ", data[i + 2].ToString()));
    const std::int64_t in = data[i + 2].value();
    const std::int64_t out = in == 0 ? 0 : (in - 1) / w.strides[i] + 1;
    const std::int64_t span = ops::WindowSpan(w.kernel[i], w.dilations[i]);
    const std::int64_t pad = std::max<std::int64_t>(
        0, ops::PaddedExtent(ops::WindowSpan(out, w.strides[i]), span - 1, -in));
    w.before[i] = w.automatic == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
    w.after[i] = pad - w.before[i];
  }
  return w;
}

}  // namespace tenon::onnx_import
