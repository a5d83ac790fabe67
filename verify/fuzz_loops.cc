#include "tenon/verify/fuzz_loops.h"

#include <utility>
#include <vector>

#include "tenon/jit/host_target.h"
#include "tenon/jit/kernel.h"
#include "tenon/loop/pipeline.h"
#include "tenon/loop/print.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/c_kernel.h"
#include "tenon/verify/check/run_loops.h"
#include "tenon/verify/check/smaller_loops.h"
#include "tenon/verify/draw/random_loops.h"

namespace tenon::verify {
namespace {

using loop::Stmt;

std::vector<NDArray> Copies(const std::vector<NDArray>& arrays) {
  std::vector<NDArray> copies;
  for (const NDArray& array : arrays) copies.push_back(array.Clone());
  return copies;
}

// How a case is compiled.
struct Way {
  LoopKinds kinds = LoopKinds::kAll;
  bool as_c = false;
  jit::CompileOptions options;
  std::string name;
};

Way WayOf(std::uint64_t seed) {
  Random random(seed ^ 0x10095);
  static const std::vector<const char*>& features =
      *new std::vector<const char*>{"", "", "-avx512f", "-avx2,-avx512f", "-avx,-avx512f"};
  Way way;
  const char* const taken = random.Of(features);
  way.kinds = random.Chance(60) ? LoopKinds::kAll : LoopKinds::kLowered;
  way.options.target = *taken == '\0' ? jit::HostTarget() : jit::HostTarget(taken);
  way.as_c = random.Chance(2);  // the C compiler takes longer than all else
  way.options.check_bounds = !way.as_c && random.Chance(25);
  way.options.reassociate_reductions = random.Chance(70);
  way.options.pipeline.verify = true;
  way.name = StrCat(way.kinds == LoopKinds::kAll ? "all transforms" : "code generation",
                    way.as_c ? ", as C" : "", way.options.check_bounds ? ", bounds checked" : "",
                    way.options.reassociate_reductions ? "" : ", sums in order",
                    *taken == '\0' ? "" : ", ", taken);
  return way;
}

// The same function as code generation takes it.
loop::Function Lowered(const loop::Function& function, const Way& way) {
  loop::Function lowered = function;
  if (way.kinds == LoopKinds::kLowered) {
    lowered.body = loop::FlattenBuffers(function.body);
    return lowered;
  }
  loop::Bounds bounds;
  for (const loop::Var& scalar : function.scalars) bounds.Bind(scalar, loop::kExtents);
  lowered.body = loop::RunPipeline(loop::Phase::kLowering, loop::Simplify(function.body, bounds),
                                   {.function = &function,
                                    .bounds = bounds,
                                    .unrolls = {},
                                    .row_loads = loop::RowLoadsFor(way.options.target)},
                                   way.options.pipeline);
  return lowered;
}

// What is wrong with the case whose body is `body`; nothing where it is refused, or its result
// depends on memory that was not written.
class Check {
 public:
  Check(RandomLoops loops, const Way& way) : loops_(std::move(loops)), way_(way) {}

  std::optional<std::string> Of(const Stmt& body) {
    loop::Function function = loops_.function;
    function.body = body;
    const std::vector<NDArray> expected = Copies(loops_.arrays), other = Copies(loops_.arrays);
    RunLoops(function, expected, loops_.scalars, 0);
    RunLoops(function, other, loops_.scalars, 0x4B);
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!expected[i].SameBytes(other[i])) return std::nullopt;
    try {
      const std::vector<NDArray> actual = Copies(loops_.arrays);
      const jit::Kernel kernel = ValueOrThrow(jit::Compile(Lowered(function, way_), way_.options));
      if (way_.as_c) {
        CKernel(function.name, kernel.CSource()).Run(actual);
      } else if (const absl::Status status = kernel.Run(actual); !status.ok()) {
        return StrCat("the kernel gives: ", std::string(status.message()));
      }
      return Compared(function, actual, expected);
    } catch (const Error& error) {
      refused_ = error.code() != absl::StatusCode::kInternal &&
                 error.code() != absl::StatusCode::kDataLoss;
      return refused_ ? std::nullopt : std::optional<std::string>(error.message());
    }
  }
  bool refused() const { return refused_; }

 private:
  static std::optional<std::string> Compared(const loop::Function& function,
                                             const std::vector<NDArray>& actual,
                                             const std::vector<NDArray>& expected) {
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const auto difference = FirstDifference(actual[i], expected[i], 0);
      if (difference)
        return StrCat("element ", ShapeToString(difference->index), " of ",
                      function.buffers[i]->name, " is ", difference->actual, ", not ",
                      difference->expected);
    }
    return std::nullopt;
  }

  const RandomLoops loops_;
  const Way& way_;
  bool refused_ = false;
};

Stmt Reduced(Stmt body, int tries, Check& check, std::string* problem) {
  for (bool smaller = true; smaller && tries > 0;) {
    smaller = false;
    for (const Stmt& candidate : SmallerLoops(body)) {
      if (--tries < 0) break;
      const auto found = check.Of(candidate);
      if (!found) continue;
      body = candidate;
      *problem = *found;
      smaller = true;
      break;
    }
  }
  return body;
}

}  // namespace

void LoopFuzzStatistics::Add(const LoopFuzzStatistics& other) {
  cases += other.cases;
  refusals += other.refusals;
}

std::string LoopFuzzStatistics::ToString() const {
  return StrCat(cases, " cases; ", refusals, " were refused");
}

std::string LoopsOfCase(std::uint64_t seed) {
  const Way way = WayOf(seed);
  return StrCat("loops compiled by ", way.name, ":\n",
                loop::Print(MakeRandomLoops(seed, way.kinds).function));
}

std::optional<std::string> FuzzLoops(std::uint64_t seed,
                                     const std::vector<loop::UserTransform>& transforms,
                                     LoopFuzzStatistics* statistics) {
  Way way = WayOf(seed);
  way.options.pipeline.transforms = transforms;
  RandomLoops loops = MakeRandomLoops(seed, way.kinds);
  Check check(loops, way);
  ++statistics->cases;
  auto problem = check.Of(loops.function.body);
  if (!problem) {
    if (check.refused()) ++statistics->refusals;
    return std::nullopt;
  }
  loops.function.body = Reduced(loops.function.body, way.as_c ? 100 : 400, check, &*problem);
  return StrCat("loops compiled by ", way.name, ":\n", *problem, "\n", loop::Print(loops.function),
                "seed ", seed, "\n");
}

}  // namespace tenon::verify
