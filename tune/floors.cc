#include "tenon/tune/floors.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <thread>

#include <immintrin.h>

#include "tenon/ir/visit.h"
#include "tenon/strategies/lower/operations.h"
#include "tenon/support/error.h"

namespace tenon::tune {
namespace {

using Clock = std::chrono::steady_clock;

// With more bytes read for each one written, stores hardly count.
constexpr double kReadsToWrites = 8;

constexpr int kTries = 7;
constexpr double kTrySeconds = 4e-3;

// --- arithmetic: independent chains x = x * m + d in registers, enough to hide the latency

constexpr int kChains = 12;
// With these every chain tends to 1, far from denormals and infinities.
constexpr float kFactor = 0.5F, kTerm = 0.5F;

// Uses what is at the address, so that the compiler cannot drop what made it.
void Keep(const void* address) { asm volatile("" : : "r"(address) : "memory"); }

__attribute__((target("avx512f"))) void Chains512(std::int64_t steps) {
  __m512 x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = _mm512_set1_ps(0.1F * static_cast<float>(c));
  const __m512 m = _mm512_set1_ps(kFactor), d = _mm512_set1_ps(kTerm);
  for (std::int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) x[c] = _mm512_fmadd_ps(x[c], m, d);
  }
  for (const __m512& chain : x) Keep(&chain);
}

__attribute__((target("avx2,fma"))) void Chains256(std::int64_t steps) {
  __m256 x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = _mm256_set1_ps(0.1F * static_cast<float>(c));
  const __m256 m = _mm256_set1_ps(kFactor), d = _mm256_set1_ps(kTerm);
  for (std::int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) x[c] = _mm256_fmadd_ps(x[c], m, d);
  }
  for (const __m256& chain : x) Keep(&chain);
}

void Chains128(std::int64_t steps) {
  __m128 x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = _mm_set1_ps(0.1F * static_cast<float>(c));
  const __m128 m = _mm_set1_ps(kFactor), d = _mm_set1_ps(kTerm);
  for (std::int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) x[c] = _mm_add_ps(_mm_mul_ps(x[c], m), d);
  }
  for (const __m128& chain : x) Keep(&chain);
}

struct ArithmeticLoop {
  void (*run)(std::int64_t steps);
  int lanes;
};
ArithmeticLoop LoopFor(const Target& target) {
  if (target.Has("avx512f") && target.vector_bytes == 64) return {Chains512, 16};
  if (target.Has("avx2") && target.Has("fma")) return {Chains256, 8};
  return {Chains128, 4};
}

// --- time

double SecondsOf(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The least time of a run on all threads at once, each with its own part of the work.
double LeastSeconds(int threads, const std::function<void(int thread)>& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    std::vector<double> seconds(static_cast<std::size_t>(threads));
    {
      std::vector<std::jthread> team;
      for (int t = 0; t < threads; ++t)
        team.emplace_back([&work, &seconds, t] {
          seconds[static_cast<std::size_t>(t)] = SecondsOf([&] { work(t); });
        });
    }
    least = std::min(least, *std::ranges::max_element(seconds));
  }
  return least;
}

// How often to repeat work of so many seconds, so that a try can be measured. A coarse clock may
// say that it took none.
std::int64_t Repeats(double seconds) {
  constexpr double kMinSeconds = 1e-9;
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(kTrySeconds / std::max(seconds, kMinSeconds)));
}

double OperationsPerSecond(const Target& target, int threads) {
  const ArithmeticLoop loop = LoopFor(target);
  const std::int64_t steps =
      1000 * Repeats(LeastSeconds(1, [&](int /*thread*/) { loop.run(1000); }));
  const double seconds = LeastSeconds(threads, [&](int /*thread*/) { loop.run(steps); });
  return 2.0 * kChains * loop.lanes * static_cast<double>(steps) * threads / seconds;
}

enum class Traffic : bool { kRead, kCopied };

// Of `bytes` a thread.
double BytesPerSecond(Traffic traffic, std::size_t bytes, int threads) {
  const std::size_t half = bytes / 2;
  std::vector<std::unique_ptr<char[]>> memory;
  for (int t = 0; t < threads; ++t) {
    memory.push_back(std::make_unique_for_overwrite<char[]>(2 * half));
    std::memset(memory.back().get(), 1, 2 * half);
  }
  const auto move = [&](int thread, std::int64_t times) {
    char* block = memory[static_cast<std::size_t>(thread)].get();
    for (std::int64_t i = 0; i < times; ++i) {
      if (traffic == Traffic::kRead) {
        Keep(std::memchr(block, 2, 2 * half));
      } else {
        std::memcpy(block + (i % 2 == 0 ? half : 0), block + (i % 2 == 0 ? 0 : half), half);
      }
      Keep(block);
    }
  };
  const std::int64_t times = Repeats(LeastSeconds(1, [&](int thread) { move(thread, 1); }));
  const double seconds = LeastSeconds(threads, [&](int thread) { move(thread, times); });
  return 2.0 * static_cast<double>(half) * static_cast<double>(times) * threads / seconds;
}

double BytesOf(const ir::Type& type) {
  if (const auto* tensor = type.As<ir::TensorTypeNode>()) {
    return static_cast<double>(
        NumBytes(ir::StaticShape(type, "a kernel's argument"), tensor->dtype));
  }
  double bytes = 0;
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
    for (const ir::Type& field : tuple->fields) bytes += BytesOf(field);
  }
  return bytes;
}

// The narrowest numbers that the function multiplies.
std::size_t BytesOfOperands(const ir::FunctionNode& function) {
  std::size_t bytes = sizeof(float);
  for (const ir::Expr& param : function.params) {
    const auto* tensor = param.checked_type().As<ir::TensorTypeNode>();
    if (tensor != nullptr && tensor->shape.size() >= 2 && tensor->dtype != Bool)
      bytes = std::min(bytes, tensor->dtype.bytes());
  }
  return bytes;
}

}  // namespace

std::string_view NameOf(Bound bound) {
  switch (bound) {
    case Bound::kArithmetic:
      return "arithmetic";
    case Bound::kNearCache:
      return "L2";
    case Bound::kFarCache:
      return "L3";
    case Bound::kMemory:
      return "memory";
  }
  return "";
}

MachineSpeed MeasureMachine(const Target& target, int threads) {
  MachineSpeed machine;
  machine.threads = threads > 0 ? threads : target.cores;
  const auto team = static_cast<double>(machine.threads);
  const auto l2 = static_cast<double>(target.l2_bytes), l3 = static_cast<double>(target.l3_bytes);
  machine.operations_per_s = OperationsPerSecond(target, machine.threads);
  machine.fitting_bytes = {l2 * team, std::max(l2 * team, l3),
                           std::numeric_limits<double>::infinity()};
  // Half of a cache, which others use, too; in memory, several times what the caches hold.
  const std::array<double, 3> used = {l2 / 2, std::max(l2, l3 / 2 / team), 2 * l3 / team};
  for (std::size_t level = 0; level < used.size(); ++level) {
    const auto bytes = static_cast<std::size_t>(used[level]);
    machine.copied_per_s[level] = BytesPerSecond(Traffic::kCopied, bytes, machine.threads);
    machine.read_per_s[level] = BytesPerSecond(Traffic::kRead, bytes, machine.threads);
  }
  return machine;
}

Work WorkOf(const ir::Expr& function, const Target& target) {
  const auto& node = *function.As<ir::FunctionNode>();
  Work work{.operations = strategies::OperationsOf(node),
            .bytes_written = BytesOf(node.body.checked_type())};
  for (const ir::Expr& param : node.params) work.bytes_read += BytesOf(param.checked_type());
  const std::size_t operand = BytesOfOperands(node);
  if (operand == 1 && target.Has("avx512vnni")) work.products_per_float = 4;
  if (operand == 2 && target.Has("avx512bf16")) work.products_per_float = 2;
  return work;
}

Floor FloorOf(const Work& work, const MachineSpeed& machine) {
  Floor floor{work.operations / (machine.operations_per_s * work.products_per_float),
              Bound::kArithmetic};
  const double bytes = work.bytes_read + work.bytes_written;
  std::size_t level = 0;
  while (bytes > machine.fitting_bytes[level]) ++level;
  const bool mostly_reads = work.bytes_written * kReadsToWrites < work.bytes_read;
  const double moving = bytes / (mostly_reads ? machine.read_per_s : machine.copied_per_s)[level];
  constexpr std::array kBounds = {Bound::kNearCache, Bound::kFarCache, Bound::kMemory};
  if (moving > floor.seconds) floor = {moving, kBounds[level]};
  return floor;
}

}  // namespace tenon::tune
