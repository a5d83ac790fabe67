// An extent of a tensor: a number, an expression of named variables, or "?" (nothing is known).
//
// Expressions are sums of products of variables, floordiv, max and min, in a normal form: two that
// compare equal are equal for all values of their variables. Variables are at least 1, but those
// whose names begin with "#", which are counts that values decide (#k), are at least 0. With "?",
// a calculation gives "?". It throws InvalidArgument where a coefficient does not fit 64 bits.
//
//   Dim w = Dim::Symbol("w"), half = FloorDiv(w - 1, 2) + 1;
//   half.ToString();                   // "floordiv(w - 1, 2) + 1"
//   half.Evaluate({{"w", 320}});       // 160
#ifndef TENON_SUPPORT_DIM_H_
#define TENON_SUPPORT_DIM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tenon {

struct DimAtom;

// A variable, or a function of expressions that is not a sum.
using DimAtomRef = std::shared_ptr<const DimAtom>;

class Dim {
 public:
  Dim();  // "?"
  Dim(std::int64_t value) : value_(value) {}
  Dim(int value) : value_(value) {}
  static Dim Symbol(const std::string& name);  // "?" for that name

  bool is_static() const { return terms_ == nullptr; }
  bool is_any() const;
  // Whether it is an expression of variables, be it one alone.
  bool is_symbolic() const { return !is_static() && !is_any(); }
  // The name, where it is one variable alone.
  std::optional<std::string> symbol() const;
  std::int64_t value() const { return value_; }  // requires is_static()
  std::string ToString() const;

  // Two unknown extents compare equal, although they may differ at run time.
  friend bool operator==(const Dim& a, const Dim& b);
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // Rounds down; `divisor` must be positive.
  friend Dim FloorDiv(const Dim& a, std::int64_t divisor);
  friend Dim CeilDiv(const Dim& a, std::int64_t divisor);
  friend Dim Max(const Dim& a, const Dim& b);
  friend Dim Min(const Dim& a, const Dim& b);
  // a / b where that is exact for all values; nothing where this is not known, or b is 0.
  friend std::optional<Dim> ExactQuotient(const Dim& a, const Dim& b);

  using Values = std::map<std::string, std::int64_t>;
  // Nothing where a variable has no value, or a result does not fit 64 bits.
  std::optional<std::int64_t> Evaluate(const Values& values) const;
  // With expressions in place of the variables that have one.
  Dim Substitute(const std::map<std::string, Dim>& values) const;
  void AddSymbols(std::set<std::string>* names) const;
  // A bound that holds for all values; nothing where none is known.
  std::optional<std::int64_t> LowerBound() const;

  // A product of atoms, sorted by their text, and its coefficient, which is not 0.
  struct Term {
    std::vector<DimAtomRef> atoms;
    std::int64_t coefficient;
  };
  // The terms in the order in which they are printed: those of variables first, the number last.
  const std::vector<Term>& terms() const;

 private:
  friend struct DimBuilder;
  std::int64_t value_ = 0;
  std::shared_ptr<const std::vector<Term>> terms_;  // null when static
};

enum class DimAtomKind : std::uint8_t { kSymbol, kFloorDiv, kMax, kMin };

struct DimAtom {
  DimAtomKind kind;
  std::string text;  // of a variable its name
  Dim a = 0, b = 0;  // floordiv(a, b), max(a, b), min(a, b)
};

}  // namespace tenon

#endif  // TENON_SUPPORT_DIM_H_
