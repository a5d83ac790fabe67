#include "tenon/te/reduce.h"

#include <cmath>
#include <limits>
#include <unordered_set>

#include "tenon/loop/check_given.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::te {
namespace {

DataType TypeOf(const Expr& source) {
  loop::RequireDefined(source, "what is reduced");
  return source.dtype();
}

Expr Lowest(DataType type) {
  if (type.is_float()) return loop::FloatImm(type, -HUGE_VAL);
  if (!type.is_int()) return loop::IntImm(type, 0);
  return loop::IntImm(type, std::numeric_limits<std::int64_t>::min() >> (64 - type.bits()));
}
Expr Highest(DataType type) {
  if (type.is_float()) return loop::FloatImm(type, HUGE_VAL);
  if (type.is_bool()) return loop::True();
  if (type.is_int())
    return loop::IntImm(type, std::numeric_limits<std::int64_t>::max() >> (64 - type.bits()));
  return loop::IntImm(type, -1);  // all bits
}

Reduction OrderFree(Reduction reduction) {
  reduction.combiner.is_order_free = true;
  return reduction;
}

Reduction Simple(std::string name, const Expr& source, std::vector<IterVar> axes,
                 const Expr& identity, Expr (*combine)(const Expr&, const Expr&)) {
  const Combiner combiner = MakeCombiner(std::move(name), {source.dtype()},
                                         [&](const std::vector<Var>& l, const std::vector<Var>& r) {
                                           return std::vector<Expr>{combine(l[0], r[0])};
                                         },
                                         {identity});
  return Reduce(combiner, {source}, std::move(axes));
}

Reduction ArgReduce(std::string name, bool is_max, const Expr& index, const Expr& value,
                    std::vector<IterVar> axes, bool last) {
  loop::RequireDefined(index, "the index that is reduced");
  loop::RequireDefined(value, "what is reduced");
  const auto combine = [&](const std::vector<Var>& l, const std::vector<Var>& r) {
    // NaN counts as the most extreme value, as in NumPy.
    const auto is_as_extreme = [&](const Var& x, const Var& y) {
      const Expr is_so = is_max ? x >= y : x <= y;
      return value.dtype().is_float() ? is_so || loop::Call(loop::Intrinsic::kIsNan, {x}) : is_so;
    };
    // Among equals the one that comes first, or last, wins. The identity's index is -1, which never
    // wins.
    const Expr wins_ties = last ? l[0] > r[0] : l[0] < r[0];
    const Expr left_wins =
        (wins_ties && is_as_extreme(l[1], r[1])) || (!wins_ties && !is_as_extreme(r[1], l[1]));
    const auto is_none = [&](const Var& x) {
      return index.dtype().is_uint() ? x == loop::IntImm(index.dtype(), -1)
                                     : x < loop::IntImm(index.dtype(), 0);
    };
    const Expr take_left = (left_wins && !is_none(l[0])) || is_none(r[0]);
    return std::vector<Expr>{loop::Select(take_left, l[0], r[0]),
                             loop::Select(take_left, l[1], r[1])};
  };
  const Combiner combiner = MakeCombiner(
      std::move(name), {index.dtype(), value.dtype()}, combine,
      {loop::IntImm(index.dtype(), -1), is_max ? Lowest(value.dtype()) : Highest(value.dtype())});
  return OrderFree(Reduce(combiner, {index, value}, std::move(axes)));
}

}  // namespace

IterVar ReduceAxis(const Expr& min, const Expr& extent, std::string name) {
  loop::RequireExtent(min, StrCat("reduce axis ", name, ": the first value"));
  loop::RequireExtent(extent, StrCat("reduce axis ", name, ": the extent"));
  const auto *first = min.As<loop::IntImmNode>(), *count = extent.As<loop::IntImmNode>();
  std::int64_t end = 0;
  if (first != nullptr && count != nullptr &&
      __builtin_add_overflow(first->value, count->value, &end)) {
    throw InvalidArgument(StrCat("reduce axis ", name, " has ", count->value, " values from ",
                                 first->value, " on; they must be less than 2^63"));
  }
  return {Var(std::move(name)), min, extent, true};
}

Combiner MakeCombiner(std::string name, const std::vector<DataType>& types,
                      const std::function<std::vector<Expr>(const std::vector<Var>&,
                                                            const std::vector<Var>&)>& combine,
                      std::vector<Expr> identity, bool is_commutative) {
  Combiner combiner;
  combiner.name = std::move(name);
  combiner.is_commutative = is_commutative;
  for (const DataType type : types) {
    combiner.lhs.emplace_back("x", type);
    combiner.rhs.emplace_back("y", type);
  }
  if (combine == nullptr)
    throw InvalidArgument(
        StrCat("reducer ", combiner.name, ": there is no function that combines"));
  combiner.result = combine(combiner.lhs, combiner.rhs);
  combiner.identity = std::move(identity);
  if (combiner.result.size() != types.size() || combiner.identity.size() != types.size()) {
    throw InvalidArgument(StrCat("reducer ", combiner.name, ": ", types.size(),
                                 " values are reduced, but it combines ", combiner.result.size(),
                                 " and has ", combiner.identity.size(), " identities"));
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    loop::RequireDefined(combiner.result[i], StrCat("reducer ", combiner.name, ": its value ", i));
    loop::RequireDefined(combiner.identity[i],
                         StrCat("reducer ", combiner.name, ": its identity ", i));
    if (combiner.result[i].dtype() != types[i] || combiner.identity[i].dtype() != types[i]) {
      throw InvalidArgument(StrCat("reducer ", combiner.name, ": value ", i, " is ",
                                   types[i].ToString(), "; it combines to ",
                                   combiner.result[i].dtype().ToString(), " and its identity is ",
                                   combiner.identity[i].dtype().ToString()));
    }
  }
  return combiner;
}

Reduction Reduce(const Combiner& combiner, std::vector<Expr> source, std::vector<IterVar> axes) {
  if (source.size() != combiner.lhs.size()) {
    throw InvalidArgument(StrCat("reducer ", combiner.name, " takes ", combiner.lhs.size(),
                                 " values; ", source.size(), " are given"));
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    loop::RequireDefined(source[i], StrCat("reducer ", combiner.name, ": its term ", i));
    if (source[i].dtype() != combiner.lhs[i].dtype()) {
      throw InvalidArgument(StrCat("reducer ", combiner.name, ": value ", i, " is ",
                                   source[i].dtype().ToString(), "; it must be ",
                                   combiner.lhs[i].dtype().ToString()));
    }
  }
  std::unordered_set<const void*> given;
  for (const IterVar& axis : axes) {
    if (!axis.is_reduce) {
      throw InvalidArgument(StrCat("reducer ", combiner.name, ": ", axis.var.name(),
                                   " is no reduce axis; make one with ReduceAxis"));
    }
    if (!given.insert(axis.var.get()).second)
      throw InvalidArgument(
          StrCat("reducer ", combiner.name, ": axis ", axis.var.name(), " is given twice"));
  }
  return {combiner, std::move(source), std::move(axes)};
}

Reduction Where(Reduction reduction, const Expr& condition) {
  if (!condition.defined() || condition.dtype() != Bool)
    throw InvalidArgument(StrCat(
        "reducer ", reduction.combiner.name, ": the condition of its terms is ",
        condition.defined() ? condition.dtype().ToString() : "not given", "; it must be bool"));
  reduction.condition =
      reduction.condition.defined() ? reduction.condition && condition : condition;
  return reduction;
}

Reduction StartingAt(Reduction reduction, std::vector<Expr> initial) {
  const Combiner& combiner = reduction.combiner;
  if (initial.size() != combiner.lhs.size())
    throw InvalidArgument(StrCat("reducer ", combiner.name, " joins ", combiner.lhs.size(),
                                 " values; ", initial.size(), " initial ones are given"));
  for (std::size_t i = 0; i < initial.size(); ++i) {
    loop::RequireDefined(initial[i], StrCat("reducer ", combiner.name, ": its initial value ", i));
    if (initial[i].dtype() == combiner.lhs[i].dtype()) continue;
    throw InvalidArgument(StrCat("reducer ", combiner.name, ": initial value ", i, " is ",
                                 initial[i].dtype().ToString(), "; it must be ",
                                 combiner.lhs[i].dtype().ToString()));
  }
  reduction.initial = std::move(initial);
  return reduction;
}

Reduction Into(Reduction reduction, std::vector<Expr> indices) {
  if (indices.empty())
    throw InvalidArgument(
        StrCat("reducer ", reduction.combiner.name, ": there is no index of where its terms go"));
  for (const Expr& index : indices)
    loop::RequireDefined(index,
                         StrCat("reducer ", reduction.combiner.name, ": where its terms go"));
  reduction.target = std::move(indices);
  return reduction;
}

Reduction Sum(const Expr& source, std::vector<IterVar> axes) {
  Reduction r =
      Simple("sum", source, std::move(axes), loop::Constant(TypeOf(source), 0), &loop::operator+);
  r.combiner.is_sum = true;
  return r;
}
// In another order a product may overflow on the way to a small result.
Reduction Prod(const Expr& source, std::vector<IterVar> axes) {
  return Simple("prod", source, std::move(axes), loop::Constant(TypeOf(source), 1),
                &loop::operator*);
}
Reduction Max(const Expr& source, std::vector<IterVar> axes) {
  return OrderFree(Simple("max", source, std::move(axes), Lowest(TypeOf(source)), &loop::Max));
}
Reduction Min(const Expr& source, std::vector<IterVar> axes) {
  return OrderFree(Simple("min", source, std::move(axes), Highest(TypeOf(source)), &loop::Min));
}
Reduction MaxOfNumbers(const Expr& source, std::vector<IterVar> axes) {
  return OrderFree(Simple("max_of_numbers", source, std::move(axes), Lowest(TypeOf(source)),
                          [](const Expr& x, const Expr& y) { return loop::Select(y > x, y, x); }));
}
Reduction All(const Expr& source, std::vector<IterVar> axes) {
  return OrderFree(Simple("all", source, std::move(axes), loop::True(), &loop::operator&&));
}
Reduction Any(const Expr& source, std::vector<IterVar> axes) {
  return OrderFree(Simple("any", source, std::move(axes), loop::False(), &loop::operator||));
}
Reduction ArgMax(const Expr& index, const Expr& value, std::vector<IterVar> axes,
                 bool select_last) {
  return ArgReduce("argmax", true, index, value, std::move(axes), select_last);
}
Reduction ArgMin(const Expr& index, const Expr& value, std::vector<IterVar> axes,
                 bool select_last) {
  return ArgReduce("argmin", false, index, value, std::move(axes), select_last);
}

}  // namespace tenon::te
