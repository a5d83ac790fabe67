#include "tenon/verify/draw/random_graph.h"

#include <algorithm>

#include "tenon/verify/draw/graph_stages.h"

namespace tenon::verify {
namespace {

using te::Tensor;

void AddStage(GraphDraft& draft) {
  const std::int64_t choice = draft.random().Below(29);
  if (choice >= 27) return AddUpdate(draft);
  if (choice < 9) return AddElementwise(draft);
  if (choice < 17) return AddReduction(draft);
  if (choice < 22) return AddPattern(draft);
  if (choice == 22) return AddExtern(draft);
  if (choice == 23 && AddScan(draft)) return;
  if (choice >= 24) return AddRows(draft);
  AddElementwise(draft);
}

void ChooseOutputs(GraphDraft& draft) {
  std::vector<Tensor> outputs;
  if (draft.last().empty()) AddElementwise(draft);
  outputs.push_back(draft.random().Of(draft.last()));
  for (const Known& known : draft.known()) {
    if (known.tensor.op()->is_placeholder() || known.tensor == outputs[0]) continue;
    const bool is_of_rows = std::find(draft.of_rows().begin(), draft.of_rows().end(),
                                      known.tensor) != draft.of_rows().end();
    if (draft.random().Chance(is_of_rows ? 60 : 15)) outputs.push_back(known.tensor);
  }
  for (const Tensor& output : outputs) {
    for (const Known& known : draft.known()) {
      if (known.tensor == output)
        draft.graph().tolerances.push_back(known.error > 0 ? 8 * known.error + 1e-30 : 0);
    }
  }
  draft.graph().outputs = std::move(outputs);
}

}  // namespace

GraphPlan PlanRandomGraph(std::uint64_t seed) {
  Random random(seed);
  GraphPlan plan{.seed = random.Next()};
  const std::int64_t stages = 1 + random.Below(4);
  for (std::int64_t i = 0; i < stages; ++i) plan.stages.push_back(random.Next());
  return plan;
}

RandomGraph MakeRandomGraph(const GraphPlan& plan) {
  GraphDraft draft(plan.seed);
  draft.MakeExtents();
  const std::int64_t inputs = 1 + draft.random().Below(3);
  for (std::int64_t i = 0; i < inputs; ++i) draft.AddInput();
  if (!draft.graph().sizes.empty()) draft.AddSymbolicInput();
  Random outputs(draft.random().Next());
  for (const std::uint64_t seed : plan.stages) {
    draft.random() = Random(seed);
    AddStage(draft);
  }
  draft.random() = outputs;
  ChooseOutputs(draft);
  return std::move(draft.graph());
}

}  // namespace tenon::verify
