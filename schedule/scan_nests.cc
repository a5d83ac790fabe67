// A step computes what is not placed elsewhere, last stages first, for the part that is needed. It
// needs what it reads of earlier states, so the part grows until it is closed.
#include "tenon/schedule/scan_nests.h"

#include <algorithm>

#include "tenon/schedule/needed_region.h"

namespace tenon::schedule {

using loop::Stmt;

namespace {

// `stmt` with memory for the part of the output around it, or for its last steps.
Stmt AllocateSteps(const Stage& scan, const loop::Buffer& output, std::vector<Range> part,
                   std::optional<std::int64_t> kept, const Stmt& stmt) {
  if (!kept) return AllocateBox(scan, output, part, stmt);
  part.front().extent = *kept;
  const Box box(scan, output, part, 1, 0);
  return loop::Allocate(box.memory(), box.Move(stmt, MinsOf(part)));
}

}  // namespace

Stmt ScanNests::Root(const Stage& scan) {
  const te::OperationNode& op = *scan.op();
  ScanParts parts = WholeParts(op);
  const Stmt step = UseScanBuffers(op, Step(scan, &parts));
  root_steps_.emplace(&scan, step);
  return loop::Seq({CopyInits(op, WholeParts(op), lowering_.inliner),
                    MakeTimeNest(scan, step, lowering_.hooks(scan))});
}

Stmt ScanNests::Step(const Stage& scan, ScanParts* parts) {
  const te::OperationNode& op = *scan.op();
  const std::vector<const Stage*>& steps = lowering_.steps.Of(scan);
  Stmt body = loop::Seq({});
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    const Stage& step = **it;
    const std::vector<loop::Buffer>& outputs = step.op()->outputs;
    const auto is_update = [&](const loop::Buffer& b) { return IsUpdateOf(op, b); };
    if (std::any_of(outputs.begin(), outputs.end(), is_update)) {
      const auto region = PartOfStep(op, *step.op(), body, lowering_.bounds, parts);
      if (!region) continue;
      body = loop::Seq({Nest(lowering_, step, *region), body});
      for (const loop::Buffer& buffer : outputs) {
        if (!is_update(buffer)) body = AllocateBox(step, buffer, *region, body);
      }
    } else if (step.placement() == Stage::Placement::kRoot ||
               (step.placement() == Stage::Placement::kAt && &step.attach_stage() == &scan)) {
      // If only a part of the results is needed, nobody may need a state, nor what only that is
      // made from.
      const bool is_part = std::any_of(parts->begin(), parts->end(),
                                       [](const auto& part) { return !part.has_value(); });
      const auto is_read = [&](const loop::Buffer& b) {
        return RegionRead(body, b, lowering_.bounds).has_value();
      };
      if (!is_part || std::any_of(outputs.begin(), outputs.end(), is_read))
        body = attachments_.PlacePlainly(step, body);
    }
  }
  return body;
}

Stmt ScanNests::Place(const Stage& scan, const Stmt& inside) {
  const te::OperationNode& op = *scan.op();
  const loop::Bounds& bounds = lowering_.bounds;
  ScanParts parts = PartsRead(op, inside, bounds);
  if (std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part.has_value(); }))
    RegionNeeded(scan, inside, bounds);  // says that it is not read
  Stmt step = Step(scan, &parts);
  while (GrowByStates(op, step, bounds, &parts)) step = Step(scan, &parts);
  step = UseScanBuffers(op, step);
  Stmt all = loop::Seq({CopyInits(op, parts, lowering_.inliner),
                        MakeTimeNest(scan, step, lowering_.hooks(scan)), inside});
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (!parts[i]) continue;
    all =
        AllocateSteps(scan, op.outputs[i], *parts[i], StepsKept(op, i, step, inside, bounds), all);
  }
  return all;
}

Stmt ScanNests::AllocateRoot(const Stage& scan, std::size_t output, const Stmt& readers,
                             const Stmt& stmt) {
  const loop::Buffer& buffer = scan.op()->outputs[output];
  const Stmt& step = root_steps_.at(&scan);
  return AllocateSteps(scan, buffer, WholeRegion(buffer),
                       StepsKept(*scan.op(), output, step, readers, lowering_.bounds), stmt);
}

}  // namespace tenon::schedule
