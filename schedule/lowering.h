// What the parts of lowering share. Only files inside schedule/ include this header.
//
// The parts call each other. Inside the nest of a stage is what is computed at its loops
// (attachments.h), whose nests are made in the same way. Lower joins them.
#ifndef TENON_SCHEDULE_LOWERING_H_
#define TENON_SCHEDULE_LOWERING_H_

#include <functional>
#include <vector>

#include "tenon/schedule/inline.h"
#include "tenon/schedule/nest.h"
#include "tenon/schedule/parameters.h"
#include "tenon/schedule/scan.h"
#include "tenon/schedule/storage.h"

namespace tenon::schedule {

struct Lowering {
  const Schedule& schedule;
  Inliner inliner;
  ScanSteps steps;
  Parameters parameters;
  loop::Bounds bounds = {};  // of symbolic extents
  loop::Bounds ranges = {};  // also of the loops around, while nests are made
  // What is put inside and around the loops of a stage.
  std::function<LoopHooks(const Stage&)> hooks = {};
};

// What the stage computes with, after inlining.
NestBody BodyOf(Lowering& lowering, const Stage& stage);

// The loops of the stage over `region`, with all that is computed inside. Throws InvalidArgument
// for a step of a scan if the region has elements of other steps.
loop::Stmt Nest(Lowering& lowering, const Stage& stage, const std::vector<Range>& region);

// `stmt` with memory for that region of an output of the stage around it.
loop::Stmt AllocateBox(const Stage& stage, const loop::Buffer& buffer,
                       const std::vector<Range>& region, const loop::Stmt& stmt);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_LOWERING_H_
