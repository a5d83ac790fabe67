// Reductions, sums into computed places, and rows that read a reduction.
#include <algorithm>

#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/verify/draw/graph_stages.h"

namespace tenon::verify {

using loop::Expr;
using loop::Var;
using te::IterVar;
using te::Tensor;

namespace {

constexpr std::int64_t kMaxTerms = 60000;

Expr FlatIndex(const std::vector<IterVar>& over) {
  Expr flat = over[0].var;
  for (std::size_t r = 1; r < over.size(); ++r) flat = flat * over[r].extent + over[r].var;
  return flat;
}

te::Reduction SumAndMax(const Term& term, const std::vector<IterVar>& over, std::int64_t count,
                        std::vector<Term>* terms) {
  const DataType type = term.value.dtype();
  const Term x = BeforeSum(term, count);
  const te::Combiner combiner =
      te::MakeCombiner("sum_and_max", {type, type},
                       [](const std::vector<Var>& a, const std::vector<Var>& b) {
                         return std::vector<Expr>{a[0] + b[0], loop::Max(a[1], b[1])};
                       },
                       {te::Cast(type, 0), te::Cast(type, type.is_uint() ? 0 : -100)});
  *terms = {SumOf(x, count), {x.value, std::max(x.bound, 100.0), x.grain, x.error}};
  FixIntegers(terms);
  return te::Reduce(combiner, {x.value, x.value}, over);
}

te::Reduction RandomReduction(GraphDraft& draft, const std::vector<Index>& axes,
                              const std::vector<IterVar>& over, std::int64_t count,
                              std::vector<Term>* terms) {
  DataType type = draft.random().Of(Types());
  const int depth = static_cast<int>(draft.random().Below(3));
  // The extreme value of no elements is that of the type, with which arithmetic overflows.
  const std::int64_t choice = count == 0 ? draft.random().Below(4) : draft.random().Below(9);
  if (choice == 0 || (type.is_bool() && choice < 6)) {
    const Term x = ConvertTo(Bool, draft.RandomTerm(type, axes, depth));
    *terms = {x};
    return draft.random().Chance(50) ? te::Any(x.value, over) : te::All(x.value, over);
  }
  if (type.is_bool()) type = Float32;
  Term x = draft.RandomTerm(type, axes, depth);
  if (choice <= 3) {
    x = BeforeSum(x, count);
    *terms = {SumOf(x, count)};
    FixIntegers(terms);
    return te::Sum(x.value, over);
  }
  if (choice == 4) {  // with magnitudes up to 1, the product is at most 1
    x = Within(Finite(x), 1);
    const double n = static_cast<double>(count);
    *terms = {{x.value, 1, 0, n * (x.error + RoundingError(type))}};
    FixIntegers(terms);
    return te::Prod(x.value, over);
  }
  if (choice == 5 || x.grain == 0) {
    *terms = {x};
    return draft.random().Chance(50) ? te::Max(x.value, over) : te::Min(x.value, over);
  }
  x = Finite(x);
  if (choice <= 7) {
    const DataType index_type = draft.random().Chance(50) ? Int32 : Int64;
    Term index{te::Cast(index_type, FlatIndex(over)), static_cast<double>(count), 1, 0};
    *terms = {index, x};
    const bool last = draft.random().Chance(50);
    return draft.random().Chance(50) ? te::ArgMax(index.value, x.value, over, last)
                                     : te::ArgMin(index.value, x.value, over, last);
  }
  return SumAndMax(x, over, count, terms);
}

// Sometimes with a condition of the terms, or with initial values.
te::Reduction Refined(GraphDraft& draft, te::Reduction reduction, const std::vector<Index>& data,
                      const std::vector<Index>& all, std::vector<Term>* terms) {
  // The extreme value of no terms is that of the type.
  if (reduction.combiner.name != "sum") return reduction;
  const DataType type = terms->front().value.dtype();
  if (draft.random().Chance(12)) {
    const Term a = draft.RandomTerm(Int32, all, 0), b = draft.RandomTerm(Int32, all, 0);
    reduction = te::Where(std::move(reduction), RandomCondition(a, b, draft.random()).value);
  }
  if (draft.random().Chance(12)) {
    const Term start = Finite(ConvertTo(type, draft.RandomTerm(type, data, 1)));
    reduction = te::StartingAt(std::move(reduction), {start.value});
    Term& sum = terms->front();
    sum = Rounded({sum.value, sum.bound + start.bound, std::min(sum.grain, start.grain),
                   sum.error + start.error, sum.may_be_special});
    FixIntegers(terms);
  }
  return reduction;
}

}  // namespace

void AddReduction(GraphDraft& draft) {
  const std::vector<Extent> shape = draft.RandomShape(1024);
  const std::int64_t elements = ElementsOf(shape);
  std::vector<IterVar> reduced;
  std::vector<Index> indices;
  std::int64_t count = 1;
  const std::int64_t axes = 1 + draft.random().Below(2);
  for (std::int64_t r = 0; r < axes; ++r) {
    Extent extent = draft.random().Of(draft.extents());
    if (elements * count * std::max<std::int64_t>(extent.value, 1) > kMaxTerms)
      extent = {Expr(3), 3};
    count *= extent.value;
    reduced.push_back(te::ReduceAxis(0, extent.expr, StrCat("k", r)));
    indices.push_back({reduced.back().var, extent});
  }
  std::vector<Term> terms;
  const std::vector<Tensor> made = te::ReduceTuple(
      ExprsOf(shape),
      [&](const std::vector<Var>& vars) {
        std::vector<Index> all = Axes(vars, shape);
        all.insert(all.end(), indices.begin(), indices.end());
        return Refined(draft, RandomReduction(draft, all, reduced, count, &terms),
                       Axes(vars, shape), all, &terms);
      },
      draft.Name());
  draft.Remember(made, shape, terms);
}

// Sums into computed places, of which the first dimension may be the terms' own.
void AddUpdate(GraphDraft& draft) {
  const std::vector<Extent> shape = draft.RandomShape(512);
  Extent terms = draft.random().Of(draft.extents());
  const bool keeps_first = shape.size() > 1 && draft.random().Chance(50);
  if (keeps_first && terms.value * shape[0].value > 2048) terms = {Expr(3), 3};
  const IterVar r = te::ReduceAxis(0, terms.expr, "r");
  const DataType type = draft.random().Of(std::vector<DataType>{Int32, Int32, Float32, Float64});
  std::vector<Term> sums;
  const Tensor made = te::ReduceTuple(
      ExprsOf(shape),
      [&](const std::vector<Var>& vars) {
        std::vector<Index> all = {{r.var, terms}};
        if (keeps_first) all.push_back({vars[0], shape[0]});
        const Term x = BeforeSum(draft.RandomTerm(type, all, 1), terms.value);
        sums = {SumOf(x, terms.value)};
        FixIntegers(&sums);
        std::vector<Expr> target;
        for (std::size_t d = 0; d < shape.size(); ++d) {
          Expr index = te::Cast(Int64, draft.RandomTerm(Int32, all, 1).value);
          if (draft.random().Chance(70)) index = loop::FloorMod(index, shape[d].value + 3) - 1;
          target.push_back(d == 0 && keeps_first ? Expr(vars[0]) : index);
        }
        te::Reduction sum = te::Sum(x.value, {r});
        if (!target.empty()) sum = te::Into(std::move(sum), target);
        return Refined(draft, std::move(sum), Axes(vars, shape), all, &sums);
      },
      draft.Name())[0];
  draft.Remember({made}, shape, sums);
}

// A reduction, and rows that read it at their own leading indices.
void AddRows(GraphDraft& draft) {
  AddReduction(draft);
  const Known sum = draft.known().back();
  std::vector<Extent> shape = sum.shape;
  const std::int64_t elements = ElementsOf(shape);
  const Extent columns = draft.random().Of(draft.extents());
  if (elements * columns.value <= kMaxElements) shape.push_back(columns);
  Term term;
  const std::vector<Tensor> made = te::ComputeTuple(
      ExprsOf(shape),
      [&](const std::vector<Var>& vars) {
        const std::vector<Expr> row(vars.begin(),
                                    vars.begin() + static_cast<std::ptrdiff_t>(sum.shape.size()));
        const DataType type = draft.random().Of(Types());
        const Term value{sum.tensor[row], sum.bound, sum.grain, sum.error, sum.may_be_special};
        term = RandomBinary(draft.RandomTerm(type, Axes(vars, shape), 1), ConvertTo(type, value),
                            draft.random());
        return std::vector<Expr>{term.value};
      },
      draft.Name());
  draft.Remember(made, shape, {term});
  draft.of_rows().push_back(sum.tensor);
}

}  // namespace tenon::verify
