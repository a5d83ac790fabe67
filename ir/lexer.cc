#include "tenon/ir/lexer.h"

#include <algorithm>
#include <cctype>

#include "tenon/attrs/value.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

// The bytes of the UTF-8 character that begins at `from`.
std::size_t Lexer::CharacterLength(std::size_t from) const {
  const auto is_continuation = [&](std::size_t at) {
    return (static_cast<unsigned char>(At(at)) & 0xC0U) == 0x80U;
  };
  std::size_t end = from + 1;
  // A character has at most four bytes.
  if (static_cast<unsigned char>(text_[from]) >= 0xC0U) {
    while (end < from + 4 && is_continuation(end)) ++end;
  }
  return end - from;
}

void Lexer::SkipBlanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position_;
    } else if (c == '/' && At(position_ + 1) == '/') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == '/' && At(position_ + 1) == '*') {
      const std::size_t end = text_.find("*/", position_ + 2);
      if (end == std::string_view::npos)
        throw ErrorAt({TokenKind::kEnd, "", position_, 2}, "this comment is never closed");
      position_ = end + 2;
    } else {
      return;
    }
  }
}

std::size_t Lexer::NameLength(std::size_t from, bool with_dots, bool with_slashes) const {
  std::size_t end = from;
  while (IsLetter(At(end)) || IsDigit(At(end)) ||
         (with_dots && At(end) == '.' && IsLetter(At(end + 1))) ||
         (with_slashes && At(end) == '/' && (IsLetter(At(end + 1)) || IsDigit(At(end + 1)))))
    ++end;
  return end - from;
}

std::size_t Lexer::SignedNameLength(std::size_t from) const {
  // A number is a temporary. Names come from other formats, where they are paths.
  const bool is_named = !IsDigit(At(from + 1));
  return NameLength(from + 1, is_named, is_named);
}

std::size_t Lexer::NumberLength() const {
  std::size_t end = position_ + (text_[position_] == '-' ? 1 : 0);
  while (IsDigit(At(end))) ++end;
  // ".0" after a dot is a projection, not a fraction.
  if (!after_dot_ && At(end) == '.' && IsDigit(At(end + 1))) {
    ++end;
    while (IsDigit(At(end))) ++end;
  }
  if (At(end) == 'e' && (IsDigit(At(end + 1)) ||
                         ((At(end + 1) == '-' || At(end + 1) == '+') && IsDigit(At(end + 2))))) {
    end += 2;
    while (IsDigit(At(end))) ++end;
  }
  while (IsLetter(At(end)) || IsDigit(At(end))) ++end;  // the suffix of the type
  return end - position_;
}

Token Lexer::Take(TokenKind kind, std::size_t length, std::size_t prefix) {
  Token token{kind, std::string(text_.substr(position_ + prefix, length - prefix)), position_,
              length};
  position_ += length;
  after_dot_ = kind == TokenKind::kPunctuation && token.text == ".";
  return token;
}

Token Lexer::String(TokenKind kind, std::size_t prefix) {
  std::string value;
  std::size_t end = position_ + prefix + 1;
  for (; At(end) != '"'; ++end) {
    if (end >= text_.size() || text_[end] == '\n')
      throw ErrorAt({TokenKind::kString, "", position_, end - position_},
                    "this string is never closed");
    char c = text_[end];
    if (c == '\\') {
      c = At(++end);
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    value += c;
  }
  Token token = Take(kind, end + 1 - position_);
  token.text = std::move(value);
  return token;
}

Token Lexer::Next() {
  SkipBlanks();
  if (position_ >= text_.size()) return {TokenKind::kEnd, "", text_.size(), 0};
  const char c = text_[position_];
  if (c == '%' || c == '@') {
    const std::size_t length = SignedNameLength(position_);
    if (length > 0) return Take(c == '%' ? TokenKind::kLocal : TokenKind::kGlobal, length + 1, 1);
    if (c == '@' && At(position_ + 1) == '"') return String(TokenKind::kGlobal, 1);
  }
  if (IsLetter(c)) return Take(TokenKind::kName, NameLength(position_, true));
  if (IsDigit(c) || (c == '-' && IsDigit(At(position_ + 1))))
    return Take(TokenKind::kNumber, NumberLength());
  if (c == '"') return String(TokenKind::kString);
  if (c == '-' && At(position_ + 1) == '>') return Take(TokenKind::kPunctuation, 2);
  if (std::string_view("(){}[]<>,.;:=?#-+*").find(c) != std::string_view::npos)
    return Take(TokenKind::kPunctuation, 1);
  throw ErrorAt({TokenKind::kPunctuation, "", position_, 1},
                StrCat("the character '", text_.substr(position_, CharacterLength(position_)),
                       "' has no meaning here"));
}

std::string Lexer::GlobalText(const std::string& name) {
  const std::string plain = "@" + name;
  if (!name.empty() && Lexer(plain, "").SignedNameLength(0) == name.size()) return plain;
  return "@" + attrs::ToText(attrs::Value(name));
}

std::string Lexer::NameText(const std::string& name) {
  const bool is_plain = !name.empty() && IsLetter(name[0]) &&
                        Lexer(name, "").NameLength(0, /*with_dots=*/true) == name.size();
  return is_plain ? name : attrs::ToText(attrs::Value(name));
}

}  // namespace tenon::ir
