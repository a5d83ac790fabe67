// Whole models: compile time, run time and layouts. TENON_MODEL names the ONNX file of the
// text-angle classifier (scripts/bench fetches it), TENON_MODEL_DATA the folder of an input and of
// the result that ONNX Runtime gives for it.
#include <cstdio>
#include <cstdlib>

#include "tenon/benchmarks/baselines.h"
#include "tenon/benchmarks/blocked_layouts.h"
#include "tenon/benchmarks/compile_times.h"
#include "tenon/benchmarks/mixed_precision.h"
#include "tenon/benchmarks/race.h"
#include "tenon/models/densenet.h"
#include "tenon/onnx/import.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tenon.h"

namespace tenon::benchmarks {
namespace {

constexpr double kClassifierFlops = 32.6e6;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  Require(value != nullptr, StrCat(name, " is not set"));
  return value == nullptr ? std::string() : value;
}

ir::Module Classifier() {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return ValueOrThrow(onnx_import::LoadOnnx(
      Environment("TENON_MODEL"),
      {.shapes = {{"x", {1, 3, 48, 192}}}, .evaluate = strategies::EvaluateCall}));
}

Contestants PrepareRun(const ir::Module& module, int threads) {
  const std::string data = Environment("TENON_MODEL_DATA");
  const Executable executable = ValueOrThrow(Compile(module));
  auto session = std::make_shared<Session>(executable, Session::Options{.threads = threads});
  const runtime::Inputs inputs = {{"x", ValueOrThrow(runtime::ReadNpy(data + "/upright.x.npy"))}};
  RequireClose(ValueOrThrow(session->Run(inputs))[0],
               ValueOrThrow(runtime::ReadNpy(data + "/upright.y.npy")), 1e-4);
  return {{Role::kTenon, StrCat(executable.num_kernel_calls(), " kernels"),
           [=] { (void)session->Run(inputs).ok(); }},
          {Role::kFloor, "FMA loop", [=] { MultiplyAdds(kClassifierFlops, threads); }}};
}

Contestants PrepareCompile() {
  return {
      {Role::kTenon, "import, passes, plan, code", [] { ValueOrThrow(Compile(Classifier())); }}};
}

std::vector<Race> Races() {
  const ir::Module module = Classifier();
  std::vector<Race> races;
  AddCompileTimes("classifier", module, races);
  AddPassTimes("densenet121", models::DenseNet121(), 0.1, races);
  AddGraphSizes(races);
  races.push_back({.table = "compile",
                   .name = "the classifier from its ONNX file",
                   .threads = 2,
                   .prepare = PrepareCompile});
  for (const int threads : {1, 2}) {
    races.push_back({.table = "model",
                     .name = "text-angle classifier, 1 x 3 x 48 x 192",
                     .threads = threads,
                     .flops = kClassifierFlops,
                     .aim = {.of_peer = 1.3},
                     .prepare = [=] { return PrepareRun(module, threads); }});
  }
  AddBlockedLayouts(races);
  AddMixedPrecision(races);
  return races;
}

}  // namespace
}  // namespace tenon::benchmarks

int main(int argc, char** argv) {
  try {
    return tenon::benchmarks::RunRaces(tenon::benchmarks::Races(), argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
