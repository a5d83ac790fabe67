// Halide as the peer of schedules written by hand: three pipelines, each with the same schedule in
// both languages.
#include "tenon/benchmarks/baselines.h"
#include "tenon/benchmarks/halide_pipelines.h"
#include "tenon/benchmarks/race.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

using Maker = std::function<Pipelines(bool parallel)>;

Contestants Prepare(const Maker& make, double flops, int threads) {
  const Pipelines pipelines = make(threads > 1);
  std::vector<NDArray> arrays;
  for (const Shape& shape : pipelines.shapes)
    arrays.push_back(RandomArray(shape, static_cast<int>(arrays.size()) + 1));
  std::vector<NDArray> theirs = arrays;
  theirs.back() = NDArray::Zeros(arrays.back().shape(), Float32);
  pipelines.tenon(arrays);
  pipelines.halide(theirs);
  RequireClose(arrays.back(), theirs.back(), 1e-3);
  Contestants contestants = {{Role::kTenon, "schedule", [=] { pipelines.tenon(arrays); }},
                             {Role::kPeer, HalideName(), [=] { pipelines.halide(theirs); }}};
  if (flops > 0) {
    contestants.push_back({Role::kFloor, "FMA loop", [=] { MultiplyAdds(flops, threads); }});
  } else {
    const NDArray copy = NDArray::Zeros(arrays.back().shape(), Float32);
    contestants.push_back(
        {Role::kFloor, "copy loop",
         [=] { CopyArray(copy.data<float>(), arrays[0].data<float>(), copy.size(), threads); }});
  }
  return contestants;
}

}  // namespace
}  // namespace tenon::benchmarks

int main(int argc, char** argv) {
  namespace benchmarks = tenon::benchmarks;
  std::vector<benchmarks::Race> races;
  const auto add = [&](const std::string& name, double flops, const benchmarks::Maker& make) {
    for (const int threads : {1, 2}) {
      races.push_back({.table = "halide",
                       .name = name,
                       .threads = threads,
                       .flops = flops,
                       .aim = {.of_peer = 1},
                       .prepare = [=] { return benchmarks::Prepare(make, flops, threads); }});
    }
  };
  for (const std::int64_t size : {std::int64_t{512}, std::int64_t{4096}}) {
    add(tenon::StrCat("blur 3 x 3 in two stages, ", size, " x ", size), 0,
        [=](bool parallel) { return benchmarks::Blur(size, size, parallel); });
    add(tenon::StrCat("three diffusion steps, ", size, " x ", size), 0,
        [=](bool parallel) { return benchmarks::Diffusion(size, size, parallel); });
  }
  add("matmul 1024 x 1024 x 1024", 2.0 * 1024 * 1024 * 1024,
      [](bool parallel) { return benchmarks::Matmul(1024, parallel); });
  return RunRaces(races, argc, argv);
}
