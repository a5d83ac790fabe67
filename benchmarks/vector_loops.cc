// Compiled for one set of instructions: no function of the standard library may be inlined here, as
// the linker could give this copy of it to code that runs on every CPU.
#include "tenon/benchmarks/vector_loops.h"

#include "tenon/benchmarks/vector_instructions.h"

namespace tenon::benchmarks {
namespace {

void AddRange(const float* a, const float* b, float* c, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const Vector s0 = Load(a + i) + Load(b + i);
    const Vector s1 = Load(a + i + kLanes) + Load(b + i + kLanes);
    const Vector s2 = Load(a + i + 2 * kLanes) + Load(b + i + 2 * kLanes);
    const Vector s3 = Load(a + i + 3 * kLanes) + Load(b + i + 3 * kLanes);
    Store(c + i, s0);
    Store(c + i + kLanes, s1);
    Store(c + i + 2 * kLanes, s2);
    Store(c + i + 3 * kLanes, s3);
  }
  for (; i + kLanes <= n; i += kLanes) Store(c + i, Load(a + i) + Load(b + i));
  if (i < n) StoreFirst(c + i, n - i, LoadFirst(a + i, n - i) + LoadFirst(b + i, n - i));
}

// Eight accumulators cover an add latency of 4 at two loads per cycle.
float SumRange(const float* x, std::int64_t n) {
  Vector s0 = Splat(0), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  std::int64_t i = 0;
  for (; i + 8 * kLanes <= n; i += 8 * kLanes) {
    s0 += Load(x + i);
    s1 += Load(x + i + kLanes);
    s2 += Load(x + i + 2 * kLanes);
    s3 += Load(x + i + 3 * kLanes);
    s4 += Load(x + i + 4 * kLanes);
    s5 += Load(x + i + 5 * kLanes);
    s6 += Load(x + i + 6 * kLanes);
    s7 += Load(x + i + 7 * kLanes);
  }
  for (; i + kLanes <= n; i += kLanes) s0 += Load(x + i);
  if (i < n) s1 += LoadFirst(x + i, n - i);
  return SumOfLanes(((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)));
}

void CopyRange(float* dst, const float* src, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const Vector v0 = Load(src + i), v1 = Load(src + i + kLanes);
    const Vector v2 = Load(src + i + 2 * kLanes), v3 = Load(src + i + 3 * kLanes);
    Store(dst + i, v0);
    Store(dst + i + kLanes, v1);
    Store(dst + i + 2 * kLanes, v2);
    Store(dst + i + 3 * kLanes, v3);
  }
  for (; i + kLanes <= n; i += kLanes) Store(dst + i, Load(src + i));
  if (i < n) StoreFirst(dst + i, n - i, LoadFirst(src + i, n - i));
}

constexpr int kFmaChains = 12;  // at least latency 4 times two units

// With multiplier = addend = 0.5 every chain tends to 1, far from denormals and infinities.
void FmaBlock(float multiplier, float addend, std::int64_t steps) {
  const Vector m = Splat(multiplier), d = Splat(addend);
  Vector x0 = Splat(0.0F), x1 = Splat(0.1F), x2 = Splat(0.2F), x3 = Splat(0.3F);
  Vector x4 = Splat(0.4F), x5 = Splat(0.5F), x6 = Splat(0.6F), x7 = Splat(0.7F);
  Vector x8 = Splat(0.8F), x9 = Splat(0.9F), x10 = Splat(1.1F), x11 = Splat(1.2F);
  for (std::int64_t i = 0; i < steps; ++i) {
    x0 = MultiplyAdd(x0, m, d);
    x1 = MultiplyAdd(x1, m, d);
    x2 = MultiplyAdd(x2, m, d);
    x3 = MultiplyAdd(x3, m, d);
    x4 = MultiplyAdd(x4, m, d);
    x5 = MultiplyAdd(x5, m, d);
    x6 = MultiplyAdd(x6, m, d);
    x7 = MultiplyAdd(x7, m, d);
    x8 = MultiplyAdd(x8, m, d);
    x9 = MultiplyAdd(x9, m, d);
    x10 = MultiplyAdd(x10, m, d);
    x11 = MultiplyAdd(x11, m, d);
  }
  const Vector sum = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7)) + ((x8 + x9) + (x10 + x11));
  // Uses the result, and keeps the compiler from taking this for a pure function and dropping or
  // merging calls.
  asm volatile("" : : "x"(sum) : "memory");
}

constexpr std::int64_t kGroup = 8 * kLanes;

constexpr bool NeedsOuter(VectorFunction f) {
  return f == VectorFunction::kSigmoid || f == VectorFunction::kGelu || f == VectorFunction::kSwish;
}

// The call at the heart of f, and what follows it.
template <VectorFunction F>
inline Vector Inner(Vector x) {
  if constexpr (F == VectorFunction::kExp) return Exp(x);
  if constexpr (F == VectorFunction::kTanh) return Tanh(x);
  if constexpr (F == VectorFunction::kErf) return Erf(x);
  if constexpr (F == VectorFunction::kLog) return Log(x);
  if constexpr (F == VectorFunction::kGelu) return Erf(x * Splat(0.70710678F));
  if constexpr (F == VectorFunction::kSigmoid || F == VectorFunction::kSwish)
    return Exp(Splat(0) - x);
}

template <VectorFunction F>
inline Vector Outer(Vector x, Vector inner) {
  if constexpr (F == VectorFunction::kGelu) {
    const Vector half = x * Splat(0.5F);
    return MultiplyAdd(half, inner, half);
  }
  const Vector one = Splat(1);
  return (F == VectorFunction::kSwish ? x : one) / (one + inner);
}

// No register survives a call, so the calls of some vectors come first and the arithmetic on what
// they give follows. They leave it on the stack: a store to `dst` could look to the CPU like one to
// the `src` that is read next.
template <VectorFunction F>
void MapRange(float* dst, const float* src, std::int64_t n) {
  alignas(64) float inner[kGroup];
  for (std::int64_t group = 0; group < n; group += kGroup) {
    const std::int64_t size = group + kGroup < n ? kGroup : n - group;
    const float* x = src + group;
    float* y = NeedsOuter(F) ? inner : dst + group;
    for (std::int64_t i = 0; i < size; i += kLanes) Store(y + i, Inner<F>(Load(x + i)));
    if constexpr (NeedsOuter(F)) {
      for (std::int64_t i = 0; i < size; i += kLanes)
        Store(dst + group + i, Outer<F>(Load(x + i), Load(inner + i)));
    }
  }
}

void Map(VectorFunction f, float* dst, const float* src, std::int64_t n) {
  switch (f) {
    case VectorFunction::kExp:
      return MapRange<VectorFunction::kExp>(dst, src, n);
    case VectorFunction::kTanh:
      return MapRange<VectorFunction::kTanh>(dst, src, n);
    case VectorFunction::kErf:
      return MapRange<VectorFunction::kErf>(dst, src, n);
    case VectorFunction::kLog:
      return MapRange<VectorFunction::kLog>(dst, src, n);
    case VectorFunction::kSigmoid:
      return MapRange<VectorFunction::kSigmoid>(dst, src, n);
    case VectorFunction::kGelu:
      return MapRange<VectorFunction::kGelu>(dst, src, n);
    case VectorFunction::kSwish:
      return MapRange<VectorFunction::kSwish>(dst, src, n);
  }
}

}  // namespace

#if TENON_LANES == 16
const VectorLoops kAvx512Loops = {
#else
const VectorLoops kAvx2Loops = {
#endif
    AddRange, SumRange, CopyRange, FmaBlock, Map, 2.0 * kLanes* kFmaChains};

}  // namespace tenon::benchmarks
