#include "tenon/schedule/needed_region.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "tenon/schedule/split_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Stmt;

bool IsOfIntrinsic(const Stage& stage, std::size_t axis, std::int64_t extent) {
  if (!stage.marks().tensorize) return false;
  const auto& pattern = stage.marks().tensorize->intrinsic->op->axes;
  const std::size_t outer = stage.op()->axes.size() - pattern.size();
  return axis >= outer && loop::IsConstInt(pattern[axis - outer].extent, extent);
}

bool SameRange(const Range& a, const Range& b) {
  return loop::StructuralEqual(a.min, b.min) && loop::StructuralEqual(a.extent, b.extent);
}

}  // namespace

std::vector<Range> WholeRegion(const loop::Buffer& buffer) {
  std::vector<Range> region;
  for (const loop::Expr& extent : buffer->shape) region.push_back({0, extent});
  return region;
}

bool SameRegion(const std::vector<Range>& a, const std::vector<Range>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameRange);
}

std::vector<Range> RegionComputed(const Stage& stage) {
  std::vector<Range> region = WholeRegion(stage.op()->outputs[0]);
  for (const Relation& relation : stage.relations()) {
    const auto* split = std::get_if<SplitRelation>(&relation);
    if (split == nullptr || split->tail != Tail::kRoundUp) continue;
    for (std::size_t d = 0; d < region.size(); ++d) {
      if (!stage.op()->axes[d].var.same_as(split->parent.var)) continue;
      const loop::Expr extent = region[d].extent;
      const loop::Expr factor = AtLeastOne(split->factor);
      region[d].extent = loop::Simplify(loop::FloorDiv(extent + factor - 1, factor) * factor);
    }
  }
  return region;
}

std::vector<Range> RegionNeeded(const Stage& producer, const Stmt& inside,
                                const loop::Bounds& bounds) {
  std::optional<std::vector<Range>> region;
  for (const loop::Buffer& buffer : producer.op()->outputs) {
    const std::optional<std::vector<Range>> read = RegionRead(inside, buffer, bounds);
    if (!read) continue;
    if (!region) region = *read;
    // Outputs of one operation are computed together. Along axes on which their boxes differ, all
    // is computed.
    for (std::size_t d = 0; d < region->size(); ++d) {
      if (!SameRange((*region)[d], (*read)[d])) (*region)[d] = {0, buffer->shape[d]};
    }
  }
  if (!region && producer.placement() != Stage::Placement::kAt) {
    throw InvalidArgument(StrCat("compute_at: stage ", producer.name(),
                                 " is a step of a scan, but is not read in the scan's loop; "
                                 "compute its readers there"));
  }
  if (!region) {
    throw InvalidArgument(StrCat("compute_at: stage ", producer.name(), " is not read inside axis ",
                                 producer.attach_axis().var.name(),
                                 "; choose a loop around its readers"));
  }
  return *region;
}

void WidenLanes(const Stage& producer, std::vector<Range>& region) {
  for (std::size_t d = 0; d < region.size(); ++d) {
    const IterVar& axis = producer.op()->axes[d];
    const auto* needed = region[d].extent.As<loop::IntImmNode>();
    const auto* whole = axis.extent.As<loop::IntImmNode>();
    if (needed == nullptr || whole == nullptr || needed->value < 1) continue;
    const bool makes_vector = std::has_single_bit(static_cast<std::uint64_t>(whole->value)) &&
                              2 * needed->value > whole->value &&
                              producer.KindOf(axis) == loop::ForKind::kVectorized;
    if (makes_vector || IsOfIntrinsic(producer, d, whole->value)) region[d] = {0, axis.extent};
  }
}

}  // namespace tenon::schedule
