// The executables of a symbolic model, by the values of its variables: a plan each, while all share
// the memory of runs. The last used ones are kept. Thread-safe.
//
//   if (auto found = bound.Find(values)) return *found;
//   return bound.Keep(values, Make(values));
#ifndef TENON_RUNTIME_BOUND_EXECUTABLES_H_
#define TENON_RUNTIME_BOUND_EXECUTABLES_H_

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "tenon/runtime/executable.h"
#include "tenon/runtime/working_memory.h"

namespace tenon::runtime {

class BoundExecutables {
 public:
  std::optional<Executable> Find(const Dim::Values& values);
  // Several threads may make one for the same values; the first is kept, and given to all.
  Executable Keep(const Dim::Values& values, const Executable& executable);
  const std::shared_ptr<WorkingMemory>& memory() const { return memory_; }

 private:
  struct Bound {
    Dim::Values values;
    Executable executable;
  };
  static constexpr std::size_t kMaxKept = 256;

  const std::shared_ptr<WorkingMemory> memory_ = std::make_shared<WorkingMemory>();
  std::mutex mutex_;
  std::list<Bound> bound_;  // the last used first
  std::map<Dim::Values, std::list<Bound>::iterator> index_;
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_BOUND_EXECUTABLES_H_
