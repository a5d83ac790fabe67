// Constants in another form. What a kernel wants of its constant arguments, such as weights packed
// in the order in which tiles read, is computed once, when the kernel is made, and not at each run.
//
//   Preparer preparer({weight.op().get()});          // what is constant
//   Tensor packed = preparer.Prepare(te::Compute(...));  // a placeholder, or what was given
#ifndef TENON_STRATEGIES_LOWER_PREPARE_H_
#define TENON_STRATEGIES_LOWER_PREPARE_H_

#include <unordered_set>
#include <vector>

#include "tenon/te/tensor.h"

namespace tenon::strategies {

struct PreparedTensor {
  te::Tensor placeholder;  // what the kernel reads
  te::Tensor computed;     // from nothing but constant placeholders
};

class Preparer {
 public:
  explicit Preparer(std::unordered_set<const te::OperationNode*> constants)
      : constants_(std::move(constants)) {}

  bool IsConstant(const te::Tensor& tensor) const { return constants_.contains(tensor.op().get()); }
  // A placeholder that stands for `tensor` if that reads nothing but constants and its extents are
  // numbers; else `tensor` itself.
  te::Tensor Prepare(const te::Tensor& tensor);
  const std::vector<PreparedTensor>& prepared() const { return prepared_; }

 private:
  std::unordered_set<const te::OperationNode*> constants_;
  std::vector<PreparedTensor> prepared_;
};

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_LOWER_PREPARE_H_
