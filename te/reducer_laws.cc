// Values are tuples of columns; one evaluation joins all samples at once.
#include "tenon/te/reducer_laws.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/evaluate.h"

namespace tenon::te {
namespace {

using loop::ExprKind;
using Values = std::vector<Column>;  // one for each value of the tuple

constexpr std::size_t kTerms = 5;

// A number from 1 to 7. All types hold these, and products of three are exact in halves, too.
std::int64_t Sample(std::size_t term, std::size_t leaf) {
  return static_cast<std::int64_t>((3 * term + 5 * leaf + 3) % 7) + 1;
}

double Epsilon(DataType type) {
  if (type == Float64) return std::numeric_limits<double>::epsilon();
  return type == Float32   ? std::numeric_limits<float>::epsilon()
         : type == Float16 ? 0x1p-10
                           : 0x1p-7;
}

std::string Number(const Column& column, std::size_t at) {
  return column.is_float ? StrCat(column.f[at]) : StrCat(column.i[at]);
}

class LawTrial {
 public:
  LawTrial(const Combiner& combiner, const std::vector<Expr>& source)
      : combiner_(combiner), source_(source), evaluator_(arrays_, extents_) {}

  std::optional<std::string> FindBroken() {
    const Values terms = Terms(), identity = Identity();
    Values samples = terms;  // the terms, the identity, and neighbours that were joined
    Append(identity, &samples);
    std::vector<std::size_t> left, right;
    for (std::size_t i = 0; i + 1 < kTerms; ++i) {
      left.push_back(i);
      right.push_back(i + 1);
    }
    Append(Join(Pick(terms, left), Pick(terms, right)), &samples);
    const std::size_t all = samples[0].size();

    std::vector<std::size_t> a, b, c;
    for (std::size_t i = 0; i < all * all * all; ++i) {
      a.push_back(i / all / all);
      b.push_back(i / all % all);
      c.push_back(i % all);
    }
    const Values x = Pick(samples, a), y = Pick(samples, b), z = Pick(samples, c);
    const Values xy = Join(x, y), yz = Join(y, z);
    const Values first = Join(xy, z), second = Join(x, yz);
    if (const auto at = Difference(first, second))
      return StrCat("is not associative: (", Text(x, *at), " . ", Text(y, *at), ") . ",
                    Text(z, *at), " is ", Text(first, *at), ", but ", Text(x, *at), " . (",
                    Text(y, *at), " . ", Text(z, *at), ") is ", Text(second, *at));
    const Values yx = Join(y, x);
    if (const auto at = Difference(xy, yx))
      return StrCat("is not commutative: ", Text(x, *at), " . ", Text(y, *at), " is ",
                    Text(xy, *at), ", but ", Text(y, *at), " . ", Text(x, *at), " is ",
                    Text(yx, *at));
    const Values started = Join(Pick(identity, std::vector<std::size_t>(all, 0)), samples);
    if (const auto at = Difference(started, samples))
      return StrCat("has an identity that changes what it is joined with: ", Text(identity, 0),
                    " . ", Text(samples, *at), " is ", Text(started, *at));
    return std::nullopt;
  }

 private:
  static Values Pick(const Values& from, const std::vector<std::size_t>& places) {
    Values picked;
    for (const Column& column : from) {
      picked.push_back({.is_float = column.is_float, .f = {}, .i = {}});
      for (const std::size_t place : places) {
        if (column.is_float) {
          picked.back().f.push_back(column.f[place]);
        } else {
          picked.back().i.push_back(column.i[place]);
        }
      }
    }
    return picked;
  }

  static void Append(const Values& from, Values* to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      (*to)[i].f.insert((*to)[i].f.end(), from[i].f.begin(), from[i].f.end());
      (*to)[i].i.insert((*to)[i].i.end(), from[i].i.begin(), from[i].i.end());
    }
  }

  Values Evaluated(const std::vector<Expr>& exprs, std::size_t size, Columns bound) {
    evaluator_.Start(size);
    evaluator_.Restart(std::move(bound));
    Values values;
    for (const Expr& e : exprs) values.push_back(evaluator_.Evaluate(e));
    return values;
  }

  Values Terms() {
    Columns leaves;
    for (const Expr& value : source_) {
      loop::VisitExpr(value, [&](const Expr& e) {
        const bool is_leaf = e.kind() == ExprKind::kLoad || e.kind() == ExprKind::kVar ||
                             e.kind() == ExprKind::kExternCall;
        if (!is_leaf || leaves.contains(e.get())) return;
        const std::size_t leaf = leaves.size();
        Column column = MakeColumn(e.dtype(), kTerms);
        for (std::size_t term = 0; term < kTerms; ++term) {
          const std::int64_t sample =
              e.dtype().is_bool() ? Sample(term, leaf) % 2 : Sample(term, leaf);
          if (column.is_float) {
            column.f[term] = static_cast<double>(sample);
          } else {
            column.i[term] = sample;
          }
        }
        leaves.emplace(e.get(), std::move(column));
      });
    }
    return Evaluated(source_, kTerms, std::move(leaves));
  }

  Values Identity() { return Evaluated(combiner_.identity, 1, {}); }

  Values Join(const Values& left, const Values& right) {
    Columns sides;
    for (std::size_t i = 0; i < left.size(); ++i) {
      sides.emplace(combiner_.lhs[i].get(), left[i]);
      sides.emplace(combiner_.rhs[i].get(), right[i]);
    }
    return Evaluated(combiner_.result, left[0].size(), std::move(sides));
  }

  // The first place where values differ by more than rounding. If one is not finite, the reducer is
  // not made for the sample.
  std::optional<std::size_t> Difference(const Values& first, const Values& second) const {
    for (std::size_t at = 0; at < first[0].size(); ++at) {
      bool differs = false, is_finite = true;
      for (std::size_t i = 0; i < first.size(); ++i) {
        if (!first[i].is_float) {
          differs = differs || first[i].i[at] != second[i].i[at];
          continue;
        }
        const double a = first[i].f[at], b = second[i].f[at];
        is_finite = is_finite && std::isfinite(a) && std::isfinite(b);
        const double scale = std::max({1.0, std::abs(a), std::abs(b)});
        differs = differs || std::abs(a - b) > 64 * Epsilon(combiner_.lhs[i].dtype()) * scale;
      }
      if (differs && is_finite) return at;
    }
    return std::nullopt;
  }

  static std::string Text(const Values& values, std::size_t at) {
    if (values.size() == 1) return Number(values[0], at);
    return StrCat(
        "(",
        StrJoin(values, ", ", [&](std::string* text, const Column& c) { *text += Number(c, at); }),
        ")");
  }

  const Combiner& combiner_;
  const std::vector<Expr>& source_;
  const Arrays arrays_;
  const Extents extents_;
  Evaluator evaluator_;
};

}  // namespace

std::optional<std::string> WhyOrderCounts(const Combiner& combiner,
                                          const std::vector<Expr>& source) {
  const std::string name = StrCat("reducer ", combiner.name, " ");
  if (!combiner.is_commutative) return name + "is not commutative";
  // Built-in reducers keep the laws.
  if (combiner.is_sum || combiner.is_order_free) return std::nullopt;
  try {
    const auto broken = LawTrial(combiner, source).FindBroken();
    if (broken) return name + *broken;
  } catch (const Error&) {
    // What the interpreter cannot evaluate is believed.
  }
  return std::nullopt;
}

}  // namespace tenon::te
