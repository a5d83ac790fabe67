// The kernels of a saved executable in memory. Only files of runtime/ include this header.
//
//   const SavedKernels kernels(MappedFile::Open("net/kernels.so")->bytes(), names);
//   kernels.RequireFits(plan, node, 3, {});
//   kernels.Get(3, {})->Call(buffers, nullptr);
#ifndef TENON_RUNTIME_SAVED_KERNELS_H_
#define TENON_RUNTIME_SAVED_KERNELS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/jit/callable.h"
#include "tenon/runtime/symbolic_executable.h"

namespace tenon::runtime {

// Copies share the code, which stays as long as one of them or a kernel does.
class SavedKernels {
 public:
  // `library` is the whole file: the dynamic linker trusts it. It is copied. Throws DataLoss for
  // what is not a library of kernels of these names, FailedPrecondition for a CPU that lacks a
  // feature, naming it, and ResourceExhausted without memory for the copy.
  SavedKernels(std::string_view library, const std::vector<std::string>& names);

  // Code reads and writes as many bytes as it says, whatever a plan says. Throws DataLoss where the
  // arrays of `node` are others.
  void RequireFits(const Plan& plan, const Node& node, int kernel,
                   const std::vector<std::int64_t>& extents) const;
  // The same of all kernels of a plan for values, which is also verified.
  void RequireFits(const PlanAtValues& at, std::size_t num_constants) const;

  std::shared_ptr<const jit::Callable> Get(int kernel, std::vector<std::int64_t> extents) const;
  // All of them, for those who look at them: with extents of 1.
  std::vector<std::shared_ptr<const jit::Callable>> All() const;

  // How a plan with variables is made into executables.
  SymbolicParts PartsFor(Plan plan, std::vector<NDArray> constants, int threads) const;

 private:
  class Library;
  std::shared_ptr<const Library> library_;
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_SAVED_KERNELS_H_
