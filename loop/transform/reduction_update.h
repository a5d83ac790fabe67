// One iteration of a reduction's loop, taken apart into what it takes in and how results change.
//
//   if (const auto update = TakeApart(loop)) JoinWith(*update, {value});
#ifndef TENON_LOOP_TRANSFORM_REDUCTION_UPDATE_H_
#define TENON_LOOP_TRANSFORM_REDUCTION_UPDATE_H_

#include <optional>
#include <utility>
#include <vector>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/stmt.h"

namespace tenon::loop {

// The stores are those of the loop that was taken apart, which must outlive this. Without `joined`
// there is one, of `r op value`.
struct ReductionUpdate {
  std::vector<std::pair<Var, Expr>> values;  // of this iteration, one per store
  std::vector<std::pair<Var, Expr>> joined;  // with the results so far
  std::vector<const StoreNode*> stores;
};

// Nothing if the body does more than that, or if it is not known what it does.
std::optional<ReductionUpdate> TakeApart(const ForNode& loop);

// The update with `values` in place of the iteration's.
Stmt JoinWith(const ReductionUpdate& update, const std::vector<Expr>& values);

// Simpler forms of an update whose results so far come from this loop alone, and one of whose
// values, such as the index of argmax, rises with the loop's variable.
struct OrderedUpdate {
  ReductionUpdate of_later;  // takes in a later iteration: the old index is the smaller one
  ReductionUpdate of_any;    // joins results of any two iterations
};
// Nothing if no value rises. `bounds` holds the variables around the loop and its own.
std::optional<OrderedUpdate> InOrder(const ReductionUpdate& update, const Var& var,
                                     const Bounds& bounds);

}  // namespace tenon::loop

#endif  // TENON_LOOP_TRANSFORM_REDUCTION_UPDATE_H_
