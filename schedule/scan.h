// What lowering knows of the scans of a schedule (te/scan.h). Only files inside schedule/ include
// this header.
//
// Each step of a scan computes its updates and whatever is between them and the states. Those
// stages have no place outside the loop over time.
#ifndef TENON_SCHEDULE_SCAN_H_
#define TENON_SCHEDULE_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/loop/stmt.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/region.h"
#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

class ScanSteps {
 public:
  // Throws InvalidArgument for a stage of two scans, for a state that is read outside its scan, and
  // for an output that only exists inside a scan.
  explicit ScanSteps(const Schedule& schedule);

  bool IsState(const Stage& stage) const { return states_.contains(&stage); }
  bool IsStep(const Stage& stage) const { return scan_of_.contains(&stage); }
  // Stages that one step of `scan` computes, producers first.
  const std::vector<const Stage*>& Of(const Stage& scan) const { return steps_.at(&scan); }
  // Throws InvalidArgument if `region` of a step has elements of steps other than the one that
  // runs: those before the first have no states to read. `ranges` has those of the loops around it.
  void RequireOneStep(const Stage& stage, const std::vector<Range>& region,
                      const loop::Bounds& ranges) const;

 private:
  void Collect(const Schedule& schedule, const Stage& scan);

  std::unordered_map<const Stage*, std::vector<const Stage*>> steps_;
  std::unordered_map<const Stage*, const Stage*> scan_of_;
  std::unordered_set<const Stage*> states_;
};

// Whether the stage computes an update of the scan.
bool IsUpdateOf(const te::OperationNode& scan, const loop::Buffer& buffer);
// For each output of a scan, the part that is computed in all steps. Its first dimension is whole.
// Nothing for an output that nobody needs.
using ScanParts = std::vector<std::optional<std::vector<Range>>>;
ScanParts WholeParts(const te::OperationNode& scan);
// What `inside` reads of the outputs, in all steps.
ScanParts PartsRead(const te::OperationNode& scan, const loop::Stmt& inside,
                    const loop::Bounds& bounds);
// What a step needs to compute of `step`, an operation with an update among its outputs: the parts
// of these outputs that are wanted, and what `readers`, the rest of the step, reads. Nothing if
// that is empty. `parts` grow by what they do not have.
std::optional<std::vector<Range>> PartOfStep(const te::OperationNode& scan,
                                             const te::OperationNode& step,
                                             const loop::Stmt& readers, const loop::Bounds& bounds,
                                             ScanParts* parts);
// Adds what the step reads of earlier states. Returns whether that was not there yet.
bool GrowByStates(const te::OperationNode& scan, const loop::Stmt& step, const loop::Bounds& bounds,
                  ScanParts* parts);
// Copies the given first steps to the scan's buffers. What is computed inline is computed here.
loop::Stmt CopyInits(const te::OperationNode& scan, const ScanParts& parts,
                     loop::ExprMutator& inliner);
// Replaces states and updates by the scan's buffers.
loop::Stmt UseScanBuffers(const te::OperationNode& scan, const loop::Stmt& step);

// How many steps of output `output` memory must hold at a time, if that is a constant less than
// all. Then `step`, which computes step `t`, reads only the last ones, and so does `readers`, which
// runs after all steps.
std::optional<std::int64_t> StepsKept(const te::OperationNode& scan, std::size_t output,
                                      const loop::Stmt& step, const loop::Stmt& readers,
                                      const loop::Bounds& bounds);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_SCAN_H_
