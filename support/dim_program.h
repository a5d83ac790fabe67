// Many expressions of extents, evaluated together: a flat list of integer operations, in which each
// subexpression occurs once. For those that are evaluated again and again, and for writing them as
// code.
//
//   DimProgram program({"n", "w"});
//   const int half = program.Add(FloorDiv(w - 1, 2) + 1);
//   program.Evaluate({4, 320}).value()[half];  // 160
#ifndef TENON_SUPPORT_DIM_PROGRAM_H_
#define TENON_SUPPORT_DIM_PROGRAM_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tenon/support/dim.h"

namespace tenon {

class DimProgram {
 public:
  enum class Kind : std::uint8_t { kSymbol, kNumber, kAdd, kMultiply, kFloorDiv, kMax, kMin };
  // An operation on the results of earlier ones, `a` and `b`.
  struct Operation {
    Kind kind = Kind::kNumber;
    std::int64_t number = 0;  // of a symbol its position; of a number its value
    int a = -1, b = -1;
    friend auto operator<=>(const Operation&, const Operation&) = default;
  };

  // The first operations are the symbols, in order.
  explicit DimProgram(const std::vector<std::string>& symbols);

  // The operation whose result is the value of `dim`. Throws InvalidArgument for "?" and for a
  // variable that is not one of the symbols.
  int Add(const Dim& dim);
  // The same of an operation on results of earlier ones. On numbers it is a number.
  int Add(Operation operation);

  // The results of all operations; nothing where one does not fit 64 bits.
  std::optional<std::vector<std::int64_t>> Evaluate(const std::vector<std::int64_t>& symbols) const;
  const std::vector<Operation>& operations() const { return operations_; }

 private:
  int AddAtom(const DimAtom& atom);

  std::map<std::string, int> symbols_;
  std::vector<Operation> operations_;
  std::map<Operation, int> known_;
};

}  // namespace tenon

#endif  // TENON_SUPPORT_DIM_PROGRAM_H_
