// Memory of a run's results. It goes to the caller. Once nobody holds it any more, a later run uses
// it again, because filling new pages of the system costs more than most kernels.
//
//   auto memory = std::make_shared<ResultMemory>();
//   NDArray storage = memory->Take(0, bytes);  // comes back when the last copy of it goes
#ifndef TENON_RUNTIME_RESULT_MEMORY_H_
#define TENON_RUNTIME_RESULT_MEMORY_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "tenon/support/ndarray.h"

namespace tenon::runtime {

// Keeps at most one block for each place, which are the results of a model, and a second one that
// is far larger: shapes that take turns find theirs. A block that comes back after this object was
// destroyed is freed. Safe for any number of threads.
class ResultMemory : public std::enable_shared_from_this<ResultMemory> {
 public:
  // An array of at least `bytes` for `place`, and of no more than twice as many: a small result
  // does not hold on to the memory of a large one. Its contents are undefined.
  NDArray Take(std::size_t place, std::size_t bytes);

 private:
  void GiveBack(std::size_t place, NDArray block);

  std::mutex mutex_;
  struct Idle {
    NDArray last, larger;
  };
  std::vector<Idle> idle_;  // by place
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_RESULT_MEMORY_H_
