// Chains of transcendental functions against hand-written loops over the same vector mathematics,
// in memory and in cache.
#include <cmath>
#include <span>

#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/benchmarks/vector_math_loops.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

struct Chain {
  const char* name;
  VectorFunction function;
  const char* body;
  bool of_positives = false;
};

constexpr Chain kChains[] = {
    {"exp", VectorFunction::kExp, "exp(%x)"},
    {"tanh", VectorFunction::kTanh, "tanh(%x)"},
    {"erf", VectorFunction::kErf, "erf(%x)"},
    {"log", VectorFunction::kLog, "log(%x)", true},
    {"sigmoid", VectorFunction::kSigmoid, "sigmoid(%x)"},
    {"swish", VectorFunction::kSwish, "%0 = sigmoid(%x); multiply(%x, %0)"},
    {"gelu", VectorFunction::kGelu,
     "%0 = multiply(%x, 0.70710678f); %1 = erf(%0); %2 = add(%1, 1f); %3 = multiply(%x, 0.5f); "
     "multiply(%3, %2)"},
};

Contestants Prepare(const Chain& chain, std::int64_t n, int threads) {
  const Tensor x = RandomArray({n});
  for (float& number : std::span(x.data<float>(), n))
    number = 5 * (chain.of_positives ? std::abs(number) + 0.01F : number);
  const Tensor y = Tensor::Zeros({n}, Float32);
  auto graph = std::make_shared<CompiledGraph>(
      Parse(StrCat("fn (%x: Tensor[(", n, "), float32]) { ", chain.body, " }")),
      runtime::Inputs{{"x", x}});
  const int floor_threads = FloorThreads(8.0 * static_cast<double>(n), threads);
  const auto loop = [=] {
    MapArray(chain.function, y.data<float>(), x.data<float>(), n, floor_threads);
  };
  graph->Call();
  loop();
  RequireClose(graph->result(), y, 1e-5);
  Require(graph->num_kernels() == 1, "the chain is not one kernel");
  return {{Role::kTenon, "one kernel", [graph] { graph->Call(); }},
          {Role::kFloor, "libmvec loop", loop}};
}

}  // namespace

void AddVectorMath(std::vector<Race>& races) {
  for (const Chain& chain : kChains) {
    for (const std::int64_t n : {std::int64_t{1} << 24, std::int64_t{1} << 14}) {
      for (const int threads : {1, 2}) {
        races.push_back(
            {.table = "vector-math",
             .name = StrCat(chain.name, n > (1 << 20) ? ", 16 Mi floats" : ", 16 Ki floats"),
             .threads = threads,
             .bytes = 8.0 * static_cast<double>(n),
             .aim = {.of_floor = 0.9},
             .prepare = [=] { return Prepare(chain, n, threads); }});
      }
    }
  }
}

}  // namespace tenon::benchmarks
