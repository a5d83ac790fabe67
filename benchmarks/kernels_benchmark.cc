// Generated kernels, the floors they are measured against, and oneDNN, in turn in one run. Each
// race checks its results first.
#include <benchmark/benchmark.h>
#include <gnu/libc-version.h>

#include "tenon/benchmarks/families.h"
#include "tenon/jit/host_target.h"
#include "tenon/strategies/onednn/adapter.h"
#include "tenon/support/strings.h"

int main(int argc, char** argv) {
  const tenon::Target& host = tenon::jit::HostTarget();
  benchmark::AddCustomContext("vector_bits", tenon::StrCat(host.vector_bytes * 8));
  benchmark::AddCustomContext(
      "kibibytes", tenon::StrCat("L1 ", host.l1_bytes >> 10, ", L2 ", host.l2_bytes >> 10, ", L3 ",
                                 host.l3_bytes >> 10));
  benchmark::AddCustomContext("onednn", tenon::strategies::onednn::LibraryVersion());
  benchmark::AddCustomContext("glibc", gnu_get_libc_version());
  std::vector<tenon::benchmarks::Race> races;
  tenon::benchmarks::AddElementwise(races);
  tenon::benchmarks::AddReductions(races);
  tenon::benchmarks::AddVectorMath(races);
  tenon::benchmarks::AddMatmuls(races);
  tenon::benchmarks::AddConvolutions(races);
  tenon::benchmarks::AddChoices(races);
  tenon::benchmarks::AddHandSchedules(races);
  tenon::benchmarks::AddBytes(races);
  tenon::benchmarks::AddBFloats(races);
  tenon::benchmarks::AddLayoutChanges(races);
  tenon::benchmarks::AddResizes(races);
  tenon::benchmarks::AddFusions(races);
  tenon::benchmarks::AddOverheads(races);
  return tenon::benchmarks::RunRaces(races, argc, argv);
}
