// All elements are computed: the host stores every element of its own result, so the boxes that its
// iterations store cover its shape. Where a dimension of the output's region is the same range as
// one of those boxes' dimensions, and both dimensions are of the same size, the regions cover it,
// too: for any element of the output there is one of the host's result with the same indices there,
// and the iteration that stores it computes the output's. All other dimensions are computed whole.
// Overhang of splits is guarded in both. Only if the host has no elements may there be no such
// iteration.
//
// Threads compute different elements. Boxes that begin at multiples of their size are equal or
// apart. If the boxes are numbered, a later iteration of the parallel loop must have greater
// numbers than an earlier one, whatever the loops inside it do.
#include "tenon/schedule/attached_output.h"

#include <algorithm>
#include <optional>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;

bool IsWhole(const Range& range, const Expr& extent) {
  return loop::IsConstInt(range.min, 0) && loop::StructuralEqual(range.extent, extent);
}

// The first loops of a stage at the root, down to the one over `axis`.
struct OuterLoop {
  IterVar axis;
  Expr extent;
  loop::ForKind kind;
};

std::vector<OuterLoop> OuterLoops(const Stage& host, const IterVar& axis) {
  ByVar extents;
  for (const IterVar& root : host.op()->axes) extents[root.var] = root.extent;
  for (const IterVar& root : host.op()->reduce_axes) extents[root.var] = root.extent;
  InferExtents(host.relations(), &extents);
  std::vector<OuterLoop> loops;
  for (const IterVar& leaf : host.leaves()) {
    loops.push_back({leaf, extents.at(leaf.var), host.KindOf(leaf)});
    if (leaf.var.same_as(axis.var)) break;
  }
  return loops;
}

// `needed`, but whole in those dimensions in which it is not one of the host's ranges. Nothing if
// the host may have no elements.
std::optional<std::vector<Range>> CoveringRegion(const std::vector<Expr>& shape,
                                                 const std::vector<Range>& needed,
                                                 const std::vector<Expr>& host_shape,
                                                 const std::vector<Range>& host_region,
                                                 const loop::Bounds& bounds) {
  std::vector<Range> region = needed;
  std::vector<bool> used(host_shape.size(), false);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (IsWhole(region[d], shape[d])) continue;
    std::size_t same = 0;
    while (same < host_shape.size() &&
           (used[same] || !loop::StructuralEqual(shape[d], host_shape[same]) ||
            !loop::StructuralEqual(region[d].min, host_region[same].min) ||
            !loop::StructuralEqual(region[d].extent, host_region[same].extent)))
      ++same;
    if (same < host_shape.size()) {
      used[same] = true;
    } else {
      region[d] = {0, shape[d]};
    }
  }
  for (std::size_t d = 0; d < host_shape.size(); ++d) {
    // If an extent that both have is 0, there are no elements to compute.
    const bool is_shared = std::ranges::any_of(
        shape, [&](const Expr& extent) { return loop::StructuralEqual(extent, host_shape[d]); });
    if (!used[d] && !is_shared && !loop::CanProve(host_shape[d] >= 1, bounds)) return std::nullopt;
  }
  return region;
}

// The number of the region among boxes of its size. Undefined if it does not begin where such a box
// does.
Expr BoxNumber(const std::vector<Expr>& shape, const std::vector<Range>& region,
               const loop::Bounds& bounds) {
  Expr number = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (IsWhole(region[d], shape[d])) continue;
    const Range& range = region[d];
    if (!loop::CanProve(range.extent >= 1, bounds) ||
        !loop::CanProve(loop::FloorMod(range.min, range.extent) == 0, bounds))
      return {};
    number = number * loop::FloorDiv(shape[d] + range.extent - 1, range.extent) +
             loop::FloorDiv(range.min, range.extent);
  }
  return loop::Simplify(number, bounds);
}

// Assumes that the host has elements along each axis, as it has where an iteration runs.
void AssumeElements(const std::vector<Expr>& host_shape, loop::Bounds* bounds) {
  for (const Expr& extent : host_shape) {
    if (extent.kind() != loop::ExprKind::kVar) continue;
    const loop::Interval known = bounds->Of(extent);
    bounds->Bind(loop::Var(extent), {std::max<std::int64_t>(known.low, 1), known.high});
  }
}

loop::Interval UpTo(const Expr& last, const loop::Bounds& bounds) {
  return {0, std::max<std::int64_t>(0, loop::RangeOf(last, bounds).high)};
}

// Whether the box's number is greater in later iterations of loop `parallel`.
bool Grows(const Expr& number, const std::vector<OuterLoop>& loops, std::size_t parallel,
           loop::Bounds bounds) {
  const loop::Var distance("distance");
  bounds.Bind(distance, UpTo(loops[parallel].extent - 2, bounds));
  ByVar later = {{loops[parallel].axis.var, loops[parallel].axis.var + distance + 1}};
  for (std::size_t i = parallel + 1; i < loops.size(); ++i) {
    const loop::Var other(loops[i].axis.var.name() + ".later");
    bounds.Bind(other, bounds.Of(loops[i].axis.var));
    later[loops[i].axis.var] = other;
  }
  return loop::CanProve(loop::Substitute(number, later) - number >= 1, bounds);
}

}  // namespace

std::vector<Range> RegionOfOutput(const Stage& output, const Stage& host, const IterVar& axis,
                                  const std::vector<Range>& needed, const loop::Stmt& inside,
                                  const loop::Bounds& outer_bounds) {
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(StrCat("compute_at: stage ", output.name(), ", computed at axis ",
                                 axis.var.name(), " of ", host.name(), ": ", reason));
  };
  const std::vector<OuterLoop> loops = OuterLoops(host, axis);
  loop::Bounds bounds = outer_bounds;
  for (const OuterLoop& loop : loops) {
    bounds.Bind(loop.axis.var, UpTo(loop.extent - 1, outer_bounds));
    if (loop.axis.is_reduce)
      refuse(StrCat(loop.axis.var.name(),
                    " is a reduce axis, so that elements are computed again and again; only data "
                    "axes are allowed"));
    if (loop.kind == loop::ForKind::kVectorized)
      refuse(StrCat("loop ", loop.axis.var.name(), " is vectorised; choose one around it"));
  }
  const std::vector<Expr>& shape = output.op()->outputs[0]->shape;
  if (std::any_of(shape.begin(), shape.end(),
                  [](const Expr& extent) { return loop::IsConstInt(extent, 0); }))
    return needed;
  const loop::Buffer& host_buffer = host.op()->outputs[0];
  const auto stored = RegionWritten(inside, host_buffer, outer_bounds);
  std::optional<std::vector<Range>> region;
  if (stored) region = CoveringRegion(shape, needed, host_buffer->shape, *stored, outer_bounds);
  if (!region)
    refuse(StrCat(host.name(), " may have no elements, and then nothing would be computed"));
  AssumeElements(host_buffer->shape, &bounds);
  const Expr number = BoxNumber(shape, *region, bounds);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].kind != loop::ForKind::kParallel || loop::IsConstInt(loops[i].extent, 1)) continue;
    if (!number.defined() || !Grows(number, loops, i, bounds))
      refuse(StrCat("several iterations of the parallel loop ", loops[i].axis.var.name(),
                    " may compute an element; choose a loop whose iterations need different ones"));
  }
  return *region;
}

}  // namespace tenon::schedule
