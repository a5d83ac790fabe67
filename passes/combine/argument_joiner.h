// Joins what branches read beside the data: the arguments that stand in the same position of each
// branch's next call (combine_branches.h).
//
//   const ArgumentJoiner joiner(values, 1);  // the values are concatenated along axis 1
//   const std::optional<ir::Expr> wide = joiner.Join({a, b});
#ifndef TENON_PASSES_COMBINE_ARGUMENT_JOINER_H_
#define TENON_PASSES_COMBINE_ARGUMENT_JOINER_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::passes {

using Branches = std::vector<ir::Expr>;

class ArgumentJoiner {
 public:
  // `values` are what the branches have computed so far, of known shapes; they must outlive this.
  // They are joined along `axis`, or stacked where there is none.
  ArgumentJoiner(const Branches& values, std::optional<std::size_t> axis);

  // One argument that is broadcast against the joined value as each is against its branch's.
  // Nothing where there is none.
  std::optional<ir::Expr> Join(const Branches& args) const;
  // One value per channel, in the order of the branches.
  ir::Expr JoinChannels(const Branches& biases) const;

 private:
  // The joined axis in an argument of this rank.
  std::optional<std::size_t> AxisOf(std::size_t rank) const;
  bool IsBroadcastAlong(const ir::Expr& arg) const;
  std::optional<ir::Expr> Concatenated(const Branches& args) const;
  std::optional<ir::Expr> Stacked(const Branches& args) const;

  const Branches& values_;
  const std::optional<std::size_t> axis_;
  const std::size_t rank_;
};

}  // namespace tenon::passes

#endif  // TENON_PASSES_COMBINE_ARGUMENT_JOINER_H_
