// The file in which Linux's perf looks up the names of made code: /tmp/perf-<pid>.map, one line
// "address size name" per function. Only files inside jit/ include this header.
#ifndef TENON_JIT_OBJECT_PERF_MAP_H_
#define TENON_JIT_OBJECT_PERF_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::jit {

struct PerfMapEntry {
  std::uint64_t address, size;
  std::string name;
};

// Does nothing if TENON_PERF_MAP is not set or is 0, or if the file cannot be written. The file
// stays after the process, as perf reads it later; an address that occurs again has the last name.
void AppendToPerfMap(const std::vector<PerfMapEntry>& entries);

}  // namespace tenon::jit

#endif  // TENON_JIT_OBJECT_PERF_MAP_H_
