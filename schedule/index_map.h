// One-to-one maps between index spaces, for buffer layouts.
//
//   IndexMap tiled({n, m}, [](const std::vector<Var>& i) {
//     return std::vector<Expr>{FloorDiv(i[0], 4), i[1], FloorMod(i[0], 4)};
//   });
#ifndef TENON_SCHEDULE_INDEX_MAP_H_
#define TENON_SCHEDULE_INDEX_MAP_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/loop/visit.h"

namespace tenon::schedule {

using LayoutFunction = std::function<std::vector<loop::Expr>(const std::vector<loop::Var>&)>;

struct IndexMap {
  std::vector<loop::Var> from;
  std::vector<loop::Expr> to;

  std::vector<loop::Expr> operator()(const std::vector<loop::Expr>& indices) const;
};

// The way back, and the extents of the indices that `map` gives.
struct InverseMap {
  std::vector<loop::Var> from;
  std::vector<loop::Expr> to;
  std::vector<std::int64_t> extents;
  // For each index that it gives, whether some indices of the map lead to none of the box, because
  // the layout has room for more.
  std::vector<bool> has_padding;
};

// `map` over the box of the given extents, inverted. Each index that it gives must be a sum of
// multiples of indices, or of FloorDiv and FloorMod of them by constants, that counts through its
// values without a gap. All together must take every index apart completely; with padding they may
// give more. If not, throws InvalidArgument with `who` and the reason.
InverseMap Invert(const std::string& who, const IndexMap& map,
                  const std::vector<std::int64_t>& extents, bool may_pad = false);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_INDEX_MAP_H_
