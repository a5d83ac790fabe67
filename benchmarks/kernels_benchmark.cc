// Generated kernels beside hand-written loops on the same buffers, in one run. Each benchmark
// checks its result first. Arguments are thread counts.
#include <cmath>
#include <cstdio>

#include <benchmark/benchmark.h>

#include "tenon/benchmarks/baselines.h"
#include "tenon/ir/text_format.h"
#include "tenon/jit/parallel_runtime.h"
#include "tenon/ops/registry.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 24;
constexpr std::int64_t kRows = 16384;
constexpr std::int64_t kColumns = 1024;

Tensor Ramp(const Shape& shape) {
  Tensor tensor = Tensor::Empty(shape, Float32);
  float* data = tensor.data<float>();
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    data[i] = static_cast<float>(i % 1000) * 0.001F - 0.5F;
  return tensor;
}

// The one kernel of a fused graph, called without the session around it.
class OneKernel {
 public:
  explicit OneKernel(const std::string& text)
      : executable_(Compile(ir::ParseModule(text, ops::OpRegistry::Global().Resolver()).value(),
                            {.library = LibraryChoice::kTe})
                        .value()) {}
  bool is_one() const { return executable_.num_kernel_calls() == 1; }
  void Call(void* const* buffers) const { executable_.kernels()[0]->Call(buffers, nullptr); }

 private:
  Executable executable_;
};

const OneKernel& Chain() {
  static const OneKernel kernel(R"(fn (%x: Tensor[(16777216), float32]) {
    %0 = add(%x, 1f);
    %1 = multiply(%0, 0.5f);
    %2 = subtract(%1, 0.25f);
    %3 = maximum(%2, -1f);
    %4 = minimum(%3, 1f);
    %5 = multiply(%4, %4);
    %6 = add(%5, %x);
    nn.relu(%6)
  })");
  return kernel;
}

void ElementwiseChainOf8(benchmark::State& state) {
  const jit::ScopedThreads threads(static_cast<int>(state.range(0)));
  const OneKernel& kernel = Chain();
  const Tensor x = Ramp({kElements});
  const Tensor y = Tensor::Zeros({kElements}, Float32);
  void* buffers[] = {x.raw(), y.raw()};
  kernel.Call(buffers);
  for (std::int64_t i = 0; i < kElements; i += 997) {
    const float v = x.data<float>()[i];
    const float t = std::fmin(std::fmax((v + 1) * 0.5F - 0.25F, -1.0F), 1.0F);
    if (std::fabs(y.data<float>()[i] - std::fmax(t * t + v, 0.0F)) > 1e-5F || !kernel.is_one())
      return state.SkipWithError("wrong result");
  }
  for (auto _ : state) kernel.Call(buffers);
  state.SetBytesProcessed(state.iterations() * kElements * 8);
}
BENCHMARK(ElementwiseChainOf8)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// The yardstick moves the same bytes: it reads one array and writes another.
void HandWrittenCopy(benchmark::State& state) {
  const jit::ScopedThreads threads(static_cast<int>(state.range(0)));
  const Tensor x = Ramp({kElements});
  const Tensor y = Tensor::Zeros({kElements}, Float32);
  for (auto _ : state)
    benchmarks::CopyArray(x.data<float>(), y.data<float>(), kElements,
                          static_cast<int>(state.range(0)));
  state.SetBytesProcessed(state.iterations() * kElements * 8);
}
BENCHMARK(HandWrittenCopy)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void AddTwoArrays(benchmark::State& state) {
  const jit::ScopedThreads threads(static_cast<int>(state.range(0)));
  static const OneKernel kernel(
      "fn (%x: Tensor[(16777216), float32], %y: Tensor[(16777216), float32]) { add(%x, %y) }");
  const Tensor x = Ramp({kElements});
  const Tensor y = Ramp({kElements});
  const Tensor z = Tensor::Zeros({kElements}, Float32);
  void* buffers[] = {x.raw(), y.raw(), z.raw()};
  kernel.Call(buffers);
  if (z.data<float>()[12345] != 2 * x.data<float>()[12345])
    return state.SkipWithError("wrong result");
  for (auto _ : state) kernel.Call(buffers);
  state.SetBytesProcessed(state.iterations() * kElements * 12);
}
BENCHMARK(AddTwoArrays)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void HandWrittenAdd(benchmark::State& state) {
  const Tensor x = Ramp({kElements});
  const Tensor y = Ramp({kElements});
  const Tensor z = Tensor::Zeros({kElements}, Float32);
  for (auto _ : state)
    benchmarks::AddArrays(x.data<float>(), y.data<float>(), z.data<float>(), kElements,
                          static_cast<int>(state.range(0)));
  state.SetBytesProcessed(state.iterations() * kElements * 12);
}
BENCHMARK(HandWrittenAdd)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void SumOverTheLastAxis(benchmark::State& state) {
  const jit::ScopedThreads threads(static_cast<int>(state.range(0)));
  static const OneKernel kernel("fn (%x: Tensor[(16384, 1024), float32]) { sum(%x, axis=[-1]) }");
  const Tensor x = Ramp({kRows, kColumns});
  const Tensor y = Tensor::Zeros({kRows}, Float32);
  void* buffers[] = {x.raw(), y.raw()};
  kernel.Call(buffers);
  for (std::int64_t row = 0; row < kRows; row += 101) {
    double sum = 0;
    for (std::int64_t i = 0; i < kColumns; ++i) sum += x.data<float>()[row * kColumns + i];
    if (std::fabs(y.data<float>()[row] - sum) > 1e-2) return state.SkipWithError("wrong result");
  }
  for (auto _ : state) kernel.Call(buffers);
  state.SetBytesProcessed(state.iterations() * kRows * kColumns * 4);
}
BENCHMARK(SumOverTheLastAxis)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void HandWrittenRowSum(benchmark::State& state) {
  const Tensor x = Ramp({kRows, kColumns});
  const Tensor y = Tensor::Zeros({kRows}, Float32);
  for (auto _ : state)
    benchmarks::RowSum(x.data<float>(), y.data<float>(), kRows, kColumns,
                       static_cast<int>(state.range(0)));
  state.SetBytesProcessed(state.iterations() * kRows * kColumns * 4);
}
BENCHMARK(HandWrittenRowSum)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void Normalise(benchmark::State& state, const OneKernel& kernel, bool sums_to_one) {
  const jit::ScopedThreads threads(static_cast<int>(state.range(0)));
  const Tensor x = Ramp({kRows, kColumns});
  const Tensor y = Tensor::Zeros({kRows, kColumns}, Float32);
  const Tensor one = Tensor::FromVector<float>({kColumns}, std::vector<float>(kColumns, 1.0F));
  const Tensor zero = Tensor::Zeros({kColumns}, Float32);
  void* softmax[] = {x.raw(), y.raw()};
  void* layer_norm[] = {x.raw(), one.raw(), zero.raw(), y.raw()};
  void** buffers = sums_to_one ? softmax : layer_norm;
  kernel.Call(buffers);
  double sum = 0;
  for (std::int64_t i = 0; i < kColumns; ++i) sum += y.data<float>()[7 * kColumns + i];
  if (std::fabs(sum - (sums_to_one ? 1 : 0)) > 1e-3 || !kernel.is_one())
    return state.SkipWithError("wrong result");
  for (auto _ : state) kernel.Call(buffers);
  state.SetBytesProcessed(state.iterations() * kRows * kColumns * 8);
}

void SoftmaxOfRows(benchmark::State& state) {
  static const OneKernel kernel("fn (%x: Tensor[(16384, 1024), float32]) { nn.softmax(%x) }");
  Normalise(state, kernel, true);
}
BENCHMARK(SoftmaxOfRows)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void LayerNormOfRows(benchmark::State& state) {
  static const OneKernel kernel(
      "fn (%x: Tensor[(16384, 1024), float32], %g: Tensor[(1024), float32], "
      "%b: Tensor[(1024), float32]) { nn.layer_norm(%x, %g, %b) }");
  Normalise(state, kernel, false);
}
BENCHMARK(LayerNormOfRows)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenon

BENCHMARK_MAIN();
