// Operators that select elements by index, create them, or pad.
#include <functional>

#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/index/sequence_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te/index_value.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

std::vector<Tensor> StridedSlice(const TeCall& call) {
  const Tensor& x = call.input(0);
  const std::vector<ops::SliceDims> ranges =
      ops::SliceRanges(call.attrs.As<ops::StridedSliceAttrs>(), call.DimsOf(0));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> indices;
        for (std::size_t d = 0; d < ranges.size(); ++d)
          indices.push_back(i[d] * ranges[d].stride + call.ExprOf(ranges[d].begin));
        return x[indices];
      },
      "strided_slice")};
}

std::vector<Tensor> SliceLike(const TeCall& call) {
  return {te::Compute(
      call.te_shape(), [&](const std::vector<Var>& i) { return call.input(0)[ToExprs(i)]; },
      "slice_like")};
}

// An index of any integer type, brought into [0, extent).
Expr Within(const Expr& index, const Expr& extent, const std::string& mode) {
  if (mode == "wrap" && index.dtype() == UInt64)
    return te::Cast(Int64, te::FloorMod(index, te::Cast(UInt64, extent)));
  const Expr at = IndexValue(index);
  if (mode == "wrap") return te::FloorMod(at, extent);
  return te::Max(te::Min(at, extent - 1), Expr(0));
}
// Negative indices count from the end.
Expr FromEnd(const Expr& index, const Expr& extent) {
  const Expr at = IndexValue(index);
  return Within(te::Select(at < Expr(0), at + extent, at), extent, "clip");
}

std::vector<Tensor> Take(const TeCall& call) {
  const Tensor& x = call.input(0);
  const Tensor& indices = call.input(1);
  const auto& attrs = call.attrs.As<ops::TakeAttrs>();
  if (!attrs.axis) {
    const std::vector<Expr>& from = x.shape();
    return {te::Compute(
        call.te_shape(),
        [&](const std::vector<Var>& i) {
          return x[Unflatten(Within(indices[ToExprs(i)], ProductOf(from), attrs.mode), from)];
        },
        "take")};
  }
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(*attrs.axis, x.ndim()));
  const auto batch = static_cast<std::size_t>(attrs.batch_dims);
  const std::size_t inner = indices.ndim() - batch;
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at;
        for (std::size_t d = 0; d < batch; ++d) at.emplace_back(i[d]);
        for (std::size_t d = 0; d < inner; ++d) at.emplace_back(i[axis + d]);
        const Expr index = Within(indices[at], x.shape()[axis], attrs.mode);
        std::vector<Expr> from;
        for (std::size_t d = 0; d < axis; ++d) from.emplace_back(i[d]);
        from.push_back(index);
        for (std::size_t d = axis + 1; d < x.ndim(); ++d) from.emplace_back(i[d - 1 + inner]);
        return x[from];
      },
      "take")};
}

std::vector<Tensor> Gather(const TeCall& call) {
  const Tensor& x = call.input(0);
  const auto axis =
      static_cast<std::size_t>(ops::NormalAxis(call.attrs.As<ops::GatherAttrs>().axis, x.ndim()));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        from[axis] = FromEnd(call.input(1)[ToExprs(i)], x.shape()[axis]);
        return x[from];
      },
      "gather")};
}

std::vector<Tensor> GatherND(const TeCall& call) {
  const Tensor& x = call.input(0);
  const Tensor& indices = call.input(1);
  const auto batch = static_cast<std::size_t>(call.attrs.As<ops::GatherNDAttrs>().batch_dims);
  const auto length = static_cast<std::size_t>(ExtentOf(indices, 0));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from;
        for (std::size_t d = 0; d < batch; ++d) from.emplace_back(i[d]);
        for (std::size_t k = 0; k < length; ++k) {
          std::vector<Expr> at = {Expr(static_cast<std::int64_t>(k))};
          for (std::size_t d = 0; d + 1 < indices.ndim(); ++d) at.emplace_back(i[d]);
          from.push_back(FromEnd(indices[at], x.shape()[batch + k]));
        }
        for (std::size_t d = from.size(); d < x.ndim(); ++d)
          from.emplace_back(i[indices.ndim() - 1 + d - batch - length]);
        return x[from];
      },
      "gather_nd")};
}

std::vector<Tensor> AdvIndex(const TeCall& call) {
  const Tensor& x = call.input(0);
  const std::size_t used = call.inputs.size() - 1;
  const std::size_t rank = call.te_shape().size() - (x.ndim() - used);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const std::vector<Var> index_axes(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(rank));
        std::vector<Expr> from;
        for (std::size_t k = 0; k < used; ++k)
          from.push_back(FromEnd(BroadcastRead(call.input(k + 1), index_axes), ExtentOf(x, k)));
        for (std::size_t d = used; d < x.ndim(); ++d) from.emplace_back(i[rank + d - used]);
        return x[from];
      },
      "adv_index")};
}

std::vector<Tensor> OneHot(const TeCall& call) {
  const Tensor& indices = call.input(0);
  const auto axis = static_cast<std::size_t>(
      ops::NormalAxis(call.attrs.As<ops::OneHotAttrs>().axis, indices.ndim() + 1));
  const DataType dtype = call.dtype();
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at = ToExprs(i);
        at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
        return te::Select(te::Cast(Int64, indices[at]) == i[axis], te::Cast(dtype, call.input(1)()),
                          te::Cast(dtype, call.input(2)()));
      },
      "one_hot")};
}

std::vector<Tensor> Trilu(const TeCall& call) {
  const Tensor& x = call.input(0);
  const bool upper = call.attrs.As<ops::TriluAttrs>().upper;
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const Expr distance = i[i.size() - 1] - i[i.size() - 2];
        const Expr k = IndexValue(call.input(1)());
        return te::Select(upper ? distance >= k : distance <= k, x[ToExprs(i)],
                          te::Cast(x.dtype(), 0));
      },
      "trilu")};
}

std::vector<Tensor> ReverseSequence(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::ReverseSequenceAttrs>();
  const Tensor& x = call.input(0);
  const auto along =
      static_cast<std::size_t>(ops::NormalAxis(attrs.seq_axis, x.ndim(), "seq_axis"));
  const auto batch =
      static_cast<std::size_t>(ops::NormalAxis(attrs.batch_axis, x.ndim(), "batch_axis"));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        // A length beyond the axis means all of it.
        const Expr length = te::Min(IndexValue(call.input(1)(i[batch])), Expr(ExtentOf(x, along)));
        std::vector<Expr> from = ToExprs(i);
        from[along] = te::Select(i[along] < length, length - 1 - i[along], i[along]);
        return x[from];
      },
      "reverse_sequence")};
}

std::vector<Tensor> SequenceMask(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::SequenceMaskAttrs>();
  const std::size_t time = attrs.axis == 0 ? 0 : 1;
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const Expr length = IndexValue(call.input(1)(i[1 - time]));
        return te::Select(i[time] < length, call.input(0)[ToExprs(i)],
                          te::Cast(call.dtype(), attrs.mask_value));
      },
      "sequence_mask")};
}

// Every coordinate is taken modulo its extent, so that offsets beyond the shape wrap around.
std::vector<Tensor> UnravelIndex(const TeCall& call) {
  const Tensor& extents = call.input(1);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> at(i.begin() + 1, i.end());
        // In the type that holds all offsets.
        const DataType wide = call.dtype() == UInt64 ? UInt64 : Int64;
        Expr rest = te::Cast(wide, call.input(0)[at]);
        Expr coordinate = rest;
        for (std::int64_t d = ExtentOf(extents, 0); d-- > 0;) {
          const Expr extent = te::Cast(wide, te::Max(IndexValue(extents(d)), Expr(1)));
          coordinate = te::Select(i[0] == Expr(d), te::FloorMod(rest, extent), coordinate);
          rest = te::FloorDiv(rest, extent);
        }
        return te::Cast(call.dtype(), coordinate);
      },
      "unravel_index")};
}

std::vector<Tensor> Filled(const TeCall& call, const std::function<Expr(const Var&)>& value) {
  const Var none("none");
  return {te::Compute(
      call.te_shape(), [&](const std::vector<Var>& i) { return value(i.empty() ? none : i[0]); },
      "filled")};
}

std::vector<Tensor> Arange(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::ArangeAttrs>();
  const DataType dtype = call.dtype();
  return Filled(call, [&](const Var& i) {
    // Elements are data, which wraps around; int64 would be the arithmetic of indices. Halves do
    // not hold all places, and are computed in float32.
    const DataType wide = dtype.is_float() ? SumType(dtype) : UInt64;
    const auto number = [&](double v) {
      return te::Cast(wide, te::Cast(dtype.is_float() ? dtype : v < 0 ? Int64 : wide, v));
    };
    return te::Cast(dtype, number(attrs.start) + te::Cast(wide, i) * number(attrs.step));
  });
}

// Where the result index lies in the input, and the condition that it does.
std::vector<Tensor> Pad(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::PadAttrs>();
  const Tensor& x = call.input(0);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from;
        Expr inside = loop::True();
        for (std::size_t d = 0; d < x.ndim(); ++d) {
          const Expr& extent = x.shape()[d];
          const std::int64_t before = attrs.pad_width[d][0];
          const std::int64_t after = attrs.pad_width[d][1];
          if (before == 0 && after == 0) {
            from.emplace_back(i[d]);
            continue;
          }
          Expr at = i[d] - before;
          if (attrs.pad_mode == "edge") {
            at = te::Max(te::Min(at, extent - 1), Expr(0));
          } else if (attrs.pad_mode == "reflect") {
            at = te::Select(at < Expr(0), -at, at);
            at = te::Select(at >= extent, extent * 2 - 2 - at, at);
          } else {
            if (before > 0) inside = inside && at >= Expr(0);
            if (after > 0) inside = inside && at < extent;
          }
          from.push_back(at);
        }
        if (attrs.pad_mode != "constant") return x[from];
        return te::IfThenElse(inside, x[from], call.input(1)());
      },
      "pad")};
}

std::vector<Tensor> MirrorPad(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::MirrorPadAttrs>();
  const std::int64_t edge = attrs.mode == "REFLECT" ? 1 : 0;
  const Tensor& x = call.input(0);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from;
        for (std::size_t d = 0; d < x.ndim(); ++d) {
          const std::int64_t extent = ExtentOf(x, d);
          Expr at = i[d] - attrs.pad_width[d][0];
          at = te::Select(at < Expr(0), Expr(edge - 1) - at, at);
          at = te::Select(at >= Expr(extent), Expr(2 * extent - 1 - edge) - at, at);
          from.push_back(at);
        }
        return x[from];
      },
      "mirror_pad")};
}

std::vector<Tensor> ShapeValue(const TeCall& call) {
  const std::vector<Expr>& extents = call.input(0).shape();
  const DataType dtype = call.dtype();
  if (call.te_shape().empty())
    return Filled(call, [&](const Var&) { return te::Cast(dtype, ProductOf(extents)); });
  return Filled(call, [&](const Var& i) {
    Expr value = te::Cast(dtype, 0);
    for (std::size_t d = 0; d < extents.size(); ++d)
      value =
          te::Select(i == Expr(static_cast<std::int64_t>(d)), te::Cast(dtype, extents[d]), value);
    return value;
  });
}

}  // namespace

void AttachIndexComputes(ops::OpRegistry& registry) {
  registry.Definition("strided_slice").SetColumn(TeCompute{StridedSlice});
  registry.Definition("slice_like").SetColumn(TeCompute{SliceLike});
  registry.Definition("take").SetColumn(TeCompute{Take});
  registry.Definition("gather").SetColumn(TeCompute{Gather});
  registry.Definition("gather_nd").SetColumn(TeCompute{GatherND});
  registry.Definition("adv_index").SetColumn(TeCompute{AdvIndex});
  registry.Definition("one_hot").SetColumn(TeCompute{OneHot});
  registry.Definition("reverse_sequence").SetColumn(TeCompute{ReverseSequence});
  registry.Definition("sequence_mask").SetColumn(TeCompute{SequenceMask});
  registry.Definition("unravel_index").SetColumn(TeCompute{UnravelIndex});
  registry.Definition("trilu").SetColumn(TeCompute{Trilu});
  registry.Definition("nn.pad").SetColumn(TeCompute{Pad});
  registry.Definition("nn.mirror_pad").SetColumn(TeCompute{MirrorPad});
  registry.Definition("arange").SetColumn(TeCompute{Arange});
  registry.Definition("shape_of").SetColumn(TeCompute{ShapeValue});
  registry.Definition("ndarray_size").SetColumn(TeCompute{ShapeValue});
  registry.Definition("zeros").SetColumn(TeCompute{[](const TeCall& call) {
    const DataType dtype = call.dtype();
    return Filled(call, [dtype](const Var&) { return te::Cast(dtype, 0); });
  }});
  registry.Definition("ones").SetColumn(TeCompute{[](const TeCall& call) {
    const DataType dtype = call.dtype();
    return Filled(call, [dtype](const Var&) { return te::Cast(dtype, 1); });
  }});
  registry.Definition("full").SetColumn(TeCompute{[](const TeCall& call) {
    return Filled(call, [&](const Var&) { return te::Cast(call.dtype(), call.input(0)()); });
  }});
}

}  // namespace tenon::strategies
