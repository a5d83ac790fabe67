// How fast a kernel could be at best on this machine: the floors of its time.
//
// A kernel takes at least as long as its arithmetic in registers, and at least as long as reading
// its arguments and writing its results once, from the nearest memory that holds them all. The
// machine's speeds are measured, not looked up (Williams et al., "Roofline", 2009).
//
//   MachineSpeed machine = MeasureMachine(target, 1);
//   Floor floor = FloorOf(work, machine);  // floor.seconds, floor.bound
#ifndef TENON_TUNE_FLOORS_H_
#define TENON_TUNE_FLOORS_H_

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "tenon/compiler/compile.h"

namespace tenon::tune {

// What takes the time of a kernel that is at its floor.
enum class Bound { kArithmetic, kNearCache, kFarCache, kMemory };
std::string_view NameOf(Bound bound);  // "arithmetic", "L2", "L3", "memory"

struct MachineSpeed {
  int threads = 1;
  double operations_per_s = 0;  // of float32; a multiply-add is two
  // Bytes per second that a copy reads and writes together, and that a search for a byte reads,
  // with all of them in the caches of the second level, in that of the third, and in memory; and
  // how many bytes fit there.
  std::array<double, 3> copied_per_s{}, read_per_s{};
  std::array<double, 3> fitting_bytes{};
};

// Takes about half a second. The speeds are the best of several short runs, so that other programs
// matter little.
MachineSpeed MeasureMachine(const Target& target, int threads);

struct Work {
  double operations = 0;                     // strategies/lower/operations.h
  double bytes_read = 0, bytes_written = 0;  // of arguments and results, each once
  // How many times as many products of the operands' type the CPU does as of float32.
  double products_per_float = 1;
};
// Of a fused function of static shapes, which must have checked types.
Work WorkOf(const ir::Expr& function, const Target& target);

struct Floor {
  double seconds = 0;
  Bound bound = Bound::kArithmetic;
};
// Moving is as fast as a copy, or as a search where results are small beside arguments.
Floor FloorOf(const Work& work, const MachineSpeed& machine);

}  // namespace tenon::tune

#endif  // TENON_TUNE_FLOORS_H_
