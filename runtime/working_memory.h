// Memory of runs, which several executables may share: one for each of many shapes, say, of which
// few run at a time. Thread-safe.
//
//   const WorkingMemory::Block block(memory, 4096);
//   block.data();  // 4096 bytes for intermediate results, until the block goes out of scope
//   memory.results().Take(0, 4096);
#ifndef TENON_RUNTIME_WORKING_MEMORY_H_
#define TENON_RUNTIME_WORKING_MEMORY_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tenon/runtime/result_memory.h"
#include "tenon/support/ndarray.h"

namespace tenon::runtime {

class WorkingMemory {
 public:
  // At least so many bytes, aligned as arrays are, that nobody else has.
  class Block {
   public:
    Block(WorkingMemory& memory, std::size_t bytes) : memory_(memory), array_(memory.Take(bytes)) {}
    ~Block() { memory_.Give(std::move(array_)); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    void* data() const { return array_.raw(); }

   private:
    WorkingMemory& memory_;
    NDArray array_;
  };

  ResultMemory& results() { return *results_; }

 private:
  NDArray Take(std::size_t bytes);
  void Give(NDArray array);

  const std::shared_ptr<ResultMemory> results_ = std::make_shared<ResultMemory>();
  std::mutex mutex_;
  std::vector<NDArray> idle_;
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_WORKING_MEMORY_H_
