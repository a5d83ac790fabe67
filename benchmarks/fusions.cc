// Pieces of models fused in three ways: extended (what the table is about), by the reference's rule
// (the peer) and not at all (the floor, for want of a better word). All three give the same
// results.
#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/benchmarks/fusion_snippets.h"

namespace tenon::benchmarks {
namespace {

// Times of equal code differ by this much.
constexpr double kNoise = 0.95;
constexpr double kTolerance = 2e-5;

Contestants Prepare(const Snippet& snippet) {
  const ir::Module module = Parse(snippet.text);
  const runtime::Inputs inputs = RandomInputs(module);
  const auto compile = [&](const CompileOptions& options) {
    return std::make_shared<CompiledGraph>(module, inputs, options);
  };
  // Level 0 folds no constants either, of which the snippets have none.
  const auto unfused = compile({.opt_level = 0});
  const auto relay = compile({.fusion = FusionMode::kRelay});
  const auto extended = compile({.fusion = FusionMode::kExtended});
  const std::vector<Tensor> expected = unfused->Run(inputs);
  for (const auto& graph : {relay, extended}) {
    const std::vector<Tensor> ours = graph->Run(inputs);
    for (std::size_t i = 0; i < expected.size(); ++i)
      RequireClose(ours[i], expected[i], kTolerance);
  }
  return {{Role::kTenon, "extended", [extended] { extended->Call(); }},
          {Role::kPeer, "relay groups", [relay] { relay->Call(); }},
          {Role::kFloor, "unfused", [unfused] { unfused->Call(); }}};
}

}  // namespace

void AddFusions(std::vector<Race>& races) {
  for (const Snippet& snippet : FusionSnippets())
    AddOnOneAndTwoThreads(races, {.table = "fusion",
                                  .name = snippet.name,
                                  .aim = {.of_floor = kNoise, .of_peer = kNoise},
                                  .prepare = [&snippet] { return Prepare(snippet); }});
}

}  // namespace tenon::benchmarks
