// The kernels of a model beside the floors of their times.
#ifndef TENON_TOOLS_FLOORS_REPORT_H_
#define TENON_TOOLS_FLOORS_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/tune/best.h"
#include "tenon/tune/floors.h"

namespace tenon::tools {

// The least time of each node, by its name, in nanoseconds.
std::map<std::string, std::int64_t> LeastTimes(const Executable& exe, const runtime::Inputs& inputs,
                                               int repeat);

struct NodeFloor {
  std::string node, implementation, origins;
  double seconds = 0;
  tune::Work work;
  tune::Floor floor;
  std::optional<tune::KnownBest> best = std::nullopt;  // nothing: no choice for it was raced
};
// Of each kernel call that was timed, those that lose most time to their floor first. `extents` are
// the values of the model's variables in the timed runs, `records` those of the target.
std::vector<NodeFloor> FloorsOf(const Lowered& lowered,
                                const std::map<std::string, std::int64_t>& times,
                                const Dim::Values& extents, const Target& target,
                                const tune::MachineSpeed& machine,
                                const std::vector<tune::Record>& records = {});

std::string FloorsText(const std::vector<NodeFloor>& nodes, const tune::MachineSpeed& machine);
// {"machine": {...}, "kernels": [{"node", "implementation", "origins", "seconds", "floor_s",
// "bound", "operations", "bytes", "best": null or {"choice", "ratio", "raced"}}]}
std::string FloorsJson(const std::vector<NodeFloor>& nodes, const tune::MachineSpeed& machine);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_FLOORS_REPORT_H_
