#include "tenon/ops/shape_rules.h"

#include <algorithm>
#include <limits>

#include "tenon/ops/type_relation.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ops {

using ir::Dim;

int NormalAxis(std::int64_t axis, std::size_t rank, const char* attribute) {
  const auto n = static_cast<std::int64_t>(rank);
  if (axis < -n || axis >= n)
    throw InvalidArgument(
        StrCat(attribute, " is ", axis, "; a tensor of rank ", rank,
               n == 0 ? " has no axes" : StrCat(" has the axes ", -n, " to ", n - 1)));
  return static_cast<int>(axis < 0 ? axis + n : axis);
}

std::vector<bool> ReducedAxes(const std::optional<Ints>& axis, bool exclude, std::size_t rank) {
  if (!axis) {
    if (exclude) throw InvalidArgument("exclude needs axis to be given");
    return std::vector<bool>(rank, true);
  }
  std::vector<bool> reduced(rank, false);
  for (const std::int64_t a : *axis) {
    const auto i = static_cast<std::size_t>(NormalAxis(a, rank));
    if (reduced[i]) throw InvalidArgument(StrCat("axis names the axis ", a, " twice"));
    reduced[i] = true;
  }
  if (exclude) reduced.flip();
  return reduced;
}

namespace {

class Reshaper {
 public:
  Reshaper(const ReshapeAttrs& attrs, const std::vector<Dim>& input, TypeCall* call)
      : codes_(attrs.newshape), allowzero_(attrs.allowzero), input_(input), call_(call) {}

  std::vector<Dim> Target() {
    for (code_ = 0; code_ < codes_.size(); ++code_) Apply(codes_[code_]);
    const Dim from = Count(input_);
    if (infer_) {
      target_[*infer_] = Inferred(from);
    } else if (Differ(from, Count(target_))) {
      Mismatch();
    }
    return target_;
  }

 private:
  bool Differ(const Dim& a, const Dim& b) const {
    return call_ != nullptr ? call_->Differ(a, b) : a.is_static() && b.is_static() && !(a == b);
  }
  // What is left of `whole` without `part`, one of them not a number. A number may leave a rest for
  // some values of the variables; these are refused.
  Dim Quotient(const Dim& whole, const Dim& part) const {
    if (const std::optional<Dim> exact = ExactQuotient(whole, part)) return *exact;
    if (whole.is_any() || !part.is_static() || part.value() < 1) return Dim();
    if (call_ != nullptr && call_->HasRest(whole, part.value())) Mismatch();
    return FloorDiv(whole, part.value());
  }
  static Dim Count(const std::vector<Dim>& dims) {
    std::int64_t count = 1;
    Dim unknown = 1;
    for (const Dim& dim : dims) {
      if (!dim.is_static()) {
        unknown = unknown * dim;
      } else if (__builtin_mul_overflow(count, dim.value(), &count)) {
        throw InvalidArgument("newshape has more elements than fit 64 bits");
      }
    }
    return unknown * count;
  }
  std::string InputText() const {
    return StrCat(
        "(", StrJoin(input_, ", ", [](std::string* out, const Dim& d) { *out += d.ToString(); }),
        ")");
  }
  [[noreturn]] void Mismatch() const {
    throw InvalidArgument(StrCat("newshape [", StrJoin(codes_, ", "),
                                 "] has another number of elements than the input ", InputText()));
  }
  const Dim& Take() {
    if (next_ >= input_.size())
      throw InvalidArgument(StrCat("newshape [", StrJoin(codes_, ", "),
                                   "] asks for more input axes than ", InputText(), " has"));
    moved_.push_back(next_);
    return input_[next_++];
  }

  void Apply(std::int64_t code) {
    if (code > 0 || (code == 0 && allowzero_)) {
      target_.emplace_back(code);
      given_.emplace_back(code);
      if (next_ < input_.size()) ++next_;
    } else if (code == 0) {
      target_.push_back(Take());
    } else if (code == -1) {
      Infer();
      if (next_ < input_.size()) ++next_;
    } else if (code == -2) {
      while (next_ < input_.size()) target_.push_back(Take());
    } else if (code == -3) {
      const Dim a = Take();
      const Dim b = Take();
      target_.push_back(Product({a, b}));
    } else if (code == -4) {
      Split();
    } else {
      throw InvalidArgument(StrCat("newshape has the entry ", code, "; codes are -4 to 0"));
    }
  }

  void Split() {
    if (code_ + 2 >= codes_.size())
      throw InvalidArgument("newshape has -4 without the two extents that follow it");
    const Dim whole = Take();
    std::int64_t a = codes_[++code_];
    std::int64_t b = codes_[++code_];
    if ((a == -1 && b == -1) || a < -1 || b < -1 || a == 0 || b == 0)
      throw InvalidArgument(StrCat("newshape splits an axis into ", a, " and ", b,
                                   "; extents are positive, one of them may be -1"));
    if (!whole.is_static()) {
      if (a > 0 && b > 0 && Differ(whole, Product({Dim(a), Dim(b)})))
        throw InvalidArgument(
            StrCat("newshape splits the extent ", whole.ToString(), " into ", a, " and ", b));
      target_.push_back(a < 0 ? Quotient(whole, b) : Dim(a));
      target_.push_back(b < 0 ? Quotient(whole, a) : Dim(b));
      return;
    }
    if (a < 0) a = whole.value() / b;
    if (b < 0) b = whole.value() / a;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || product != whole.value())
      throw InvalidArgument(
          StrCat("newshape splits the extent ", whole.value(), " into ", a, " and ", b));
    target_.emplace_back(a);
    target_.emplace_back(b);
  }

  void Infer() {
    if (infer_) throw InvalidArgument("newshape has more than one -1");
    infer_ = target_.size();
    target_.emplace_back();
  }

  Dim Inferred(const Dim& from) {
    std::vector<Dim> others = target_;
    others[*infer_] = Dim(1);
    const Dim to = Count(others);
    if (!from.is_static() || !to.is_static()) {
      const auto [whole, part] = WithoutVariables(from, others);
      return Quotient(whole, part);
    }
    if (from.value() == 0 && to.value() == 0) return InferredOfNothing();
    if (to.value() == 0 || from.value() % to.value() != 0) Mismatch();
    return Dim(from.value() / to.value());
  }
  // Axes that move as they are do not count, so that the extent is that of other inputs: (n, 2, 3)
  // as [0, -1] is (n, 6) for 0, too.
  Dim InferredOfNothing() const {
    std::vector<Dim> rest;
    for (std::size_t i = 0; i < input_.size(); ++i) {
      if (std::find(moved_.begin(), moved_.end(), i) == moved_.end()) rest.push_back(input_[i]);
    }
    const std::int64_t from = Count(rest).value(), to = Count(given_).value();
    if (to == 0 || from % to != 0) Mismatch();
    return Dim(from / to);
  }

  const Ints& codes_;
  const bool allowzero_;
  const std::vector<Dim>& input_;
  TypeCall* const call_;
  std::size_t code_ = 0;
  std::size_t next_ = 0;
  std::vector<Dim> target_;
  std::vector<std::size_t> moved_;  // input axes that codes take as they are
  std::vector<Dim> given_;          // extents that codes are
  std::optional<std::size_t> infer_;
};

}  // namespace

std::vector<Dim> ReshapeTarget(const ReshapeAttrs& attrs, const std::vector<Dim>& input,
                               TypeCall* call) {
  return Reshaper(attrs, input, call).Target();
}

std::pair<Dim, Dim> WithoutVariables(const Dim& whole, const std::vector<Dim>& parts) {
  Dim variables = 1;
  for (const Dim& part : parts) variables = part.is_static() ? variables : variables * part;
  const Dim product = Product(parts);
  const std::optional<Dim> rest = ExactQuotient(whole, variables);
  const std::optional<Dim> number = ExactQuotient(product, variables);
  return rest && number ? std::pair(*rest, *number) : std::pair(whole, product);
}

std::vector<SliceRange> SliceRanges(const StridedSliceAttrs& attrs, const Shape& input) {
  std::vector<SliceRange> ranges;
  for (const std::int64_t extent : input) ranges.push_back({0, 1, extent});
  const std::size_t count = attrs.begin.size();
  if (attrs.end.size() != count)
    throw InvalidArgument(StrCat("begin has ", count, " entries and end ", attrs.end.size()));
  if (attrs.strides.size() > count)
    throw InvalidArgument(
        StrCat("strides has more entries than begin: ", attrs.strides.size(), " and ", count));
  if (attrs.axes ? attrs.axes->size() != count : count > input.size())
    throw InvalidArgument(
        attrs.axes ? StrCat("axes has ", attrs.axes->size(), " entries and begin ", count)
                   : StrCat("begin has ", count, " entries for an input of rank ", input.size()));
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis =
        attrs.axes ? static_cast<std::size_t>(NormalAxis((*attrs.axes)[i], input.size(), "axes"))
                   : i;
    const std::int64_t extent = input[axis];
    const bool by_size = attrs.slice_mode == "size";
    // One entry stands for all axes, as the reference system prints it.
    std::int64_t stride = attrs.strides.empty()       ? 1
                          : attrs.strides.size() == 1 ? attrs.strides[0]
                          : i < attrs.strides.size()  ? attrs.strides[i]
                                                      : 1;
    if (by_size) stride = 1;
    if (stride == 0) throw InvalidArgument("strides has the entry 0");
    std::int64_t begin = attrs.begin[i];
    if (begin < 0) begin += extent;
    std::int64_t end = attrs.end[i];
    if (by_size) {
      begin = std::clamp<std::int64_t>(begin, 0, extent);
      end = end == -1 || end > extent - begin ? extent : begin + end;
    } else if (end < 0) {
      end = end < -extent ? -1 : end + extent;
    }
    SliceRange& range = ranges[axis];
    range.stride = stride;
    if (stride > 0) {
      range.begin = std::clamp<std::int64_t>(begin, 0, extent);
      end = std::clamp<std::int64_t>(end, 0, extent);
      const std::int64_t span = end - range.begin;
      range.extent = span <= 0 ? 0 : (span - 1) / stride + 1;
    } else {
      range.begin = std::clamp<std::int64_t>(begin, -1, extent - 1);
      end = std::clamp<std::int64_t>(end, -1, extent - 1);
      const std::int64_t span = range.begin - end;
      range.extent = span <= 0 ? 0 : 1 - (span - 1) / stride;  // -stride may not fit
    }
  }
  return ranges;
}

namespace {

// Bounds from here on mean an end of the axis, as exporters write them.
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int32_t>::max();

// end - begin, where that is above 0, in few words, so that slices of slices stay short.
Dim Span(const Dim& extent, std::int64_t from, const Dim& begin, const Dim& end) {
  // Where the axis ends before `from`, this is not above 0 either.
  if (from >= 0 && from < kUnbounded) return end - from;
  if (from < 0 && from > -kUnbounded && end == extent) return Min(-from, extent);
  return end - begin;
}

// A slice of an axis of any extent: its bounds are clamped as those of a number.
SliceDims RangeOf(const Dim& extent, std::int64_t from, std::int64_t to, std::int64_t stride,
                  bool by_size) {
  const auto clamped = [&](std::int64_t bound, const Dim& low, const Dim& high) {
    if (bound >= kUnbounded) return high;
    if (bound <= -kUnbounded) return low;
    return Min(Max(bound < 0 ? extent + bound : Dim(bound), low), high);
  };
  if (by_size) {
    const Dim begin = clamped(from, 0, extent);
    const Dim rest = extent - begin;
    return {begin, 1, to == -1 ? rest : Min(std::max<std::int64_t>(to, 0), rest)};
  }
  stride = std::clamp(stride, -kLongestStep, kLongestStep);
  if (stride > 0) {
    const Dim begin = clamped(from, 0, extent), end = clamped(to, 0, extent);
    return {begin, stride, Max(CeilDiv(Span(extent, from, begin, end), stride), 0)};
  }
  const Dim begin = clamped(from, -1, extent - 1);
  return {begin, stride, Max(CeilDiv(begin - clamped(to, -1, extent - 1), -stride), 0)};
}

}  // namespace

std::vector<SliceDims> SliceRanges(const StridedSliceAttrs& attrs, const std::vector<Dim>& input) {
  Shape known;
  for (const Dim& dim : input) known.push_back(dim.is_static() ? dim.value() : 1);
  std::vector<SliceDims> ranges;
  for (const SliceRange& range : SliceRanges(attrs, known))  // checks the attributes
    ranges.push_back({range.begin, range.stride, range.extent});
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (!input[i].is_static()) ranges[i] = {0, 1, input[i]};
  }
  for (std::size_t i = 0; i < attrs.begin.size(); ++i) {
    const auto axis =
        attrs.axes ? static_cast<std::size_t>(NormalAxis((*attrs.axes)[i], input.size(), "axes"))
                   : i;
    if (input[axis].is_static()) continue;
    ranges[axis] = RangeOf(input[axis], attrs.begin[i], attrs.end[i],
                           attrs.strides.empty()       ? 1
                           : attrs.strides.size() == 1 ? attrs.strides[0]
                           : i < attrs.strides.size()  ? attrs.strides[i]
                                                       : 1,
                           attrs.slice_mode == "size");
  }
  return ranges;
}

std::vector<std::pair<std::int64_t, std::int64_t>> SplitParts(const SplitAttrs& attrs,
                                                              std::int64_t extent) {
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  if (const auto* sections = std::get_if<std::int64_t>(&attrs.indices_or_sections)) {
    if (*sections < 1 || extent % *sections != 0)
      throw InvalidArgument(
          StrCat("an extent of ", extent, " cannot be split into ", *sections, " equal parts"));
    if (*sections > kMaxParts)
      throw InvalidArgument(
          StrCat("a split into ", *sections, " parts; at most ", kMaxParts, " are supported"));
    for (std::int64_t i = 0; i < *sections; ++i)
      parts.emplace_back(i * (extent / *sections), extent / *sections);
    return parts;
  }
  std::int64_t begin = 0;
  for (const std::int64_t cut : std::get<Ints>(attrs.indices_or_sections)) {
    if (cut < begin || cut > extent)
      throw InvalidArgument(
          StrCat("the cut points must ascend within 0 to ", extent, "; ", cut, " follows ", begin));
    parts.emplace_back(begin, cut - begin);
    begin = cut;
  }
  parts.emplace_back(begin, extent - begin);
  return parts;
}

std::int64_t PaddedExtent(std::int64_t extent, std::int64_t before, std::int64_t after) {
  std::int64_t padded = 0;
  if (__builtin_add_overflow(extent, before, &padded) ||
      __builtin_add_overflow(padded, after, &padded))
    throw InvalidArgument(StrCat("an extent of ", extent, " padded by ", before, " and ", after,
                                 " does not fit 64 bits"));
  return padded;
}

Dim PaddedExtent(const Dim& extent, std::int64_t before, std::int64_t after) {
  if (extent.is_static()) return PaddedExtent(extent.value(), before, after);
  return extent + before + after;
}

std::int64_t WindowSpan(std::int64_t kernel, std::int64_t dilation) {
  std::int64_t span = 0;
  // An empty kernel would span a negative number.
  if (kernel <= 0) return 0;
  if (__builtin_mul_overflow(dilation, kernel - 1, &span) || __builtin_add_overflow(span, 1, &span))
    throw InvalidArgument(StrCat("a kernel of ", kernel, " elements with dilation ", dilation,
                                 " spans more than fits 64 bits"));
  return span;
}

std::array<std::int64_t, 4> FourPaddings(const Ints& p) {
  if (p.size() == 1) return {p[0], p[0], p[0], p[0]};
  if (p.size() == 2) return {p[0], p[1], p[0], p[1]};
  if (p.size() == 4) return {p[0], p[1], p[2], p[3]};
  throw InvalidArgument(StrCat("padding has ", p.size(),
                               " values; it takes one (all sides), two (top and bottom, left and "
                               "right) or four (top, left, bottom, right)"));
}

std::array<std::int64_t, 2> Pair(const Ints& values, const char* attribute) {
  if (values.size() == 1) return {values[0], values[0]};
  if (values.size() == 2) return {values[0], values[1]};
  throw InvalidArgument(
      StrCat(attribute, " has ", values.size(), " values; it takes two, height and width"));
}

std::vector<std::size_t> LayoutPositions(const std::string& layout, const std::string& wanted,
                                         const char* attribute) {
  std::vector<std::size_t> positions;
  for (const char letter : wanted) {
    const std::size_t found = layout.find(letter);
    if (found == std::string::npos || layout.size() != wanted.size())
      throw InvalidArgument(
          StrCat(attribute, " is \"", layout, "\"; it must be an order of ", wanted));
    positions.push_back(found);
  }
  return positions;
}

}  // namespace tenon::ops
