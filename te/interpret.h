// A naive interpreter of tensor expressions: each operation in full, one after the other.
//
// It shares no code with schedules, lowering or code generation, so it is the oracle of their
// tests; graphs fold their constants with it. float32 results are rounded after each operation of
// an expression; sums go through the reduction axes in order.
//
//   std::vector<NDArray> c = Interpret({C}, {{A, a}, {B, b}});
#ifndef TENON_TE_INTERPRET_H_
#define TENON_TE_INTERPRET_H_

#include <utility>
#include <vector>

#include "tenon/support/ndarray.h"
#include "tenon/te/tensor.h"

namespace tenon::te {

// `inputs` gives the value of every placeholder that is read; symbolic extents are taken from their
// shapes. External functions are called. Throws InvalidArgument for a missing input or one of
// another type or shape, NotFound for an external function that this process does not have.
std::vector<NDArray> Interpret(const std::vector<Tensor>& outputs,
                               const std::vector<std::pair<Tensor, NDArray>>& inputs);

// What Interpret would take. A step is one element of one operation, or one term of its sum. Bytes
// are those of all operations' results. Both are infinite if an extent is symbolic.
struct Cost {
  double steps = 0;
  double bytes = 0;
};
Cost CostToInterpret(const std::vector<Tensor>& outputs);

}  // namespace tenon::te

#endif  // TENON_TE_INTERPRET_H_
