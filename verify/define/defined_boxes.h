// Boxes by their corners, and which of a list are kept. Boxes are looked at by falling score, equal
// scores in order, and each drops later ones that overlap it by a part of their union. Only
// verify/define_*.cc include this header.
#ifndef TENON_VERIFY_DEFINE_DEFINED_BOXES_H_
#define TENON_VERIFY_DEFINE_DEFINED_BOXES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>

#include "tenon/ops/ints.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {

// A comparison that a rounding may turn is not known.
inline constexpr Real kDoubt = 1e-4L;
inline bool IsDoubtful(Real a, Real b) {
  return a != b && std::abs(a - b) < kDoubt * (1 + std::abs(b));
}

// Axis 0 and 1 are whatever the first two numbers are of.
struct Box {
  Real low[2], high[2];

  static Box Of(const std::function<Real(std::int64_t)>& number) {
    Box box{};
    for (std::int64_t d = 0; d < 2; ++d) {
      box.low[d] = std::min(number(d), number(d + 2));
      box.high[d] = std::max(number(d), number(d + 2));
    }
    return box;
  }
  Real Area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

// As a part of their union; 0 for boxes that do not meet.
inline Real OverlapOf(const Box& a, const Box& b) {
  Real both = 1;
  for (std::size_t d = 0; d < 2; ++d)
    both *= std::max(std::min(a.high[d], b.high[d]) - std::max(a.low[d], b.low[d]), Real{0});
  const Real either = a.Area() + b.Area() - both;
  return either > 0 ? both / either : 0;
}

// 0, 1, ... `count` - 1 by falling score.
inline ops::Ints Ranked(std::int64_t count, const std::function<Real(std::int64_t)>& score) {
  ops::Ints order(At(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order,
                           [&](std::int64_t a, std::int64_t b) { return score(a) > score(b); });
  return order;
}

// Those of `order` that none drops of those that are kept before them; `most` of them.
struct Suppression {
  std::function<bool(std::int64_t better, std::int64_t box)> drops;
  std::size_t most = 0;

  ops::Ints Of(const ops::Ints& order) const {
    ops::Ints kept;
    for (const std::int64_t box : order) {
      const bool is_dropped =
          std::ranges::any_of(kept, [&](std::int64_t better) { return drops(better, box); });
      if (!is_dropped && kept.size() < most) kept.push_back(box);
    }
    return kept;
  }
};

inline void AddWhole(Whole value, Definition* to) {
  to->Add({.whole = value, .real = static_cast<Real>(value)}, 0);
}

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DEFINE_DEFINED_BOXES_H_
