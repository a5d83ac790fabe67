// A function whose only control flow is calls, cut at the calls into straight-line parts.
//
//   def @f(%x) { %0 = fused(%x); %1 = @g(%0); fused(%0, %1) }
//
// is the part fused(%x), the call of @g, and the part fused(%0, %1). Every kernel goes into the
// first part that has its inputs. Only files of compiler/control include this header.
#ifndef TENON_COMPILER_CONTROL_STRAIGHT_PARTS_H_
#define TENON_COMPILER_CONTROL_STRAIGHT_PARTS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::compiler {

// One tensor of a value: output `index` of what makes it, which is a parameter, a constant, the
// call of a kernel or a call between parts.
struct Leaf {
  ir::Expr maker;
  std::size_t index = 0;
  friend bool operator==(const Leaf&, const Leaf&) = default;
};
struct LeafHash {
  std::size_t operator()(const Leaf& leaf) const {
    return ir::ExprHash()(leaf.maker) * 31 + leaf.index;
  }
};
using Leaves = std::vector<Leaf>;

// Kernels, as a function of tensors that returns a tensor or a tuple of tensors. Null if there are
// no kernels.
struct Part {
  ir::Expr function;
  Leaves inputs, outputs;
};

class StraightParts {
 public:
  // `function` is fused and has checked types. Throws Unimplemented for functions as values.
  explicit StraightParts(const ir::Expr& function);

  // Calls of functions of the module, writes (WriteArguments), cuts (AsCut) and ifs over two calls
  // with parameters as arguments (OutlineBranches), in their order. Part i runs before call i, and
  // the last part after all calls.
  const std::vector<ir::Expr>& calls() const { return calls_; }
  const std::vector<Part>& parts() const { return parts_; }
  // The leaves of an expression of the function.
  const Leaves& LeavesOf(const ir::Expr& e) const { return leaves_.at(e); }
  const Leaves& results() const { return results_; }

 private:
  void Number(const ir::Expr& e);
  std::size_t StageOf(const Leaf& leaf) const;
  void MakeParts();

  std::unordered_map<ir::Expr, Leaves, ir::ExprHash> leaves_;
  std::vector<ir::Expr> kernels_, calls_;
  std::unordered_set<ir::Expr, ir::ExprHash> is_kernel_;
  // The part of a kernel, or the part after a call.
  std::unordered_map<ir::Expr, std::size_t, ir::ExprHash> stages_;
  std::vector<Part> parts_;
  Leaves results_;
};

// The arguments of a call of a kernel that replaces one element along the first axis of an array:
// the array, the place (one int64) and the element. This can be done in place. Empty for all other
// calls.
std::vector<ir::Expr> WriteArguments(const ir::Expr& e);

// The call of a kernel by which an extent that values decide comes in: a cut (take_first) or
// numbers (count_up).
struct RunTimeCut {
  ir::Expr whole;  // null for numbers
  ir::Expr count;
  std::size_t axis = 0;
  std::string extent;  // its variable
  // Used for numbers; see ops/extents/count_up_attrs.h.
  bool is_clamped = false;
  std::string needed_by = {};
};
std::optional<RunTimeCut> AsCut(const ir::Expr& e);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_CONTROL_STRAIGHT_PARTS_H_
