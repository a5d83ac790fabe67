// Elementwise chains in memory: bound by bandwidth, so the floor moves the same bytes.
#include <algorithm>

#include "tenon/benchmarks/baselines.h"
#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 24;

Contestants PrepareChain(int threads) {
  const Tensor x = RandomArray({kElements});
  const Tensor copy = Tensor::Zeros({kElements}, Float32);
  auto graph = std::make_shared<CompiledGraph>(Parse(R"(fn (%x: Tensor[(16777216), float32]) {
    %0 = add(%x, 1f);
    %1 = multiply(%0, 0.5f);
    %2 = subtract(%1, 0.25f);
    %3 = maximum(%2, -1f);
    %4 = minimum(%3, 1f);
    %5 = multiply(%4, %4);
    %6 = add(%5, %x);
    nn.relu(%6)
  })"),
                                               runtime::Inputs{{"x", x}});
  graph->Call();
  Tensor expected = Tensor::Empty({kElements}, Float32);
  for (std::int64_t i = 0; i < kElements; ++i) {
    const float v = x.data<float>()[i];
    const float t = std::min(std::max((v + 1) * 0.5F - 0.25F, -1.0F), 1.0F);
    expected.data<float>()[i] = std::max(t * t + v, 0.0F);
  }
  RequireClose(graph->result(), expected, 1e-6);
  Require(graph->num_kernels() == 1, "the chain is not one kernel");
  return {{Role::kTenon, "one kernel", [graph] { graph->Call(); }},
          {Role::kFloor, "copy loop",
           [=] { CopyArray(copy.data<float>(), x.data<float>(), kElements, threads); }}};
}

Contestants PrepareAdd(std::int64_t n, int threads) {
  const Tensor x = RandomArray({n});
  const Tensor y = RandomArray({n}, 2);
  const Tensor z = Tensor::Zeros({n}, Float32);
  auto graph = std::make_shared<CompiledGraph>(
      Parse(StrCat("fn (%x: Tensor[(", n, "), float32], %y: Tensor[(", n,
                   "), float32]) { add(%x, %y) }")),
      runtime::Inputs{{"x", x}, {"y", y}});
  const int floor_threads = FloorThreads(12.0 * static_cast<double>(n), threads);
  const auto add = [=] {
    AddArrays(x.data<float>(), y.data<float>(), z.data<float>(), n, floor_threads);
  };
  graph->Call();
  add();
  RequireClose(graph->result(), z, 0);
  return {{Role::kTenon, "one kernel", [graph] { graph->Call(); }},
          {Role::kFloor, "add loop", add}};
}

}  // namespace

void AddElementwise(std::vector<Race>& races) {
  for (const int threads : {1, 2}) {
    races.push_back({.table = "elementwise",
                     .name = "chain of 8, 16 Mi floats",
                     .threads = threads,
                     .bytes = 8.0 * kElements,
                     .aim = {.of_floor = 0.9},
                     .prepare = [=] { return PrepareChain(threads); }});
    for (const std::int64_t n : {kElements, kElements - 3, std::int64_t{1} << 14}) {
      const std::string name = n == kElements ? "16 Mi" : n < kElements / 2 ? "16 Ki" : "16 Mi - 3";
      races.push_back({.table = "elementwise",
                       .name = StrCat("add of two arrays, ", name, " floats"),
                       .threads = threads,
                       .bytes = 12.0 * static_cast<double>(n),
                       .aim = {.of_floor = 0.9},
                       .prepare = [=] { return PrepareAdd(n, threads); }});
    }
  }
}

}  // namespace tenon::benchmarks
