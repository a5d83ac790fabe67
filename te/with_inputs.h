// A computation of other tensors: the same expressions, where other tensors stand for placeholders.
//
//   Tensor C2 = WithInputs({C}, {{A, x}, {B, y}})[0];  // C, computed from x and y
#ifndef TENON_TE_WITH_INPUTS_H_
#define TENON_TE_WITH_INPUTS_H_

#include <utility>
#include <vector>

#include "tenon/loop/visit.h"
#include "tenon/te/tensor.h"

namespace tenon::te {

// `outputs` with each tensor of `inputs` replaced, and variables of extents by `extents`. The axes
// are new, so that a schedule may hold several copies. Every placeholder except the states of scans
// must be given. Throws InvalidArgument, naming the tensor, if one is missing, if one is given that
// is not a placeholder, or if element types or ranks differ.
std::vector<Tensor> WithInputs(const std::vector<Tensor>& outputs,
                               const std::vector<std::pair<Tensor, Tensor>>& inputs,
                               const loop::ExprMap& extents = {});

}  // namespace tenon::te

#endif  // TENON_TE_WITH_INPUTS_H_
