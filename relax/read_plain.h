// Values of Relax text that are no tensors: shapes, their extents and single numbers.
//
// They exist while a text is read. A shape is its extents, and a number is itself, so that
// variables of them stand where an operator takes a shape or a number, and the graph has neither.
// Items of a shape and whole numbers are extents of other shapes, too.
//
//   PlainReader plain(&cursor, &scope, [&] { return reader.Read(); });
//   if (plain.Begins()) scope.BindPlain("s", plain.Read());   // s = R.shape_of(x)
#ifndef TENON_RELAX_READ_PLAIN_H_
#define TENON_RELAX_READ_PLAIN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tenon/ir/expr.h"
#include "tenon/relax/cursor.h"
#include "tenon/relax/scope.h"

namespace tenon::relax {

// What reads expressions.
using ReadInput = std::function<ir::Expr()>;

// A number as it is written, of which the type is not known yet: digits, "inf", "-inf", "nan".
struct Literal {
  std::string text;
  Token at;
  bool is_flag = false, is_real = false;
};
Literal ReadLiteral(Cursor* text, const char* expected);
// Throws InvalidArgument where it is no value of the type.
ir::Expr ScalarOf(const Cursor& text, const Literal& literal, DataType dtype, const Token& at);

// R.prim_value(1), R.prim_value(T.float32(0.5)), from the "(" on. `at` is its name.
PlainValue ReadPrimValue(Cursor* text, const Token& at);

// "R.Shape([n, 4])", "R.Shape(ndim=2)" or "R.Prim("int64")" in a body.
struct PlainType {
  Token at;
  bool is_shape = true;
  std::optional<std::vector<Dim>> shape = std::nullopt;
  std::optional<std::size_t> rank = std::nullopt;
  std::optional<DataType> dtype = std::nullopt;

  bool Holds(const PlainValue& value) const;
};
bool BeginsPlainType(const Cursor& text);
PlainType ReadPlainType(Cursor* text, Scope* scope);

// s[0] or s[-1], from the "[" on.
PlainValue ReadItem(Cursor* text, const PlainValue& shape);
// The extents that variables of shapes and numbers stand for: s[0], k.
OtherExtents PlainExtents(Cursor* text, const Scope* scope);

class PlainReader {
 public:
  PlainReader(Cursor* text, Scope* scope, const ReadInput& read_input)
      : text_(text), scope_(scope), read_input_(read_input) {}

  // Whether R.shape, R.shape_of, R.prim_value, a variable of such a value or an item begins here.
  bool Begins() const;
  // Whether it is a variable of such a value, an item of one, or R.shape_of. In these each extent
  // is itself; in a list that is written out, 0 and -1 are codes of R.reshape.
  bool BeginsKnown() const;
  PlainValue Read();
  // The argument of an operator. Nothing, with nothing read, for a literal without variables.
  std::optional<PlainValue> ReadArgument(bool is_shape);

 private:
  bool IsAfterR(std::string_view name) const;
  bool HasExtentNames() const;
  bool HasPlainNames() const;
  bool AnyName(const std::function<bool(const Cursor& at)>& is_one) const;
  PlainValue Whole();
  PlainValue ShapeOf();
  PlainValue Shape();
  PlainValue ListOfNumbers();

  Cursor* const text_;
  Scope* const scope_;
  const ReadInput& read_input_;
};

}  // namespace tenon::relax

#endif  // TENON_RELAX_READ_PLAIN_H_
