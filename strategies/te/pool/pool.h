// What the files of pooling share. Only files in strategies/te/pool/ include this header.
#ifndef TENON_STRATEGIES_TE_POOL_POOL_H_
#define TENON_STRATEGIES_TE_POOL_POOL_H_

#include <vector>

#include "tenon/strategies/te_compute.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {

// te::Max or te::Sum.
using Reducer = te::Reduction (*)(const te::Expr& source, std::vector<te::IterVar> axes);

// The lowest value of a type: what lies outside of an image whose greatest element is wanted.
te::Expr LowestOf(DataType type);
// The elements in a type that holds sums of `count` of them.
te::Tensor ForMeans(const te::Tensor& x, std::int64_t count);

// nn.max_pool1d to 3d and nn.avg_pool1d to 3d.
void AttachWindowPools(ops::OpRegistry& registry);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_POOL_POOL_H_
