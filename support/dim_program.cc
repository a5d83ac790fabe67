#include "tenon/support/dim_program.h"

#include <algorithm>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

using Kind = DimProgram::Kind;

// Of two operands; nothing where the result does not fit 64 bits.
std::optional<std::int64_t> ResultOf(Kind kind, std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  switch (kind) {
    case Kind::kAdd:
      return __builtin_add_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case Kind::kMultiply:
      return __builtin_mul_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case Kind::kFloorDiv:
      if (b == 0) return std::nullopt;
      return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    case Kind::kMax:
      return std::max(a, b);
    case Kind::kMin:
      return std::min(a, b);
    case Kind::kSymbol:
    case Kind::kNumber:
      break;
  }
  return std::nullopt;
}

}  // namespace

DimProgram::DimProgram(const std::vector<std::string>& symbols) {
  for (const std::string& symbol : symbols)
    symbols_[symbol] =
        Add({.kind = Kind::kSymbol, .number = static_cast<std::int64_t>(symbols_.size())});
}

int DimProgram::Add(Operation operation) {
  if (operation.a >= 0) {
    const Operation& a = operations_[static_cast<std::size_t>(operation.a)];
    const Operation& b = operations_[static_cast<std::size_t>(operation.b)];
    if (a.kind == Kind::kNumber && b.kind == Kind::kNumber) {
      if (const auto value = ResultOf(operation.kind, a.number, b.number))
        operation = {.kind = Kind::kNumber, .number = *value};
    }
  }
  const auto [known, is_new] = known_.emplace(operation, static_cast<int>(operations_.size()));
  if (is_new) operations_.push_back(operation);
  return known->second;
}

int DimProgram::AddAtom(const DimAtom& atom) {
  if (atom.kind == DimAtomKind::kSymbol) {
    const auto found = symbols_.find(atom.text);
    if (found == symbols_.end())
      throw InvalidArgument(StrCat("nothing says what ", atom.text, " is"));
    return found->second;
  }
  const int a = Add(atom.a), b = Add(atom.b);
  const Kind kind = atom.kind == DimAtomKind::kFloorDiv ? Kind::kFloorDiv
                    : atom.kind == DimAtomKind::kMax    ? Kind::kMax
                                                        : Kind::kMin;
  return Add({.kind = kind, .a = a, .b = b});
}

int DimProgram::Add(const Dim& dim) {
  if (dim.is_any()) throw InvalidArgument("an extent is not known");
  if (dim.is_static()) return Add({.kind = Kind::kNumber, .number = dim.value()});
  int sum = -1;
  for (const Dim::Term& term : dim.terms()) {
    int product = -1;
    for (const DimAtomRef& atom : term.atoms) {
      const int factor = AddAtom(*atom);
      product = product < 0 ? factor : Add({.kind = Kind::kMultiply, .a = product, .b = factor});
    }
    if (product < 0) {
      product = Add({.kind = Kind::kNumber, .number = term.coefficient});
    } else if (term.coefficient != 1) {
      const int coefficient = Add({.kind = Kind::kNumber, .number = term.coefficient});
      product = Add({.kind = Kind::kMultiply, .a = coefficient, .b = product});
    }
    sum = sum < 0 ? product : Add({.kind = Kind::kAdd, .a = sum, .b = product});
  }
  return sum;
}

std::optional<std::vector<std::int64_t>> DimProgram::Evaluate(
    const std::vector<std::int64_t>& symbols) const {
  std::vector<std::int64_t> values;
  values.reserve(operations_.size());
  for (const Operation& operation : operations_) {
    if (operation.a < 0) {
      values.push_back(operation.kind == Kind::kNumber
                           ? operation.number
                           : symbols[static_cast<std::size_t>(operation.number)]);
      continue;
    }
    const auto value = ResultOf(operation.kind, values[static_cast<std::size_t>(operation.a)],
                                values[static_cast<std::size_t>(operation.b)]);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

}  // namespace tenon
