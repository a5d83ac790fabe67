// Values of extents: for given variables, and the range of all values by interval arithmetic
// (Moore, "Interval Analysis", 1966).
#include <algorithm>
#include <utility>
#include <vector>

#include "tenon/support/dim.h"

namespace tenon {
namespace {

std::optional<std::int64_t> ValueOf(const DimAtom& atom, const Dim::Values& values) {
  if (atom.kind == DimAtomKind::kSymbol) {
    const auto found = values.find(atom.text);
    if (found == values.end()) return std::nullopt;
    return found->second;
  }
  const std::optional<std::int64_t> a = atom.a.Evaluate(values), b = atom.b.Evaluate(values);
  if (!a || !b) return std::nullopt;
  switch (atom.kind) {
    case DimAtomKind::kFloorDiv:
      return FloorDiv(Dim(*a), *b).value();
    case DimAtomKind::kMax:
      return std::max(*a, *b);
    case DimAtomKind::kMin:
      return std::min(*a, *b);
    case DimAtomKind::kSymbol:
      break;
  }
  return std::nullopt;
}

Dim ReplacedIn(const DimAtom& atom, const std::map<std::string, Dim>& values) {
  switch (atom.kind) {
    case DimAtomKind::kSymbol: {
      const auto found = values.find(atom.text);
      return found == values.end() ? Dim::Symbol(atom.text) : found->second;
    }
    case DimAtomKind::kFloorDiv:
      return FloorDiv(atom.a.Substitute(values), atom.b.value());
    case DimAtomKind::kMax:
      return Max(atom.a.Substitute(values), atom.b.Substitute(values));
    case DimAtomKind::kMin:
      return Min(atom.a.Substitute(values), atom.b.Substitute(values));
  }
  return {};
}

// What an expression lies between for all values; nothing for an end that is not known.
struct Range {
  std::optional<std::int64_t> least, greatest;
};

std::optional<std::int64_t> Product(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  std::int64_t product = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

Range Times(const Range& range, std::int64_t factor) {
  const Range product{Product(range.least, factor), Product(range.greatest, factor)};
  return factor < 0 ? Range{product.greatest, product.least} : product;
}

Range RangeOf(const Dim& dim);

Range RangeOf(const DimAtom& atom) {
  if (atom.kind == DimAtomKind::kSymbol) return {atom.text.starts_with('#') ? 0 : 1, std::nullopt};
  const Range a = RangeOf(atom.a), b = RangeOf(atom.b);
  // `choose` takes the greater or the smaller end. One known end is enough for `either`.
  const auto either = [](const auto& x, const auto& y, auto choose) {
    return x && y ? std::optional(choose(*x, *y)) : x ? x : y;
  };
  const auto both = [](const auto& x, const auto& y, auto choose) {
    return x && y ? std::optional(choose(*x, *y)) : std::nullopt;
  };
  const auto greater = [](std::int64_t x, std::int64_t y) { return std::max(x, y); };
  const auto smaller = [](std::int64_t x, std::int64_t y) { return std::min(x, y); };
  const auto quotient = [](std::int64_t x, std::int64_t y) { return FloorDiv(Dim(x), y).value(); };
  switch (atom.kind) {
    case DimAtomKind::kFloorDiv:
      return {both(a.least, b.least, quotient), both(a.greatest, b.least, quotient)};
    case DimAtomKind::kMax:
      return {either(a.least, b.least, greater), both(a.greatest, b.greatest, greater)};
    case DimAtomKind::kMin:
      return {both(a.least, b.least, smaller), either(a.greatest, b.greatest, smaller)};
    case DimAtomKind::kSymbol:
      break;
  }
  return {};
}

Range RangeOf(const Dim::Term& term) {
  if (term.atoms.size() == 1) return Times(RangeOf(*term.atoms[0]), term.coefficient);
  // Of products of factors that may have either sign nothing is said.
  Range product{1, 1};
  std::int64_t coefficient = term.coefficient;
  for (const DimAtomRef& atom : term.atoms) {
    Range range = RangeOf(*atom);
    if (range.greatest && *range.greatest <= 0) {
      range = Times(range, -1);
      if (__builtin_mul_overflow(coefficient, -1, &coefficient)) return {};
    }
    if (!range.least || *range.least < 0) return {};
    product = {Product(product.least, range.least), Product(product.greatest, range.greatest)};
  }
  return Times(product, coefficient);
}

Range RangeOf(const Dim& dim) {
  if (dim.is_static()) return {dim.value(), dim.value()};
  if (dim.is_any()) return {};
  Range sum{0, 0};
  const auto add = [](std::optional<std::int64_t>* total, const std::optional<std::int64_t>& part) {
    std::int64_t added = 0;
    *total = *total && part && !__builtin_add_overflow(**total, *part, &added)
                 ? std::optional(added)
                 : std::nullopt;
  };
  for (const Dim::Term& term : dim.terms()) {
    const Range range = RangeOf(term);
    add(&sum.least, range.least);
    add(&sum.greatest, range.greatest);
  }
  return sum;
}

using Terms = std::vector<Dim::Term>;

bool AreSame(const std::vector<DimAtomRef>& a, const std::vector<DimAtomRef>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const DimAtomRef& x, const DimAtomRef& y) {
                      return x->kind == y->kind && x->text == y->text;
                    });
}

// Whether all numbers fit.
bool Add(const Dim& dim, std::int64_t factor, Terms* sum) {
  const Terms terms = dim.is_static() ? Terms{{{}, dim.value()}} : dim.terms();
  for (const Dim::Term& term : terms) {
    std::int64_t added = 0;
    if (__builtin_mul_overflow(term.coefficient, factor, &added)) return false;
    const auto held = std::find_if(sum->begin(), sum->end(), [&](const Dim::Term& other) {
      return AreSame(term.atoms, other.atoms);
    });
    if (held == sum->end()) {
      sum->push_back({term.atoms, added});
    } else if (__builtin_add_overflow(held->coefficient, added, &held->coefficient)) {
      return false;
    }
  }
  return true;
}

std::optional<std::int64_t> LeastOf(const Terms& terms) {
  std::int64_t sum = 0;
  for (const Dim::Term& term : terms) {
    if (term.coefficient == 0) continue;
    const std::optional<std::int64_t> least = RangeOf(term).least;
    if (!least || __builtin_add_overflow(sum, *least, &sum)) return std::nullopt;
  }
  return sum;
}

// Intervals do not know that the terms of n - min(n, 7) depend on each other. So one argument takes
// the place of max or min at a time: where it may be either (`lessens`), both bounds must hold, and
// otherwise either one does. Nothing is said past `splits`, each of which doubles the time.
std::optional<std::int64_t> LeastOf(const Terms& terms, int splits) {
  const std::optional<std::int64_t> least = LeastOf(terms);
  if (splits == 0 || terms.size() < 2) return least;
  for (const bool lessens : {true, false}) {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const std::int64_t factor = terms[i].coefficient;
      if (terms[i].atoms.size() != 1 || factor == 0) continue;
      const DimAtom& atom = *terms[i].atoms[0];
      if (atom.kind != DimAtomKind::kMin && atom.kind != DimAtomKind::kMax) continue;
      if (lessens != ((atom.kind == DimAtomKind::kMin) == (factor > 0))) continue;
      Terms rest = terms;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      const auto with = [&](const Dim& argument) -> std::optional<std::int64_t> {
        Terms sum = rest;
        return Add(argument, factor, &sum) ? LeastOf(sum, splits - 1) : std::nullopt;
      };
      const std::optional<std::int64_t> a = with(atom.a), b = with(atom.b);
      // An unknown bound is below all others.
      return std::max(least, lessens ? std::min(a, b) : std::max(a, b));
    }
  }
  return least;
}

}  // namespace

std::optional<std::int64_t> Dim::Evaluate(const Values& values) const {
  if (is_static()) return value_;
  if (is_any()) return std::nullopt;
  std::int64_t sum = 0;
  for (const Term& term : terms()) {
    std::int64_t product = term.coefficient;
    for (const DimAtomRef& atom : term.atoms) {
      const std::optional<std::int64_t> value = ValueOf(*atom, values);
      if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

Dim Dim::Substitute(const std::map<std::string, Dim>& values) const {
  if (!is_symbolic()) return *this;
  Dim sum = 0;
  for (const Term& term : terms()) {
    Dim product = term.coefficient;
    for (const DimAtomRef& atom : term.atoms) product = product * ReplacedIn(*atom, values);
    sum = sum + product;
  }
  return sum;
}

void Dim::AddSymbols(std::set<std::string>* names) const {
  if (!is_symbolic()) return;
  for (const Term& term : terms()) {
    for (const DimAtomRef& atom : term.atoms) {
      if (atom->kind == DimAtomKind::kSymbol) names->insert(atom->text);
      atom->a.AddSymbols(names);
      atom->b.AddSymbols(names);
    }
  }
}

std::optional<std::int64_t> Dim::LowerBound() const {
  constexpr int kMaxSplits = 4;
  return is_symbolic() ? LeastOf(terms(), kMaxSplits) : RangeOf(*this).least;
}

}  // namespace tenon
