#include "tenon/strategies/lower/prepare.h"

#include <algorithm>

#include "tenon/strategies/planned_extent.h"

namespace tenon::strategies {

te::Tensor Preparer::Prepare(const te::Tensor& tensor) {
  const std::vector<te::Tensor> inputs = te::InputsOf(*tensor.op());
  const bool is_constant = std::all_of(inputs.begin(), inputs.end(),
                                       [&](const te::Tensor& input) { return IsConstant(input); });
  // What is computed once has one size, and an extent of the other operand may say the same size.
  const bool has_known_size = std::ranges::all_of(tensor.shape(), IsNumber);
  if (!is_constant || !has_known_size) return tensor;
  prepared_.push_back({te::Placeholder(tensor.shape(), tensor.dtype(), tensor.name()), tensor});
  return prepared_.back().placeholder;
}

}  // namespace tenon::strategies
