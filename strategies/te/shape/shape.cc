// Operators that rearrange elements. Each result element reads one input element; the index
// arithmetic is left to the simplifier.
#include "tenon/loop/visit.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// How many axes from the last one on both shapes have in common.
std::size_t CommonTail(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  std::size_t common = 0;
  while (common < std::min(a.size(), b.size()) &&
         loop::StructuralEqual(a[a.size() - 1 - common], b[b.size() - 1 - common]))
    ++common;
  return common;
}

// How many axes from the first one on both shapes have in common before their last `tail` ones.
// Numbers do not count: sums over them are simplified as a whole.
std::size_t CommonHead(const std::vector<Expr>& a, const std::vector<Expr>& b, std::size_t tail) {
  std::size_t common = 0, last_variable = 0;
  while (common + tail < std::min(a.size(), b.size()) &&
         loop::StructuralEqual(a[common], b[common])) {
    if (!IsNumber(a[common++])) last_variable = common;
  }
  return last_variable;
}

// Axes of extent 1 are skipped on both sides, so that inserting or dropping them costs nothing.
std::vector<Tensor> SameElements(const TeCall& call) {
  const Tensor& x = call.input(0);
  const std::vector<Expr>& from = x.shape();
  const std::vector<Expr> to = call.te_shape();
  const auto extents = [](const std::vector<Expr>& shape) {
    std::vector<Expr> kept;
    for (const Expr& e : shape) {
      if (!IsOne(e)) kept.push_back(e);
    }
    return kept;
  };
  const std::vector<Expr> kept_from = extents(from), kept_to = extents(to);
  const bool same = std::equal(kept_from.begin(), kept_from.end(), kept_to.begin(), kept_to.end(),
                               loop::StructuralEqual);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> indices(from.size(), Expr(0));
        if (same) {
          std::size_t next = 0;
          for (std::size_t d = 0; d < from.size(); ++d) {
            if (IsOne(from[d])) continue;
            while (IsOne(to[next])) ++next;
            indices[d] = i[next++];
          }
          return x[indices];
        }
        // Axes that begin or end both shapes are indices of both, whatever their extents. So is one
        // between them that has two expressions, since both are then equal.
        const std::size_t tail = CommonTail(from, to);
        const std::size_t head = CommonHead(from, to, tail);
        const bool is_one = from.size() == to.size() && head + tail + 1 == from.size() &&
                            !(IsNumber(from[head]) && IsNumber(to[head]));
        const auto middle = [&](const auto& all) {
          return std::vector<Expr>(all.begin() + static_cast<std::ptrdiff_t>(head),
                                   all.end() - static_cast<std::ptrdiff_t>(tail));
        };
        const std::vector<Expr> all = ToExprs(i);
        if (is_one) return x[all];
        std::vector<Expr> at(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(head));
        const std::vector<Expr> between = Unflatten(Flatten(middle(all), middle(to)), middle(from));
        at.insert(at.end(), between.begin(), between.end());
        at.insert(at.end(), all.end() - static_cast<std::ptrdiff_t>(tail), all.end());
        return x[at];
      },
      "reshape")};
}

std::vector<Tensor> Transpose(const TeCall& call) {
  const Tensor& x = call.input(0);
  const auto& axes = call.attrs.As<ops::TransposeAttrs>().axes;
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> indices(x.ndim());
        for (std::size_t d = 0; d < x.ndim(); ++d) {
          const auto source = axes ? static_cast<std::size_t>(ops::NormalAxis((*axes)[d], x.ndim()))
                                   : x.ndim() - 1 - d;
          indices[source] = i[d];
        }
        return x[indices];
      },
      "transpose")};
}

std::vector<Tensor> Reverse(const TeCall& call) {
  const Tensor& x = call.input(0);
  const auto axis =
      static_cast<std::size_t>(ops::NormalAxis(call.attrs.As<ops::ReverseAttrs>().axis, x.ndim()));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> indices = ToExprs(i);
        indices[axis] = x.shape()[axis] - 1 - i[axis];
        return x[indices];
      },
      "reverse")};
}

std::vector<Tensor> BroadcastTo(const TeCall& call) {
  return {te::Compute(
      call.te_shape(), [&](const std::vector<Var>& i) { return BroadcastRead(call.input(0), i); },
      "broadcast_to")};
}

std::vector<Tensor> IndexAlong(const TeCall& call) {
  const auto axis = static_cast<std::size_t>(
      ops::NormalAxis(call.attrs.As<ops::IndexAlongAttrs>().axis, call.input(0).ndim()));
  return {te::Compute(
      call.te_shape(), [&](const std::vector<Var>& i) { return te::Cast(call.dtype(), i[axis]); },
      "index_along")};
}

std::vector<Tensor> Tile(const TeCall& call) {
  const Tensor& x = call.input(0);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> indices;
        for (std::size_t d = 0; d < x.ndim(); ++d)
          indices.push_back(te::FloorMod(i[i.size() - x.ndim() + d], x.shape()[d]));
        return x[indices];
      },
      "tile")};
}

std::vector<Tensor> Repeat(const TeCall& call) {
  const Tensor& x = call.input(0);
  const auto& attrs = call.attrs.As<ops::RepeatAttrs>();
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis.value_or(0), x.ndim()));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> indices = ToExprs(i);
        indices[axis] = te::FloorDiv(i[axis], attrs.repeats);
        return x[indices];
      },
      "repeat")};
}

std::vector<Tensor> Split(const TeCall& call) {
  const Tensor& x = call.input(0);
  const auto& attrs = call.attrs.As<ops::SplitAttrs>();
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, x.ndim()));
  std::vector<Tensor> parts;
  const std::size_t count = call.result.As<ir::TupleTypeNode>()->fields.size();
  Expr offset = std::int64_t{0};
  for (std::size_t part = 0; part < count; ++part) {
    const std::vector<Expr> shape = call.te_shape(part);
    parts.push_back(te::Compute(
        shape,
        [&](const std::vector<Var>& i) {
          std::vector<Expr> indices = ToExprs(i);
          indices[axis] = i[axis] + offset;
          return x[indices];
        },
        "split"));
    offset = offset + shape[axis];
  }
  return parts;
}

std::vector<Tensor> Meshgrid(const TeCall& call) {
  const bool swap = call.attrs.As<ops::MeshgridAttrs>().indexing == "xy" && call.inputs.size() >= 2;
  std::vector<Tensor> grids;
  for (std::size_t f = 0; f < call.inputs.size(); ++f) {
    const std::size_t axis = swap && f < 2 ? 1 - f : f;
    const Tensor& field = call.input(f);
    grids.push_back(te::Compute(
        call.te_shape(),
        [&](const std::vector<Var>& i) { return field.ndim() == 0 ? field() : field(i[axis]); },
        "meshgrid"));
  }
  return grids;
}

}  // namespace

void AttachShapeComputes(ops::OpRegistry& registry) {
  for (const char* name : {"reshape", "contrib_reverse_reshape", "reshape_like",
                           "reshape_to_extents", "nn.batch_flatten", "expand_dims", "squeeze"})
    registry.Definition(name).SetColumn(TeCompute{SameElements});
  registry.Definition("transpose").SetColumn(TeCompute{Transpose});
  registry.Definition("reverse").SetColumn(TeCompute{Reverse});
  registry.Definition("broadcast_to").SetColumn(TeCompute{BroadcastTo});
  registry.Definition("broadcast_to_like").SetColumn(TeCompute{BroadcastTo});
  registry.Definition("broadcast_to_extents").SetColumn(TeCompute{BroadcastTo});
  registry.Definition("index_along").SetColumn(TeCompute{IndexAlong});
  registry.Definition("tile").SetColumn(TeCompute{Tile});
  registry.Definition("repeat").SetColumn(TeCompute{Repeat});
  registry.Definition("split").SetColumn(TeCompute{Split});
  registry.Definition("meshgrid").SetColumn(TeCompute{Meshgrid});
}

}  // namespace tenon::strategies
