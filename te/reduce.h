// Reductions: over which axes, and with what.
//
//   IterVar k = ReduceAxis(0, 64, "k");
//   Tensor C = Compute({m}, [&](Var i) { return Sum(A(i, k.var), {k}); }, "C");
#ifndef TENON_TE_REDUCE_H_
#define TENON_TE_REDUCE_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/te/tensor.h"

namespace tenon::te {

IterVar ReduceAxis(const Expr& min, const Expr& extent, std::string name = "k");

// Without elements the results are 0, 1, the lowest and the highest value of the type.
Reduction Sum(const Expr& source, std::vector<IterVar> axes);
Reduction Prod(const Expr& source, std::vector<IterVar> axes);
Reduction Max(const Expr& source, std::vector<IterVar> axes);
Reduction Min(const Expr& source, std::vector<IterVar> axes);
// The maximum that ignores NaN, so that a step is one instruction. It is for readers that meet the
// NaN in another way. Without numbers it is the lowest value of the type.
Reduction MaxOfNumbers(const Expr& source, std::vector<IterVar> axes);
// Reductions of bools.
Reduction All(const Expr& source, std::vector<IterVar> axes);
Reduction Any(const Expr& source, std::vector<IterVar> axes);
// Reductions of pairs (index, value), to the index of the extreme value. Among equal values it is
// the first index, or the last one if `select_last`.
Reduction ArgMax(const Expr& index, const Expr& value, std::vector<IterVar> axes,
                 bool select_last = false);
Reduction ArgMin(const Expr& index, const Expr& value, std::vector<IterVar> axes,
                 bool select_last = false);

// A user's reducer over tuples: `combine(lhs, rhs)` gives as many values as there are types,
// `identity` the values of no elements. If it is not commutative, as in "the last one that is not
// zero", or not associative, as in "half of the sum", say so by `is_commutative`. Terms are then
// joined one by one in their order, and schedules refuse another order. They try what is declared
// on samples (te/reducer_laws.h). Throws InvalidArgument when the numbers or types do not agree.
Combiner MakeCombiner(std::string name, const std::vector<DataType>& types,
                      const std::function<std::vector<Expr>(const std::vector<Var>&,
                                                            const std::vector<Var>&)>& combine,
                      std::vector<Expr> identity, bool is_commutative = true);
Reduction Reduce(const Combiner& combiner, std::vector<Expr> source, std::vector<IterVar> axes);

// What else a reduction may say, in any order. Each function throws InvalidArgument for a value of
// the wrong type or number.
//
// Terms for which `condition` is false are left out, and what they would read is not read.
Reduction Where(Reduction reduction, const Expr& condition);
// Elements start as these values, functions of the data axes, in place of the identity.
Reduction StartingAt(Reduction reduction, std::vector<Expr> initial);
// An update: each term goes to the element at these indices, which may be computed from data, one
// after the other in the order of the reduce axes. A term whose index lies outside the tensor is
// left out. An index that is the compute's own axis stays one. Of the compute's axes, the terms may
// use only these.
//
//   Tensor histogram = Compute({rows, 64}, [&](Var y, Var) {
//     return Into(Sum(Cast(Int32, 1), {x}), {y, image(y, x.var)});
//   });
Reduction Into(Reduction reduction, std::vector<Expr> indices);

}  // namespace tenon::te

#endif  // TENON_TE_REDUCE_H_
