#include "tenon/schedule/scan.h"

#include <algorithm>

#include "tenon/loop/print.h"
#include "tenon/schedule/needed_region.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

using loop::Expr;
using loop::Stmt;
using te::OperationKind;

ScanSteps::ScanSteps(const Schedule& schedule) {
  for (const auto& stage : schedule.stages()) {
    if (stage->op()->kind == OperationKind::kScan) Collect(schedule, *stage);
  }
  if (states_.empty()) return;
  for (const auto& stage : schedule.stages()) {
    if (IsStep(*stage)) {
      if (!stage->is_output()) continue;
      throw InvalidArgument(StrCat("lower: output ", stage->name(), " is a step of scan ",
                                   scan_of_.at(stage.get())->name(),
                                   "; only the scan's results can be outputs"));
    }
    for (const Tensor& input : te::InputsOf(*stage->op())) {
      const Stage* producer = schedule.Find(input.op().get());
      if (producer == nullptr || !IsState(*producer)) continue;
      throw InvalidArgument(StrCat("lower: stage ", stage->name(), " reads ", producer->name(),
                                   ", the state of a scan, outside it; read the scan's result"));
    }
  }
}

void ScanSteps::Collect(const Schedule& schedule, const Stage& scan) {
  const te::OperationNode& op = *scan.op();
  std::unordered_set<const Stage*> inside;
  for (const Tensor& state : op.state) {
    // A state that no update reads has no stage.
    const Stage* stage = schedule.Find(state.op().get());
    if (stage == nullptr) continue;
    inside.insert(stage);
    if (!states_.insert(stage).second)
      throw InvalidArgument(StrCat("lower: ", stage->name(), " is the state of two scans"));
  }
  std::unordered_set<const Stage*> needed;  // by the updates
  for (const Tensor& update : op.update) {
    inside.insert(schedule.Find(update.op().get()));
    needed.insert(schedule.Find(update.op().get()));
  }
  const auto& stages = schedule.stages();
  for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
    if (!needed.contains(it->get())) continue;
    for (const Tensor& input : te::InputsOf(*(*it)->op()))
      needed.insert(schedule.Find(input.op().get()));
  }
  std::vector<const Stage*>& steps = steps_[&scan];
  for (const auto& stage : stages) {
    if (stage->op()->is_placeholder() || !needed.contains(stage.get())) continue;
    bool depends = inside.contains(stage.get());
    for (const Tensor& input : te::InputsOf(*stage->op()))
      depends = depends || inside.contains(schedule.Find(input.op().get()));
    if (!depends) continue;
    inside.insert(stage.get());
    steps.push_back(stage.get());
    if (!scan_of_.emplace(stage.get(), &scan).second)
      throw InvalidArgument(
          StrCat("lower: stage ", stage->name(), " is a step of two scans; make one of them"));
  }
}

void ScanSteps::RequireOneStep(const Stage& stage, const std::vector<Range>& region,
                               const loop::Bounds& ranges) const {
  const auto found = scan_of_.find(&stage);
  if (found == scan_of_.end() || !stage.time().defined()) return;
  const Stage& scan = *found->second;
  const std::vector<IterVar>& axes = stage.op()->axes;
  loop::Bounds bounds = ranges;
  ByVar elements;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const loop::Var offset(axes[d].var.name());
    if (const auto* extent = region[d].extent.As<loop::IntImmNode>())
      bounds.Bind(offset, {0, extent->value - 1});
    elements[axes[d].var] = region[d].min + offset;
  }
  const Expr time = loop::Substitute(stage.time(), elements);
  const loop::Interval distance =
      loop::RangeOf(loop::Simplify(time - scan.op()->axes[0].var, bounds), bounds);
  if (distance.low == 0 && distance.high == 0) return;
  throw InvalidArgument(StrCat(
      "lower: stage ", stage.name(), " is computed for a box with more than one step of scan ",
      scan.name(), ", as its elements are of step ", loop::Print(stage.time()),
      "; the step must stay one axis: call cache_write before the time axis is split or "
      "fused, and leave it as it is in transform_layout"));
}

bool IsUpdateOf(const te::OperationNode& scan, const loop::Buffer& buffer) {
  for (const Tensor& update : scan.update) {
    if (update.buffer() == buffer) return true;
  }
  return false;
}

namespace {

// Makes `part` hold `more`, too, in all dimensions except time. Returns whether it has changed. A
// dimension in which they differ, or which moves with the steps, becomes whole.
bool Grow(const te::OperationNode& scan, const loop::Buffer& buffer, const std::vector<Range>& more,
          std::optional<std::vector<Range>>* part) {
  const bool is_new = !*part;
  if (is_new) *part = more;
  std::vector<Range>& region = **part;
  bool changed = is_new;
  region[0] = {0, buffer->shape[0]};
  for (std::size_t d = 1; d < region.size(); ++d) {
    const Range whole{0, buffer->shape[d]};
    if (SameRegion({region[d]}, {whole})) continue;
    const loop::Var& time = scan.axes[0].var;
    if (SameRegion({region[d]}, {more[d]}) && !loop::UsesVar(more[d].min, time) &&
        !loop::UsesVar(more[d].extent, time))
      continue;
    region[d] = whole;
    changed = true;
  }
  return changed;
}

std::optional<std::size_t> UpdateOf(const te::OperationNode& scan, const loop::Buffer& buffer) {
  for (std::size_t i = 0; i < scan.update.size(); ++i) {
    if (scan.update[i].buffer() == buffer) return i;
  }
  return std::nullopt;
}

}  // namespace

ScanParts WholeParts(const te::OperationNode& scan) {
  ScanParts parts;
  for (const loop::Buffer& output : scan.outputs) parts.emplace_back(WholeRegion(output));
  return parts;
}

ScanParts PartsRead(const te::OperationNode& scan, const Stmt& inside, const loop::Bounds& bounds) {
  ScanParts parts;
  for (const loop::Buffer& output : scan.outputs) {
    parts.push_back(RegionRead(inside, output, bounds));
    if (parts.back()) parts.back()->front() = {0, output->shape[0]};
  }
  return parts;
}

std::optional<std::vector<Range>> PartOfStep(const te::OperationNode& scan,
                                             const te::OperationNode& step, const Stmt& readers,
                                             const loop::Bounds& bounds, ScanParts* parts) {
  std::optional<std::vector<Range>> region;
  for (const loop::Buffer& output : step.outputs) {
    const std::optional<std::size_t> update = UpdateOf(scan, output);
    if (update && (*parts)[*update]) Grow(scan, output, *(*parts)[*update], &region);
    if (const auto read = RegionRead(readers, output, bounds)) Grow(scan, output, *read, &region);
  }
  if (!region) return std::nullopt;
  for (const loop::Buffer& output : step.outputs) {
    if (const auto update = UpdateOf(scan, output)) (*parts)[*update] = region;
  }
  region->front() = {scan.axes[0].var, 1};
  return region;
}

bool GrowByStates(const te::OperationNode& scan, const Stmt& step, const loop::Bounds& bounds,
                  ScanParts* parts) {
  bool changed = false;
  for (std::size_t i = 0; i < scan.state.size(); ++i) {
    const loop::Buffer& state = scan.state[i].buffer();
    if (const auto read = RegionRead(step, state, bounds))
      changed = Grow(scan, state, *read, &(*parts)[i]) || changed;
  }
  return changed;
}

Stmt CopyInits(const te::OperationNode& scan, const ScanParts& parts, loop::ExprMutator& inliner) {
  std::vector<Stmt> copies;
  for (std::size_t i = 0; i < scan.outputs.size(); ++i) {
    if (!parts[i]) continue;
    const loop::Buffer& output = scan.outputs[i];
    std::vector<loop::Var> vars;
    std::vector<Expr> indices;
    Expr inside = loop::True();
    for (std::size_t d = 0; d < output->shape.size(); ++d) {
      const Range& range = (*parts[i])[d];
      vars.emplace_back(StrCat(d == 0 ? "t" : "i", d, ".init"));
      const bool is_first = loop::IsConstInt(range.min, 0);
      indices.push_back(is_first ? Expr(vars.back()) : range.min + vars.back());
      if (!is_first || !loop::StructuralEqual(range.extent, output->shape[d]))
        inside = inside && indices[d] >= 0 && indices[d] < output->shape[d];
    }
    Stmt copy = loop::If(inside, loop::Store(output, inliner(scan.init[i][indices]), indices));
    for (std::size_t d = output->shape.size(); d-- > 0;) {
      const Expr& extent = (*parts[i])[d].extent;
      copy = loop::For(vars[d], 0, d == 0 ? loop::Min(scan.init[i].shape()[0], extent) : extent,
                       loop::ForKind::kSerial, copy);
    }
    copies.push_back(copy);
  }
  return loop::Seq(std::move(copies));
}

Stmt UseScanBuffers(const te::OperationNode& scan, const Stmt& step) {
  loop::BufferMap buffers;
  for (std::size_t i = 0; i < scan.outputs.size(); ++i) {
    buffers[scan.state[i].buffer()] = scan.outputs[i];
    buffers[scan.update[i].buffer()] = scan.outputs[i];
  }
  return loop::ReplaceBuffers(step, buffers);
}

namespace {

// Whether the buffer's address is taken. External functions and intrinsics get addresses, and know
// nothing of circular buffers.
bool TakesAddress(const Stmt& stmt, const loop::Buffer& buffer) {
  bool takes = false;
  loop::VisitExprs(stmt, [&](const Expr& e) {
    const auto* address = e.As<loop::AddressNode>();
    takes = takes || (address != nullptr && address->buffer == buffer);
  });
  return takes;
}

}  // namespace

// Step t takes the place of step t - kept, and reads the last kept - 1 steps before t.
std::optional<std::int64_t> StepsKept(const te::OperationNode& scan, std::size_t output,
                                      const Stmt& step, const Stmt& readers,
                                      const loop::Bounds& bounds) {
  const loop::Buffer& buffer = scan.outputs[output];
  const Expr& steps = buffer->shape[0];
  if (TakesAddress(step, buffer) || TakesAddress(readers, buffer)) return std::nullopt;
  std::vector<Expr> needs = {scan.init[output].shape()[0]};
  if (const auto read = RegionRead(step, buffer, bounds))
    needs.push_back(scan.axes[0].var - read->front().min + 1);
  if (const auto read = RegionRead(readers, buffer, bounds))
    needs.push_back(steps - read->front().min);
  std::int64_t kept = 1;
  for (const Expr& need : needs) {
    const Expr simple = loop::Simplify(need);
    const auto* constant = simple.As<loop::IntImmNode>();
    if (constant == nullptr) return std::nullopt;
    kept = std::max(kept, constant->value);
  }
  if (loop::CanProve(steps <= kept, bounds)) return std::nullopt;
  return kept;
}

}  // namespace tenon::schedule
