// The pattern of an operator, read from its tensor expressions.
#ifndef TENON_STRATEGIES_AUTHOR_INFER_PATTERN_H_
#define TENON_STRATEGIES_AUTHOR_INFER_PATTERN_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/ops/op.h"
#include "tenon/te/tensor.h"

namespace tenon::strategies {

// The least pattern that the way from `inputs` to `results` allows. kOpaque for several results,
// several reductions, external operations and scans.
ops::OpPattern PatternOf(const std::vector<te::Tensor>& inputs,
                         const std::vector<te::Tensor>& results);

// What sample calls of an operator show. Samples have tensors of several ranks, types that its
// relation completes, and the attributes' defaults, or another value for one of them. Nothing where
// no sample fits its relation and its compute.
struct SampledPattern {
  ops::OpPattern pattern = ops::OpPattern::kElemWise;  // the greatest of all samples
  // Why `declared` contradicts the samples, where it contradicts each of them.
  std::optional<std::string> contradiction;
};
std::optional<SampledPattern> SamplePattern(const ops::OpDef& op, ops::OpPattern declared);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_AUTHOR_INFER_PATTERN_H_
