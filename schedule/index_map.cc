// An index of the map is a sum of multiples of digits of the indices it is made from, where a digit
// of v is FloorDiv(v, stride) mod extent. The digits of one index must tile it: strides 1, e0,
// e0 * e1, ..., and so must the terms of one result. Then both directions are positional notation.
#include "tenon/schedule/index_map.h"

#include <algorithm>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::BinaryOp;
using loop::Expr;

struct Term {  // coefficient * (FloorDiv(from[index], stride) mod extent)
  std::int64_t coefficient;
  std::size_t index;
  std::int64_t stride, extent;
};
using Terms = std::vector<Term>;

class Inverter {
 public:
  Inverter(const std::string& who, const IndexMap& map, const std::vector<std::int64_t>& extents,
           bool may_pad)
      : who_(who), map_(map), extents_(extents), may_pad_(may_pad) {}

  InverseMap Invert() {
    InverseMap inverse;
    std::vector<std::vector<std::pair<Term, Expr>>> digits(map_.from.size());
    for (std::size_t r = 0; r < map_.to.size(); ++r) {
      inverse.from.emplace_back(StrCat("ax", r));
      Terms terms = Parse(map_.to[r]);
      std::erase_if(terms, [](const Term& t) { return t.extent == 1; });
      std::sort(terms.begin(), terms.end(),
                [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });
      std::int64_t reached = 1;
      for (std::size_t t = 0; t < terms.size(); ++t) {
        if (terms[t].coefficient != reached) Refuse(r, "its values have gaps or overlap");
        reached *= terms[t].extent;
        Expr digit = loop::FloorDiv(inverse.from[r], terms[t].coefficient);
        if (t + 1 < terms.size()) digit = loop::FloorMod(digit, terms[t].extent);
        digits[terms[t].index].emplace_back(terms[t], digit);
      }
      inverse.extents.push_back(reached);
    }
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const auto [value, reached] = Join(i, digits[i]);
      inverse.to.push_back(value);
      inverse.has_padding.push_back(reached != extents_[i]);
    }
    return inverse;
  }

 private:
  [[noreturn]] void Refuse(std::size_t result, const std::string& reason) const {
    throw InvalidArgument(StrCat(who_, ": the layout's index ", result, ", ",
                                 loop::Print(map_.to[result]), ": ", reason,
                                 "; the layout must be one-to-one and cover everything"));
  }

  // The index that has these digits, and how many values they have.
  std::pair<Expr, std::int64_t> Join(std::size_t i,
                                     std::vector<std::pair<Term, Expr>>& digits) const {
    std::sort(digits.begin(), digits.end(),
              [](const auto& a, const auto& b) { return a.first.stride < b.first.stride; });
    std::int64_t reached = 1;
    bool tiles = true;
    Expr value = 0;
    for (const auto& [term, digit] : digits) {
      tiles = tiles && term.stride == reached;
      reached *= term.extent;
      value = value + digit * term.stride;
    }
    if (!tiles || reached < extents_[i] || (reached > extents_[i] && !may_pad_)) {
      throw InvalidArgument(StrCat(who_, ": the layout does not take index ", i, ", of extent ",
                                   extents_[i], ", apart whole: its parts cover ", reached,
                                   "; every part must occur once, and splits must divide the "
                                   "extent, or a pad value be given"));
    }
    return {loop::Simplify(value), reached};
  }

  Terms Parse(const Expr& e) const {
    for (std::size_t i = 0; i < map_.from.size(); ++i) {
      if (e.same_as(map_.from[i])) return {{1, i, 1, extents_[i]}};
    }
    if (loop::IsConstInt(e, 0)) return {};
    const auto* n = e.As<loop::BinaryNode>();
    if (n != nullptr && n->op == BinaryOp::kAdd) {
      Terms terms = Parse(n->a);
      const Terms more = Parse(n->b);
      terms.insert(terms.end(), more.begin(), more.end());
      return terms;
    }
    const auto* constant = n == nullptr ? nullptr : n->b.As<loop::IntImmNode>();
    if (constant != nullptr && constant->value >= 1) {
      // Indices are not negative: truncating and flooring are the same.
      switch (n->op) {
        case BinaryOp::kMul: {
          Terms terms = Parse(n->a);
          for (Term& term : terms) term.coefficient *= constant->value;
          return terms;
        }
        case BinaryOp::kDiv:
        case BinaryOp::kFloorDiv:
          return Cut(Parse(n->a), constant->value, true);
        case BinaryOp::kMod:
        case BinaryOp::kFloorMod:
          return Cut(Parse(n->a), constant->value, false);
        default:
          break;
      }
    }
    throw InvalidArgument(
        StrCat(who_, ": the layout uses ", loop::Print(e),
               "; allowed are sums of indices, their multiples, quotients and remainders by "
               "positive constants"));
  }

  // The quotient or the remainder of a sum by `divisor`.
  Terms Cut(const Terms& terms, std::int64_t divisor, bool quotient) const {
    Terms result;
    std::int64_t low = 0;  // the highest value of the terms below the divisor
    for (const Term& t : terms) {
      if (t.coefficient % divisor == 0) {
        if (quotient) result.push_back({t.coefficient / divisor, t.index, t.stride, t.extent});
      } else if (t.coefficient * t.extent <= divisor) {
        low += t.coefficient * std::max<std::int64_t>(t.extent - 1, 0);
        if (!quotient) result.push_back(t);
      } else if (divisor % t.coefficient == 0) {
        const std::int64_t width = divisor / t.coefficient;
        low += t.coefficient * (width - 1);
        if (quotient)
          result.push_back({1, t.index, t.stride * width, CeilDiv(t.extent, width)});
        else
          result.push_back({t.coefficient, t.index, t.stride, width});
      } else {
        low = divisor;
      }
    }
    if (low >= divisor) {
      throw InvalidArgument(StrCat(who_, ": the layout divides by ", divisor,
                                   ", which cuts through a part of an index"));
    }
    return result;
  }

  const std::string& who_;
  const IndexMap& map_;
  const std::vector<std::int64_t>& extents_;
  const bool may_pad_;
};

}  // namespace

std::vector<Expr> IndexMap::operator()(const std::vector<Expr>& indices) const {
  loop::ExprMap values;
  for (std::size_t i = 0; i < from.size(); ++i) values[from[i]] = indices[i];
  std::vector<Expr> result;
  for (const Expr& e : to) result.push_back(loop::Substitute(e, values));
  return result;
}

InverseMap Invert(const std::string& who, const IndexMap& map,
                  const std::vector<std::int64_t>& extents, bool may_pad) {
  return Inverter(who, map, extents, may_pad).Invert();
}

}  // namespace tenon::schedule
