// Where the axes of values are while layouts are rewritten. Only files inside passes/layout/
// include this header.
//
//   auto placements = ResultPlacements(before, after, {.now = "NHWC", .old = "NCHW"});
#ifndef TENON_PASSES_LAYOUT_PLACEMENTS_H_
#define TENON_PASSES_LAYOUT_PLACEMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::passes {

// The current and the old layout of a tensor; both empty when its axes have no names.
struct Placement {
  std::string now, old;
  bool is_moved() const { return now != old; }
};
using Placements = std::vector<Placement>;  // one per field of a tuple

inline const ir::TensorTypeNode* TensorOf(const ir::Type& type) {
  return type.As<ir::TensorTypeNode>();
}

// The result's placements under these layouts, checked against the types before and after.
// Nothing when the layouts do not explain the types.
std::optional<Placements> ResultPlacements(const ir::Type& before, const ir::Type& after,
                                           const Placement& placement);

// A tuple of values with known types, and a field of one.
ir::Expr MakeTuple(const std::vector<ir::Expr>& fields);
ir::Expr Item(const ir::Expr& tuple, int index);
ir::Expr Field(const ir::Expr& tuple, std::size_t i);  // the field itself where the tuple is made
// The arguments of the call, with these tensors in place of what it reads, field by field.
std::vector<ir::Expr> Arguments(const ir::CallNode& original, const std::vector<ir::Expr>& values);

}  // namespace tenon::passes

#endif  // TENON_PASSES_LAYOUT_PLACEMENTS_H_
