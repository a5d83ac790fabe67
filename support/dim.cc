// The normal form of polynomials: a map from monomials, which are sorted lists of atoms, to
// coefficients. floordiv(k * q + r, k) is q + floordiv(r, k), and floordiv(floordiv(a, j) + c, k)
// is floordiv(a + c * j, j * k), so that chains of strides become one division (Graham, Knuth and
// Patashnik, "Concrete Mathematics", 1994, equation 3.11).
#include "tenon/support/dim.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

using Term = Dim::Term;

[[noreturn]] void RefuseSize() {
  throw InvalidArgument("an extent's expression has a number that does not fit 64 bits");
}
std::int64_t CheckedAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) RefuseSize();
  return sum;
}
std::int64_t CheckedMul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) RefuseSize();
  return product;
}
std::int64_t FloorDivided(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// A variable may have any text as its name, that of a function too.
bool IsBefore(const DimAtomRef& a, const DimAtomRef& b) {
  const bool is_function = a->kind != DimAtomKind::kSymbol;
  const bool is_other_function = b->kind != DimAtomKind::kSymbol;
  return std::tie(a->text, is_function) < std::tie(b->text, is_other_function);
}
bool IsSame(const DimAtomRef& a, const DimAtomRef& b) { return !IsBefore(a, b) && !IsBefore(b, a); }

// Terms with more atoms come first, then by name; the number, which has none, is last.
bool Before(const std::vector<DimAtomRef>& a, const std::vector<DimAtomRef>& b) {
  if (a.size() != b.size()) return a.size() > b.size();
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), IsBefore);
}
struct BeforeTerm {
  bool operator()(const std::vector<DimAtomRef>& a, const std::vector<DimAtomRef>& b) const {
    return Before(a, b);
  }
};
using Polynomial = std::map<std::vector<DimAtomRef>, std::int64_t, BeforeTerm>;

const std::shared_ptr<const std::vector<Term>>& Unknown() {
  static const auto unknown = std::make_shared<const std::vector<Term>>();
  return unknown;
}

// A term may be as long as an expression of a file asks for.
constexpr std::size_t kMaxTerms = 1000;
// Of an expression as text. One within another may stand there several times, so each level can
// triple it.
constexpr std::size_t kMaxText = 16384;
constexpr std::size_t kMaxAtoms = 64;
// Of functions within functions that a comparison looks into. Each may double its time.
constexpr int kMaxDepth = 4;

}  // namespace

struct DimBuilder {
  static Dim Of(const Polynomial& polynomial) {
    std::vector<Term> terms;
    for (const auto& [atoms, coefficient] : polynomial) {
      if (coefficient == 0) continue;
      if (atoms.size() > kMaxAtoms) throw InvalidArgument("an extent's expression is too large");
      terms.push_back({atoms, coefficient});
    }
    if (terms.empty()) return 0;
    if (terms.size() == 1 && terms[0].atoms.empty()) return terms[0].coefficient;
    if (terms.size() > kMaxTerms) throw InvalidArgument("an extent's expression is too large");
    Dim dim = 0;
    dim.terms_ = std::make_shared<const std::vector<Term>>(std::move(terms));
    return dim;
  }
  static Dim Of(DimAtomRef atom) { return Of(Polynomial{{{std::move(atom)}, 1}}); }
  static Polynomial Open(const Dim& dim) {
    Polynomial polynomial;
    if (dim.is_static()) {
      if (dim.value() != 0) polynomial[{}] = dim.value();
    } else {
      for (const Term& term : dim.terms()) polynomial[term.atoms] = term.coefficient;
    }
    return polynomial;
  }
  static Dim Function(DimAtomKind kind, const char* name, const Dim& a, const Dim& b) {
    auto atom = std::make_shared<DimAtom>();
    atom->kind = kind;
    atom->text = StrCat(name, "(", a.ToString(), ", ", b.ToString(), ")");
    if (atom->text.size() > kMaxText) throw InvalidArgument("an extent's expression is too large");
    atom->a = a;
    atom->b = b;
    return Of(DimAtomRef(std::move(atom)));
  }
  // The arguments of a sum of max(p, q), or min, and a number: p and q with the number added.
  static std::optional<std::pair<Dim, Dim>> ArgumentsOf(DimAtomKind kind, const Dim& dim) {
    if (!dim.is_symbolic() || dim.terms().size() > 2) return std::nullopt;
    const Term& first = dim.terms().front();
    const bool is_plain = first.coefficient == 1 && first.atoms.size() == 1 &&
                          first.atoms[0]->kind == kind &&
                          (dim.terms().size() == 1 || dim.terms().back().atoms.empty());
    if (!is_plain) return std::nullopt;
    const Dim number = dim.terms().size() == 1 ? 0 : dim.terms().back().coefficient;
    return std::pair(first.atoms[0]->a + number, first.atoms[0]->b + number);
  }
  // Whether a >= b for all values, as far as bounds of both and of their arguments show.
  static bool IsAtLeast(const Dim& a, const Dim& b, int depth = kMaxDepth) {
    const std::optional<std::int64_t> least = (a - b).LowerBound();
    if (least && *least >= 0) return true;
    if (depth == 0) return false;
    if (const auto of_b = ArgumentsOf(DimAtomKind::kMax, b))
      return IsAtLeast(a, of_b->first, depth - 1) && IsAtLeast(a, of_b->second, depth - 1);
    if (const auto of_a = ArgumentsOf(DimAtomKind::kMin, a))
      return IsAtLeast(of_a->first, b, depth - 1) && IsAtLeast(of_a->second, b, depth - 1);
    const auto of_a = ArgumentsOf(DimAtomKind::kMax, a);
    if (of_a && (IsAtLeast(of_a->first, b, depth - 1) || IsAtLeast(of_a->second, b, depth - 1)))
      return true;
    const auto of_b = ArgumentsOf(DimAtomKind::kMin, b);
    return of_b && (IsAtLeast(a, of_b->first, depth - 1) || IsAtLeast(a, of_b->second, depth - 1));
  }
  // The greater or the lesser one, where it is known which that is.
  static std::optional<Dim> KnownExtremum(bool is_max, const Dim& a, const Dim& b) {
    if (a == b || IsAtLeast(a, b)) return is_max ? a : b;
    if (IsAtLeast(b, a)) return is_max ? b : a;
    return std::nullopt;
  }
  // max or min, whose arguments are in the order of their text. max(max(p, 3), 1) is max(p, 3).
  static Dim Extremum(DimAtomKind kind, const Dim& a, const Dim& b) {
    if (a.is_any() || b.is_any()) return Dim();
    const bool is_max = kind == DimAtomKind::kMax;
    if (const auto known = KnownExtremum(is_max, a, b)) return *known;
    for (const auto& [outer, other] : {std::pair(a, b), std::pair(b, a)}) {
      const auto inner = ArgumentsOf(kind, outer);
      if (!inner) continue;
      if (const auto known = KnownExtremum(is_max, inner->second, other))
        return Extremum(kind, inner->first, *known);
      if (const auto known = KnownExtremum(is_max, inner->first, other))
        return Extremum(kind, *known, inner->second);
    }
    const bool in_order = a.ToString() <= b.ToString();
    return Function(kind, is_max ? "max" : "min", in_order ? a : b, in_order ? b : a);
  }
};

Dim::Dim() : terms_(Unknown()) {}

Dim Dim::Symbol(const std::string& name) {
  if (name == "?") return {};
  auto atom = std::make_shared<DimAtom>();
  atom->kind = DimAtomKind::kSymbol;
  atom->text = name;
  return DimBuilder::Of(DimAtomRef(std::move(atom)));
}

bool Dim::is_any() const { return terms_ != nullptr && terms_->empty(); }

std::optional<std::string> Dim::symbol() const {
  if (!is_symbolic() || terms().size() != 1) return std::nullopt;
  const Term& term = terms()[0];
  if (term.coefficient != 1 || term.atoms.size() != 1) return std::nullopt;
  if (term.atoms[0]->kind != DimAtomKind::kSymbol) return std::nullopt;
  return term.atoms[0]->text;
}

const std::vector<Term>& Dim::terms() const { return *terms_; }

namespace {

// Whether Relay text takes it for one name: letters, digits, and dots before letters, after a # for
// a count that values decide.
bool IsPlainName(std::string_view name) {
  if (name.starts_with('#')) name.remove_prefix(1);
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !is_letter(name[0])) return false;
  for (std::size_t i = 1; i < name.size(); ++i) {
    const bool is_digit = name[i] >= '0' && name[i] <= '9';
    const bool is_dot = name[i] == '.' && i + 1 < name.size() && is_letter(name[i + 1]);
    if (!is_letter(name[i]) && !is_digit && !is_dot) return false;
  }
  return true;
}

// Names come from models, where any text may be one; such a name stands in quotes.
std::string AtomText(const DimAtom& atom) {
  if (atom.kind != DimAtomKind::kSymbol || IsPlainName(atom.text)) return atom.text;
  std::string quoted = "\"";
  for (const char c : atom.text) {
    const char* escaped = c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '\n' ? "\\n" : nullptr;
    if (escaped != nullptr) {
      quoted += escaped;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace

std::string Dim::ToString() const {
  if (is_static()) return StrCat(value_);
  if (is_any()) return "?";
  std::string text;
  for (const Term& term : terms()) {
    std::int64_t factor = term.coefficient;
    if (text.empty()) {
      if (factor == -1 && !term.atoms.empty()) text = "-";
    } else {
      text += factor < 0 ? " - " : " + ";
      if (factor == std::numeric_limits<std::int64_t>::min()) RefuseSize();
      factor = std::abs(factor);
    }
    const bool is_one = std::abs(factor) == 1 && !term.atoms.empty();
    if (!is_one) text += StrCat(factor);
    for (std::size_t i = 0; i < term.atoms.size(); ++i)
      StrAppend(&text, i > 0 || !is_one ? "*" : "", AtomText(*term.atoms[i]));
  }
  return text;
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.is_static() || b.is_static()) return a.is_static() && b.is_static() && a.value_ == b.value_;
  if (a.terms_ == b.terms_) return true;
  return std::equal(a.terms().begin(), a.terms().end(), b.terms().begin(), b.terms().end(),
                    [](const Term& x, const Term& y) {
                      return x.coefficient == y.coefficient && !Before(x.atoms, y.atoms) &&
                             !Before(y.atoms, x.atoms);
                    });
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return {};
  if (a.is_static() && b.is_static()) return CheckedAdd(a.value(), b.value());
  Polynomial sum = DimBuilder::Open(a);
  for (const auto& [atoms, coefficient] : DimBuilder::Open(b)) {
    std::int64_t& held = sum[atoms];
    held = CheckedAdd(held, coefficient);
  }
  return DimBuilder::Of(sum);
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return {};
  if (a.is_static() && b.is_static()) return CheckedMul(a.value(), b.value());
  const Polynomial left = DimBuilder::Open(a), right = DimBuilder::Open(b);
  Polynomial product;
  for (const auto& [x, p] : left) {
    for (const auto& [y, q] : right) {
      std::vector<DimAtomRef> atoms = x;
      atoms.insert(atoms.end(), y.begin(), y.end());
      std::sort(atoms.begin(), atoms.end(), IsBefore);
      std::int64_t& held = product[std::move(atoms)];
      held = CheckedAdd(held, CheckedMul(p, q));
    }
  }
  return DimBuilder::Of(product);
}

Dim FloorDiv(const Dim& a, std::int64_t divisor) {
  if (divisor <= 0) Unreachable("extents are divided by positive numbers");
  if (a.is_any() || divisor == 1) return a;
  if (a.is_static()) return FloorDivided(a.value(), divisor);
  Polynomial whole, rest;
  for (const auto& [atoms, coefficient] : DimBuilder::Open(a)) {
    // A number leaves its remainder; of a product only all or nothing moves out.
    const std::int64_t quotient =
        atoms.empty() || coefficient % divisor == 0 ? FloorDivided(coefficient, divisor) : 0;
    if (quotient != 0) whole[atoms] = quotient;
    if (coefficient != quotient * divisor) rest[atoms] = coefficient - quotient * divisor;
  }
  Dim inner = DimBuilder::Of(rest);
  if (inner.is_static()) return DimBuilder::Of(whole);  // in [0, divisor)
  const Term& first = inner.terms().front();
  const bool is_quotient = first.coefficient == 1 && first.atoms.size() == 1 &&
                           first.atoms[0]->kind == DimAtomKind::kFloorDiv &&
                           (inner - DimBuilder::Of(first.atoms[0])).is_static();
  if (is_quotient) {
    const Dim added = inner - DimBuilder::Of(first.atoms[0]);
    const std::int64_t by = first.atoms[0]->b.value();
    return DimBuilder::Of(whole) +
           FloorDiv(first.atoms[0]->a + added * Dim(by), CheckedMul(by, divisor));
  }
  return DimBuilder::Of(whole) +
         DimBuilder::Function(DimAtomKind::kFloorDiv, "floordiv", inner, divisor);
}

Dim CeilDiv(const Dim& a, std::int64_t divisor) { return FloorDiv(a + Dim(divisor - 1), divisor); }
Dim Max(const Dim& a, const Dim& b) { return DimBuilder::Extremum(DimAtomKind::kMax, a, b); }
Dim Min(const Dim& a, const Dim& b) { return DimBuilder::Extremum(DimAtomKind::kMin, a, b); }

// By one term at a time; a sum as divisor divides itself and multiples of itself.
std::optional<Dim> ExactQuotient(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return std::nullopt;
  if (b.is_static() && b.value() == 0) return std::nullopt;
  if (a == b) return Dim(1);
  const Polynomial divisor = DimBuilder::Open(b);
  Dim rest = a, quotient = 0;
  // Long division by the divisor's first term; each step removes the rest's first term.
  const auto& [lead, factor] = *divisor.begin();
  for (std::size_t step = 0; step < kMaxTerms; ++step) {
    if (rest.is_static() && rest.value() == 0) return quotient;
    const Polynomial open = DimBuilder::Open(rest);
    const auto& [atoms, coefficient] = *open.begin();
    // The quotient of the least number by -1 does not fit, and its division traps.
    if (factor == -1 ? coefficient == std::numeric_limits<std::int64_t>::min()
                     : coefficient % factor != 0)
      return std::nullopt;
    std::vector<DimAtomRef> left = atoms;
    for (const DimAtomRef& atom : lead) {
      const auto found = std::find_if(left.begin(), left.end(),
                                      [&](const DimAtomRef& x) { return IsSame(x, atom); });
      if (found == left.end()) return std::nullopt;
      left.erase(found);
    }
    const Dim part = DimBuilder::Of(Polynomial{{left, coefficient / factor}});
    quotient = quotient + part;
    rest = rest - part * b;
  }
  return std::nullopt;
}

}  // namespace tenon
