// Slices written at offsets by a library function, for scattering and sparse operators.
//
//   Tensor y = Scatter("add", x, updates, offsets, 1, Float32);  // y[offsets[k]] += updates[k]
#ifndef TENON_STRATEGIES_TE_SHAPE_SCATTER_H_
#define TENON_STRATEGIES_TE_SHAPE_SCATTER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {

// The call's first input, for calls that write nothing.
std::vector<te::Tensor> Unchanged(const TeCall& call);

// The type that elements are joined in, which holds all of theirs, and its number for library
// functions.
std::pair<DataType, std::int64_t> JoinedIn(DataType type);

// `x` as `result`, in which slice k of `row` elements of `updates` goes to offsets[k], which counts
// such slices. A negative offset drops the slice. `mode` is update, add, mul, min or max. Neither
// tensor may be empty.
te::Tensor Scatter(const std::string& mode, const te::Tensor& x, const te::Tensor& updates,
                   const te::Tensor& offsets, const te::Expr& row, DataType result);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_SHAPE_SCATTER_H_
