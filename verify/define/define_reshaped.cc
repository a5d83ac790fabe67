// Operators that keep the elements in order under another shape.
#include <algorithm>
#include <cstring>
#include <optional>

#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/verify/define/defined_places.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

Definition InOrder(const NDArray& x, std::optional<Shape> shape) {
  Definition made{.shape = std::move(shape)};
  for (std::int64_t i = 0; i < x.size(); ++i) made.Add(ElementAt(x, i), 0);
  return made;
}

// The codes one after the other, each of which takes an extent or more of the data.
std::optional<Shape> Reshaped(const Shape& from, const ops::Ints& codes, bool allows_zero) {
  Shape to;
  std::optional<std::size_t> inferred;
  std::size_t next = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == 0 && !allows_zero) {
      to.push_back(from.at(next++));
    } else if (codes[i] == -1) {
      inferred = to.size();
      to.push_back(1);
      ++next;
    } else if (codes[i] == -2) {
      while (next < from.size()) to.push_back(from[next++]);
    } else if (codes[i] == -3) {
      to.push_back(from.at(next) * from.at(next + 1));
      next += 2;
    } else if (codes[i] == -4) {
      const std::int64_t whole = from.at(next++);
      std::int64_t a = codes.at(i + 1), b = codes.at(i + 2);
      if ((a == -1 && b == 0) || (b == -1 && a == 0)) return std::nullopt;
      if (a == -1) a = whole / b;
      if (b == -1) b = whole / a;
      to.push_back(a);
      to.push_back(b);
      i += 2;
    } else {
      to.push_back(codes[i]);
      ++next;
    }
  }
  if (inferred) {
    const std::int64_t others = NumElements(to);
    if (others == 0) return std::nullopt;
    to[*inferred] = NumElements(from) / others;
  }
  return to;
}

Definitions Reshape(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ReshapeAttrs>();
  return {InOrder(call.args[0], Reshaped(call.shape(0), attrs.newshape, attrs.allowzero))};
}

Definitions ReverseReshape(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ReshapeAttrs>();
  const Shape& x = call.shape(0);
  std::optional<Shape> to = Reshaped(
      {x.rbegin(), x.rend()}, {attrs.newshape.rbegin(), attrs.newshape.rend()}, attrs.allowzero);
  if (to) std::reverse(to->begin(), to->end());
  return {InOrder(call.args[0], to)};
}

Definitions ReshapeLike(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ReshapeLikeAttrs>();
  const Shape &x = call.shape(0), &like = call.shape(1);
  const auto bound = [](std::int64_t given, const Shape& of) { return AxisOf(given, of.size()); };
  const auto end = [](const std::optional<std::int64_t>& given, const Shape& of) {
    return given ? AxisOf(*given, of.size()) : of.size();
  };
  Shape to = Part(x, 0, bound(attrs.lhs_begin, x));
  Append(Part(like, bound(attrs.rhs_begin, like), end(attrs.rhs_end, like)), &to);
  Append(Part(x, end(attrs.lhs_end, x), x.size()), &to);
  return {InOrder(call.args[0], to)};
}

Definitions BatchFlatten(const DefinedCall& call) {
  const Shape& x = call.shape(0);
  return {InOrder(call.args[0], Shape{x[0], NumElements(Part(x, 1, x.size()))})};
}

Definitions ExpandDims(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ExpandDimsAttrs>();
  Shape to = call.shape(0);
  const std::size_t axis = AxisOf(attrs.axis, to.size() + 1);
  for (std::int64_t i = 0; i < attrs.num_newaxis; ++i)
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return {InOrder(call.args[0], to)};
}

Definitions Squeeze(const DefinedCall& call) {
  const auto& axes = call.call.attrs.As<ops::SqueezeAttrs>().axis;
  const Shape& x = call.shape(0);
  Shape to;
  for (std::size_t d = 0; d < x.size(); ++d) {
    const bool is_named = axes && std::ranges::any_of(*axes, [&](std::int64_t axis) {
                            return AxisOf(axis, x.size()) == d;
                          });
    if (axes ? !is_named : x[d] != 1) to.push_back(x[d]);
  }
  return {InOrder(call.args[0], to)};
}

Definitions Same(const DefinedCall& call) { return {InOrder(call.args[0], call.shape(0))}; }

// The bits under another type.
Definitions Reinterpret(const DefinedCall& call) {
  const NDArray& x = call.args[0];
  const NDArray bits = NDArray::Empty(x.shape(), call.results[0].dtype());
  if (bits.dtype().bytes() != x.dtype().bytes() || bits.dtype().is_bool()) return {};
  if (x.size() > 0)
    std::memcpy(bits.raw(), x.raw(),
                static_cast<std::size_t>(x.size()) * static_cast<std::size_t>(x.dtype().bytes()));
  return {InOrder(bits, x.shape())};
}

}  // namespace

void AddReshapedDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["annotation.stop_fusion"] = Same;
  t["contrib_reverse_reshape"] = ReverseReshape;
  t["device_copy"] = Same;
  t["expand_dims"] = ExpandDims;
  t["nn.batch_flatten"] = BatchFlatten;
  t["reinterpret"] = Reinterpret;
  t["reshape"] = Reshape;
  t["reshape_like"] = ReshapeLike;
  t["squeeze"] = Squeeze;
}

}  // namespace tenon::verify
