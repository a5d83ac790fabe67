#include "tenon/relax/cursor.h"

#include <algorithm>

#include "tenon/relax/string_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {

const Token& Cursor::ahead() const {
  return source_->tokens[std::min(position_ + 1, source_->tokens.size() - 1)];
}

Token Cursor::Advance() {
  Token taken = token();
  if (position_ + 1 < source_->tokens.size()) ++position_;
  return taken;
}

bool Cursor::Accept(std::string_view punctuation) {
  if (!IsPunct(punctuation)) return false;
  Advance();
  return true;
}

bool Cursor::AcceptName(std::string_view name) {
  if (!IsName(name)) return false;
  Advance();
  return true;
}

void Cursor::Fail(const Token& at, const std::string& message) const {
  throw source_->places.ErrorAt(at.offset, at.text.size(), message);
}

void Cursor::FailExpected(std::string_view wanted) const {
  Fail(token(), StrCat("expected ", wanted, ", found ", Shown(token())));
}

Token Cursor::Expect(std::string_view punctuation, std::string_view where) {
  if (!IsPunct(punctuation)) FailExpected(StrCat("'", punctuation, "' ", where));
  return Advance();
}

Token Cursor::ExpectName(std::string_view what) { return ExpectKind(TokenKind::kName, what); }

Token Cursor::ExpectKind(TokenKind kind, std::string_view what) {
  if (!Is(kind)) FailExpected(what);
  return Advance();
}

void Cursor::ExpectLineEnd(std::string_view what) {
  if (!Is(TokenKind::kLineEnd)) FailExpected(StrCat("the end of the line after ", what));
  Advance();
}

std::string Cursor::String() {
  if (!Is(TokenKind::kString)) FailExpected("a string");
  std::string value;
  while (Is(TokenKind::kString)) value += StringValue(Advance(), &source_->places);
  return value;
}

}  // namespace tenon::relax
