// Generated kernels, the floors they are measured against, and oneDNN, in turn in one run. Each
// race checks its results first.
#include "tenon/benchmarks/families.h"

int main(int argc, char** argv) {
  std::vector<tenon::benchmarks::Race> races;
  tenon::benchmarks::AddElementwise(races);
  tenon::benchmarks::AddReductions(races);
  tenon::benchmarks::AddVectorMath(races);
  tenon::benchmarks::AddMatmuls(races);
  tenon::benchmarks::AddConvolutions(races);
  tenon::benchmarks::AddLayoutChanges(races);
  tenon::benchmarks::AddOverheads(races);
  return tenon::benchmarks::RunRaces(races, argc, argv);
}
