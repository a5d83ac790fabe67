// Axes are followed by their letters. An attribute that names axis i of the old layout names, in
// the new one, the position of its letter. When that letter is cut into blocks, a rule says what
// becomes of the two axes, or falls back to the old layout.
#include "tenon/ops/layout/layout_rules.h"

#include <algorithm>
#include <type_traits>

#include "tenon/ops/layout/layout.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::ops {
namespace {

const std::vector<ir::Dim>& DimsOf(const LayoutQuestion& q, std::size_t input) {
  return q.old_types[input].As<ir::TensorTypeNode>()->shape;
}

// The answer of an operator of one input. `rule` gets the old letters and the new layout, and gives
// nothing when it cannot follow. For the old layout it always answers.
template <typename Rule>
LayoutAnswer OfOneInput(const LayoutQuestion& q, const Rule& rule) {
  const std::string& from = q.old_inputs[0];
  if (from.empty()) return KeepLayouts(q);
  if (IsLayoutChanged(q, 0)) {
    const Layout to = Layout::Parse(q.new_inputs[0], "layout");
    if (std::optional<LayoutAnswer> answer = rule(from, to)) {
      answer->inputs.assign(q.new_inputs.size(), "");
      answer->inputs[0] = q.new_inputs[0];
      return *answer;
    }
  }
  std::optional<LayoutAnswer> answer = rule(from, Layout::Parse(from, "layout"));
  if (!answer) return KeepLayouts(q);
  answer->attrs = q.attrs;
  answer->is_input = false;
  answer->inputs.assign(q.new_inputs.size(), "");
  answer->inputs[0] = from;
  return *answer;
}

template <typename AttrsType>
LayoutAnswer Reduction(const LayoutQuestion& q) {
  return OfOneInput(q, [&](const std::string& from, const Layout& to) {
    auto attrs = q.attrs.As<AttrsType>();
    const std::vector<bool> reduced = ReducedAxes(attrs.axis, attrs.exclude, from.size());
    // An index runs along one axis.
    if (std::is_same_v<AttrsType, ArgReduceAttrs>) {
      const bool is_one = std::count(reduced.begin(), reduced.end(), true) == 1;
      const auto at = static_cast<std::size_t>(std::find(reduced.begin(), reduced.end(), true) -
                                               reduced.begin());
      if (from != to.Whole() && !is_one) return std::optional<LayoutAnswer>();
      if (to.rank() != from.size() && (!is_one || to.IsCut(from[at])))
        return std::optional<LayoutAnswer>();
    }
    Ints axes;
    std::vector<LayoutAxis> left;
    for (std::size_t i = 0; i < to.rank(); ++i) {
      const LayoutAxis& axis = to.axes()[i];
      if (!reduced[from.find(axis.letter)]) {
        left.push_back(axis);
        continue;
      }
      axes.push_back(static_cast<std::int64_t>(i));
      if (attrs.keepdims) left.push_back({axis.letter, axis.block > 0 ? 1 : 0});
    }
    attrs.axis = std::move(axes);
    attrs.exclude = false;
    return std::optional<LayoutAnswer>(
        LayoutAnswer{{}, LayoutText(left), attrs::Attrs::Make(std::move(attrs))});
  });
}

}  // namespace

LayoutAnswer KeepLayouts(const LayoutQuestion& question) {
  return {std::vector<std::string>(question.new_inputs.size()), "", question.attrs};
}

const std::string& WantedLayout(const LayoutQuestion& question, std::size_t input) {
  const std::string& changed = question.new_inputs[input];
  return changed.empty() ? question.old_inputs[input] : changed;
}

bool IsLayoutChanged(const LayoutQuestion& question, std::size_t input) {
  return WantedLayout(question, input) != question.old_inputs[input] &&
         !question.old_inputs[input].empty();
}

bool MayFollowLayout(const LayoutQuestion& q, const std::string& own) {
  return IsLayoutChanged(q, 0) && q.old_inputs[0] == own;
}

bool IsOrderOf(std::string letters, std::string layout) {
  std::sort(letters.begin(), letters.end());
  std::sort(layout.begin(), layout.end());
  return layout == letters;
}

bool IsPooledLayout(const std::string& text) {
  const Layout layout = Layout::Parse(text, "layout");
  return IsOrderOf("NCHW", layout.Whole()) && layout.rank() == (layout.IsCut('C') ? 5 : 4);
}

LayoutAnswer LayoutsOfReduction(const LayoutQuestion& question) {
  return Reduction<ReduceAttrs>(question);
}
LayoutAnswer LayoutsOfArgReduction(const LayoutQuestion& question) {
  return Reduction<ArgReduceAttrs>(question);
}

LayoutAnswer LayoutsOfConcatenate(const LayoutQuestion& question) {
  std::size_t leader = question.new_inputs.size();
  for (std::size_t i = 0; i < question.new_inputs.size(); ++i) {
    if (question.old_inputs[i].empty()) continue;
    if (leader == question.new_inputs.size()) leader = i;
    if (IsLayoutChanged(question, i)) {
      leader = i;
      break;
    }
  }
  if (leader == question.new_inputs.size()) return KeepLayouts(question);
  const std::string& from = question.old_inputs[leader];
  auto attrs = question.attrs.As<ConcatenateAttrs>();
  const char letter = from[static_cast<std::size_t>(NormalAxis(attrs.axis, from.size()))];
  std::string to = WantedLayout(question, leader);
  const Layout layout = Layout::Parse(to, "layout");
  // Fields of whole blocks concatenate to whole blocks.
  const std::int64_t block = layout.BlockOf(letter);
  for (std::size_t i = 0; i < question.new_inputs.size() && layout.IsCut(letter); ++i) {
    const ir::Dim& extent = DimsOf(question, i)[from.find(letter)];
    if (!extent.is_static() || extent.value() % block != 0) to = from;
  }
  if (to != from) attrs.axis = static_cast<std::int64_t>(layout.PositionOf(letter));
  return {std::vector<std::string>(question.new_inputs.size(), to), to, attrs::Attrs::Make(attrs)};
}

LayoutAnswer LayoutsOfPad(const LayoutQuestion& question) {
  return OfOneInput(
      question, [&](const std::string& from, const Layout& to) -> std::optional<LayoutAnswer> {
        auto attrs = question.attrs.As<PadAttrs>();
        std::vector<Ints> widths;
        for (const LayoutAxis& axis : to.axes()) {
          const Ints& old = attrs.pad_width[from.find(axis.letter)];
          if (axis.block > 0) {
            widths.push_back({0, 0});
          } else if (to.IsCut(axis.letter)) {
            const std::int64_t block = to.BlockOf(axis.letter);
            const bool is_padded =
                std::any_of(old.begin(), old.end(), [](std::int64_t w) { return w != 0; });
            const bool is_whole =
                std::all_of(old.begin(), old.end(), [&](std::int64_t w) { return w % block == 0; });
            if (is_padded && (!is_whole || attrs.pad_mode != "constant")) return std::nullopt;
            Ints blocks;
            for (const std::int64_t width : old) blocks.push_back(width / block);
            widths.push_back(std::move(blocks));
          } else {
            widths.push_back(old);
          }
        }
        attrs.pad_width = std::move(widths);
        return LayoutAnswer{{}, LayoutText(to.axes()), attrs::Attrs::Make(std::move(attrs))};
      });
}

LayoutAnswer LayoutsOfSplit(const LayoutQuestion& question) {
  return OfOneInput(
      question, [&](const std::string& from, const Layout& to) -> std::optional<LayoutAnswer> {
        auto attrs = question.attrs.As<SplitAttrs>();
        const auto axis = static_cast<std::size_t>(NormalAxis(attrs.axis, from.size()));
        attrs.axis = static_cast<std::int64_t>(to.PositionOf(from[axis]));
        if (to.IsCut(from[axis])) {
          const ir::Dim& extent = DimsOf(question, 0)[axis];
          if (!extent.is_static()) return std::nullopt;
          const std::int64_t block = to.BlockOf(from[axis]);
          for (const auto& [begin, length] : SplitParts(attrs, extent.value())) {
            if (begin % block != 0 || length % block != 0) return std::nullopt;
          }
          if (auto* cuts = std::get_if<Ints>(&attrs.indices_or_sections)) {
            for (std::int64_t& cut : *cuts) {
              if (cut < 0 || cut % block != 0) return std::nullopt;
              cut /= block;
            }
          }
        }
        return LayoutAnswer{{}, LayoutText(to.axes()), attrs::Attrs::Make(std::move(attrs))};
      });
}

LayoutAnswer LayoutsOfSqueeze(const LayoutQuestion& question) {
  return OfOneInput(
      question, [&](const std::string& from, const Layout& to) -> std::optional<LayoutAnswer> {
        auto attrs = question.attrs.As<SqueezeAttrs>();
        std::vector<bool> dropped(from.size(), false);
        if (attrs.axis) {
          for (const std::int64_t axis : *attrs.axis)
            dropped[static_cast<std::size_t>(NormalAxis(axis, from.size()))] = true;
        } else {
          for (std::size_t i = 0; i < from.size(); ++i) {
            const ir::Dim& extent = DimsOf(question, 0)[i];
            if (!extent.is_static()) return std::nullopt;
            dropped[i] = extent.value() == 1;
          }
        }
        std::vector<LayoutAxis> left;
        Ints axes;
        for (std::size_t i = 0; i < to.rank(); ++i) {
          if (dropped[from.find(to.axes()[i].letter)]) {
            axes.push_back(static_cast<std::int64_t>(i));
          } else {
            left.push_back(to.axes()[i]);
          }
        }
        attrs.axis = std::move(axes);
        return LayoutAnswer{{}, LayoutText(left), attrs::Attrs::Make(std::move(attrs))};
      });
}

LayoutAnswer LayoutsOfStridedSlice(const LayoutQuestion& question) {
  return OfOneInput(
      question, [&](const std::string& from, const Layout& to) -> std::optional<LayoutAnswer> {
        const auto& old = question.attrs.As<StridedSliceAttrs>();
        const std::vector<ir::Dim>& dims = DimsOf(question, 0);
        StridedSliceAttrs attrs;
        attrs.axes.emplace();
        Shape shape;
        for (const ir::Dim& dim : dims) {
          if (!dim.is_static()) return std::nullopt;
          shape.push_back(dim.value());
        }
        // As indices within bounds, whatever the form of the attributes.
        const std::vector<SliceRange> ranges = SliceRanges(old, shape);
        for (std::size_t i = 0; i < ranges.size(); ++i) {
          SliceRange range = ranges[i];
          if (range.begin == 0 && range.stride == 1 && range.extent == shape[i]) continue;
          if (range.stride < 1) return std::nullopt;
          if (to.IsCut(from[i])) {
            const std::int64_t block = to.BlockOf(from[i]);
            if (range.stride != 1 || range.begin % block != 0 || range.extent % block != 0)
              return std::nullopt;
            range.begin /= block;
            range.extent /= block;
          }
          attrs.axes->push_back(static_cast<std::int64_t>(to.PositionOf(from[i])));
          attrs.begin.push_back(range.begin);
          attrs.end.push_back(range.extent == 0
                                  ? range.begin
                                  : range.begin + (range.extent - 1) * range.stride + 1);
          attrs.strides.push_back(range.stride);
        }
        return LayoutAnswer{{}, LayoutText(to.axes()), attrs::Attrs::Make(std::move(attrs))};
      });
}

LayoutAnswer LayoutsOfTranspose(const LayoutQuestion& question) {
  return OfOneInput(
      question, [&](const std::string& from, const Layout& to) -> std::optional<LayoutAnswer> {
        const auto& attrs = question.attrs.As<TransposeAttrs>();
        std::string turned;
        for (std::size_t i = 0; i < from.size(); ++i)
          turned += attrs.axes ? from[static_cast<std::size_t>(
                                     NormalAxis((*attrs.axes)[i], from.size(), "axes"))]
                               : from[from.size() - 1 - i];
        // The same memory can be seen in the order of the transposed tensor's axes, so nothing
        // moves.
        const std::string now = LayoutText(to.axes());
        if (now == from) return LayoutAnswer{{}, turned, question.attrs};
        return LayoutAnswer{{}, now, question.attrs, true};
      });
}

}  // namespace tenon::ops
