// The kernels of a plan: one for all calls of equal functions.
#ifndef TENON_COMPILER_PLAN_KERNEL_TABLE_H_
#define TENON_COMPILER_PLAN_KERNEL_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/compiler/plan/unique_names.h"

namespace tenon::compiler {

// Whether the lists hold the same arrays, not only equal ones.
bool SameArrays(const std::vector<NDArray>& a, const std::vector<NDArray>& b);

class KernelTable {
 public:
  // Both must outlive the table, which adds to `kernels`.
  KernelTable(const strategies::StrategyOptions& options, std::vector<LoweredKernel>* kernels)
      : options_(options), kernels_(*kernels) {}

  // A kernel that For will be asked for: its arguments.
  struct Request {
    ir::Expr function;
    std::string name;
    std::vector<NDArray> constants;
    std::uint64_t hash;
  };
  // Makes the kernels of the requests on several threads, so that For finds them made. What cannot
  // be made is left to For, which says why.
  void MakeAhead(const std::vector<Request>& requests);

  // The position of the kernel of `function`, a fused function with structural hash `hash`, in the
  // list. `constants` are its arguments (strategies::Group); a kernel is shared unless it holds
  // constants that differ. A new one is called `name`, or that and a number.
  int For(const ir::Expr& function, const std::string& name, const std::vector<NDArray>& constants,
          std::uint64_t hash);

  // Drops the functions and constants. Kernels asked for later are new ones.
  void Forget() {
    known_.clear();
    made_.clear();
  }

 private:
  struct Known {
    ir::Expr function;
    std::vector<NDArray> constants;
    int kernel;
  };
  struct Made {
    Request request;
    std::optional<strategies::Choice> choice;  // none where it could not be made
  };

  strategies::Choice Choose(const Request& request) const;
  // Takes what was made ahead for an equal request with as many constants. It is given only once.
  std::optional<Made> TakeMade(const Request& request);

  const strategies::StrategyOptions& options_;
  std::vector<LoweredKernel>& kernels_;
  std::unordered_map<std::uint64_t, std::vector<Known>> known_;
  std::unordered_map<std::uint64_t, std::vector<Made>> made_;
  UniqueNames names_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_KERNEL_TABLE_H_
