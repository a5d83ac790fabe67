// Tensors in another layout. Only files in strategies/te/ include this header.
//
//   Tensor nchw = InLayout(x, "NCHW16c", "NCHW", {1, 64, 56, 56});
#ifndef TENON_STRATEGIES_TE_SHAPE_LAYOUT_H_
#define TENON_STRATEGIES_TE_SHAPE_LAYOUT_H_

#include <string>
#include <vector>

#include "tenon/te/tensor.h"

namespace tenon::strategies {

// `x`, which has the layout `from`, in the layout `to` and of that shape; what blocks lack is zero.
te::Tensor InLayout(const te::Tensor& x, const std::string& from, const std::string& to,
                    const std::vector<te::Expr>& shape);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_SHAPE_LAYOUT_H_
