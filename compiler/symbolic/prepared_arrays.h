// What the kernels of a symbolic model want prepared from constants, packed weights for instance.
// It is made once, since no shape changes it.
#ifndef TENON_COMPILER_SYMBOLIC_PREPARED_ARRAYS_H_
#define TENON_COMPILER_SYMBOLIC_PREPARED_ARRAYS_H_

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "tenon/compiler/plan/kernel_source.h"
#include "tenon/compiler/symbolic/symbolic_kernels.h"
#include "tenon/jit/kernel.h"

namespace tenon::compiler {

class PreparedArrays {
 public:
  // Prepares arrays for the calls in `fused`, by kernels that `code` compiles. Throws what making
  // kernels throws.
  PreparedArrays(const ir::Module& fused, const SymbolicKernels& kernels,
                 const jit::CompileOptions& code);

  // The arrays of a call of the kernel on these constants. Null if it wants none. The caller may
  // know more of the call's arguments to be constants than the constructor did.
  const std::vector<NDArray>* Find(int kernel, const std::vector<NDArray>& constants) const;

 private:
  // A kernel and the addresses of the constants that are prepared for it.
  using Key = std::pair<int, std::vector<const void*>>;

  Key KeyOf(int kernel, const std::vector<NDArray>& constants) const;

  std::vector<std::vector<int>> read_;  // by kernel: the arguments that preparing code reads
  std::map<Key, std::vector<NDArray>> arrays_;
};

// The constants of one plan that are prepared arrays.
class PreparedEntries {
 public:
  // `prepared` may be null. New ones get a node by `add`.
  std::vector<runtime::EntryRef> For(const std::vector<NDArray>* prepared,
                                     const KernelSource::AddConstant& add);
  // Visits the entries that For gave, which may be changed when nodes move.
  void ForEach(const std::function<void(runtime::EntryRef&)>& visit);

 private:
  std::map<const std::vector<NDArray>*, std::vector<runtime::EntryRef>> entries_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_PREPARED_ARRAYS_H_
