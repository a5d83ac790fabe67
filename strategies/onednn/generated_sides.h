// Generated code after a library's sums.
#ifndef TENON_STRATEGIES_ONEDNN_GENERATED_SIDES_H_
#define TENON_STRATEGIES_ONEDNN_GENERATED_SIDES_H_

#include <vector>

#include "tenon/strategies/strategy.h"
#include "tenon/te/tensor.h"

namespace tenon::strategies::onednn {

DataType ElementsOf(const ir::Type& tensor);

// What the library makes: the anchor's sums or, where they are of bfloat16 numbers and nothing else
// reads them, these sums as bfloat16.
const ir::CallNode& MadeByLibrary(const Group& group);

// Makes the group's results from its parameters (which are added to `arguments`) and from `sums`,
// which are the value of `made`, maybe in another order.
Side After(const Group& group, const te::Tensor& sums, const ir::CallNode& made,
           const te::Tensor& value, std::vector<int>* arguments);

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_GENERATED_SIDES_H_
