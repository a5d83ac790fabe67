// Pieces of C text: types, constants, identifiers and indented blocks. Only files inside jit/ and
// compiler/ that write C include this header.
//
//   CNames names;  names.Unique("float") == "float_1";
//   CBlock block;  block.Open("for (;;) {");  block.Line("f();");  block.Close();
#ifndef TENON_JIT_C_C_TEXT_H_
#define TENON_JIT_C_C_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/support/data_type.h"

namespace tenon::jit {

// The type of a value in an expression: bool is bool, 16-bit floats are float.
std::string CRegisterType(DataType type);
// The type of an element in memory: bool is uint8_t, 16-bit floats are uint16_t.
std::string CMemoryType(DataType type);
// "i32", "f16", "bf16": the ending of helper functions.
std::string CSuffix(DataType type);

// A constant of the type CRegisterType(type). Integers of more than 32 bits get their macro, so
// that arithmetic on two constants has the width of the type.
std::string CIntLiteral(DataType type, std::int64_t value);
// The value is rounded to `type` first. Gives "INFINITY" and "NAN" for what is not a finite number.
std::string CFloatLiteral(DataType type, double value);

// `text` without the parentheses around all of it.
std::string WithoutOuterParentheses(const std::string& text);

// `name` with everything that C does not allow replaced by "_". Names that C, C++ or the included
// headers have get "_1" added.
std::string CIdentifier(std::string_view name);

// Identifiers of one scope.
class CNames {
 public:
  // `hint` as an identifier that was not given out before.
  std::string Unique(std::string_view hint);

 private:
  std::unordered_set<std::string> taken_;
};

// Lines of C, indented by two blanks per level.
class CBlock {
 public:
  void Line(std::string text) { lines_.emplace_back(depth_, std::move(text)); }
  void Open(std::string text) {
    Line(std::move(text));
    ++depth_;
  }
  void Close(std::string text = "}") {
    --depth_;
    Line(std::move(text));
  }
  void Else(std::string text) {
    --depth_;
    Open(std::move(text));
  }
  void Append(const CBlock& inner);
  bool empty() const { return lines_.empty(); }
  std::string Text() const;

 private:
  int depth_ = 0;
  std::vector<std::pair<int, std::string>> lines_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_C_C_TEXT_H_
