// Random tensor computations whose results can be compared however they are computed.
//
// Each stage has its own seed, so that a graph with one stage left out is still a graph. For every
// value, the generator keeps a bound of its magnitude, the grid on which it lies while it is exact,
// and a bound of its rounding error. Functions that jump (floor, comparisons, argmax) are applied
// only to exact values, others only within their domain. The bound of the error says how far two
// correct programs may differ. Some inputs hold NaN and infinities; these reach only operations
// whose result they determine in every program.
//
//   RandomGraph graph = MakeRandomGraph({.seed = 7, .stages = {1, 2, 3}});
#ifndef TENON_VERIFY_DRAW_RANDOM_GRAPH_H_
#define TENON_VERIFY_DRAW_RANDOM_GRAPH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "tenon/support/ndarray.h"
#include "tenon/te/tensor.h"

namespace tenon::verify {

struct GraphPlan {
  std::uint64_t seed = 0;             // of inputs, extents and outputs
  std::vector<std::uint64_t> stages;  // the seed of each
};

struct RandomGraph {
  std::vector<te::Tensor> inputs, outputs;
  // Of each input: whether it holds NaN and infinities, and whether it holds denormals and zeros of
  // both signs. Empty: none does.
  std::vector<bool> has_special_values, has_tiny_values;
  // Of inputs in their order; those that are null, or missing, are drawn.
  std::vector<NDArray> values;
  std::vector<double> tolerances;                         // absolute, of each output
  std::vector<std::pair<loop::Var, std::int64_t>> sizes;  // of symbolic extents
};

GraphPlan PlanRandomGraph(std::uint64_t seed);
RandomGraph MakeRandomGraph(const GraphPlan& plan);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_GRAPH_H_
