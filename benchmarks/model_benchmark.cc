// A whole model: compile time and run time. TENON_MODEL names the ONNX file (scripts/bench sets
// it); the text-angle classifier with an input of 1x3x48x192 is what it is written for.
#include <cstdlib>

#include <benchmark/benchmark.h>

#include "tenon/onnx/import.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

absl::StatusOr<ir::Module> Model() {
  const char* path = std::getenv("TENON_MODEL");
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return onnx_import::LoadOnnx(path == nullptr ? "" : path, {.shapes = {{"x", {1, 3, 48, 192}}},
                                                             .evaluate = strategies::EvaluateCall});
}

void CompileModel(benchmark::State& state) {
  for (auto _ : state) {
    const auto module = Model();
    if (!module.ok()) return state.SkipWithError("TENON_MODEL cannot be imported");
    benchmark::DoNotOptimize(Compile(*module));
  }
}
BENCHMARK(CompileModel)->UseRealTime()->Unit(benchmark::kMillisecond);

void RunModel(benchmark::State& state) {
  const auto module = Model();
  if (!module.ok()) return state.SkipWithError("TENON_MODEL cannot be imported");
  const Executable exe = Compile(*module).value();
  Session session(exe, {.threads = static_cast<int>(state.range(0))});
  const runtime::Inputs inputs = {{"x", Tensor::Zeros({1, 3, 48, 192}, Float32)}};
  for (auto _ : state) benchmark::DoNotOptimize(session.Run(inputs));
  state.counters["kernels"] = exe.num_kernel_calls();
}
BENCHMARK(RunModel)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenon

BENCHMARK_MAIN();
