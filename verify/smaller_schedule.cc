// Greedily: calls are left out from the last to the first, then stages of the graph, as long as a
// finding of the same kind remains.
#include "tenon/verify/smaller_schedule.h"

#include <utility>

namespace tenon::verify {

bool DropCalls(const RandomGraph& graph, std::uint64_t seed, ScheduleCalls* calls,
               ScheduleFinding* finding) {
  bool dropped = false;
  FuzzStatistics ignored;
  for (std::size_t i = calls->size(); i-- > 0;) {
    if (i >= calls->size()) continue;
    ScheduleCalls fewer = *calls;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    const auto remains = CheckCase(graph, seed, &fewer, &ignored);
    if (!remains || remains->kind != finding->kind) continue;
    *calls = std::move(fewer);
    *finding = *remains;
    dropped = true;
  }
  return dropped;
}

bool DropStages(GraphPlan* plan, std::uint64_t seed, ScheduleCalls* calls,
                ScheduleFinding* finding) {
  bool dropped = false;
  FuzzStatistics ignored;
  for (std::size_t i = plan->stages.size(); i-- > 0;) {
    if (plan->stages.size() == 1) break;
    GraphPlan fewer = *plan;
    fewer.stages.erase(fewer.stages.begin() + static_cast<std::ptrdiff_t>(i));
    ScheduleCalls same = *calls;
    const auto remains = CheckCase(MakeRandomGraph(fewer), seed, &same, &ignored);
    if (!remains || remains->kind != finding->kind) continue;
    *plan = std::move(fewer);
    *calls = std::move(same);
    *finding = *remains;
    dropped = true;
  }
  return dropped;
}

}  // namespace tenon::verify
