#include "tenon/relax/read_extent.h"

#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

class ExtentReader {
 public:
  ExtentReader(Cursor* text, const std::function<Dim(const Token& name)>& meaning)
      : text_(text), meaning_(meaning) {}

  Dim Sum() {
    const Nested nested(*text_);
    Dim sum = Product();
    while (true) {
      if (text_->Accept("+")) {
        sum = sum + Product();
      } else if (text_->Accept("-")) {
        sum = sum - Product();
      } else {
        return sum;
      }
    }
  }

 private:
  Dim Product() {
    Dim product = Factor();
    while (true) {
      if (text_->Accept("*")) {
        product = product * Factor();
      } else if (text_->Accept("//")) {
        product = FloorDiv(product, Divisor());
      } else {
        return product;
      }
    }
  }

  std::int64_t Divisor() {
    const Token at = text_->token();
    const Dim divisor = Factor();
    if (!divisor.is_static() || divisor.value() < 1)
      text_->Fail(at, "extents are divided by numbers from 1 on");
    return divisor.value();
  }

  Dim Factor() {
    const Nested nested(*text_);
    if (text_->Accept("-")) return Factor() * -1;
    if (text_->Accept("(")) {
      Dim inner = Sum();
      text_->Expect(")", "after an extent's expression");
      return inner;
    }
    if (text_->Is(TokenKind::kNumber)) return Number();
    if (!text_->Is(TokenKind::kName)) text_->FailExpected("an extent (a number or a variable)");
    Token name = text_->Advance();
    if (name.text == "T" && text_->Accept(".")) return Function();
    if (text_->IsPunct("(")) {
      return FunctionNamed(name);
    }
    return meaning_(name);
  }

  Dim Number() {
    const Token number = text_->Advance();
    const auto value = ParseNumber<std::int64_t>(number.text);
    if (!value)
      text_->Fail(number,
                  StrCat("'", number.text, "' is not an integer of 64 bits, as extents are"));
    return Dim(*value);
  }

  // After "T.": a function, or a number with its type.
  Dim Function() {
    const Token name = text_->ExpectName("max, min, floordiv, int64 or int32");
    return FunctionNamed(name);
  }

  Dim FunctionNamed(const Token& name) {
    text_->Expect("(", "after the name of a function");
    if (name.text == "int64" || name.text == "int32") {
      const Dim value = Sum();
      text_->Expect(")", "after a number");
      return value;
    }
    const Dim a = Sum();
    text_->Expect(",", "between the arguments of a function of extents");
    if (name.text == "floordiv") {
      const Dim quotient = FloorDiv(a, Divisor());
      text_->Expect(")", "after the arguments of a function of extents");
      return quotient;
    }
    const Dim b = Sum();
    text_->Expect(")", "after the arguments of a function of extents");
    if (name.text == "max") return Max(a, b);
    if (name.text == "min") return Min(a, b);
    text_->Fail(name, StrCat("'", name.text,
                             "' is not a function of extents; these are T.floordiv, T.max and "
                             "T.min"));
  }

  Cursor* const text_;
  const std::function<Dim(const Token& name)>& meaning_;
};

}  // namespace

Dim ReadExtent(Cursor* text, const std::function<Dim(const Token& name)>& meaning) {
  const Token at = text->token();
  // Numbers that do not fit are refused by the arithmetic, which knows no place.
  return text->Placed(at, [&] { return ExtentReader(text, meaning).Sum(); });
}

}  // namespace tenon::relax
