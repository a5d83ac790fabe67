#include "tenon/strategies/prepare.h"

#include <algorithm>

namespace tenon::strategies {

te::Tensor Preparer::Prepare(const te::Tensor& tensor) {
  const std::vector<te::Tensor> inputs = te::InputsOf(*tensor.op());
  const bool is_constant = std::all_of(inputs.begin(), inputs.end(),
                                       [&](const te::Tensor& input) { return IsConstant(input); });
  if (!is_constant) return tensor;
  prepared_.push_back({te::Placeholder(tensor.shape(), tensor.dtype(), tensor.name()), tensor});
  return prepared_.back().placeholder;
}

}  // namespace tenon::strategies
