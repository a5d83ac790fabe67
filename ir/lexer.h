// Tokens of the Relay text format.
//
//   Lexer lexer(text, "file.relay");
//   for (Token t = lexer.Next(); t.kind != TokenKind::kEnd; t = lexer.Next()) ...
#ifndef TENON_IR_LEXER_H_
#define TENON_IR_LEXER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "tenon/ir/source_text.h"
#include "tenon/support/error.h"

namespace tenon::ir {

enum class TokenKind {
  kName,    // nn.conv2d, fn, float32
  kLocal,   // %x and %0; the text is what follows the sign
  kGlobal,  // @main, and @"any name"; the text is the name
  kNumber,  // 1, -2, 1e-05f, 3i64
  kString,  // the text is without quotes and escapes
  kPunctuation,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  std::size_t offset = 0;
  std::size_t length = 0;
};

class Lexer {
 public:
  // `text` must outlive the lexer.
  Lexer(std::string_view text, std::string source)
      : text_(text), places_(text, std::move(source)) {}

  // How a function is written: @name, or @"any name" where the name has characters that end one.
  static std::string GlobalText(const std::string& name);
  // How an attribute of a function is named: name, or "any name".
  static std::string NameText(const std::string& name);

  // Throws InvalidArgument for a character, a string or a comment that it cannot read.
  Token Next();
  Span SpanOf(const Token& token) { return places_.SpanOf(token.offset, token.length); }
  // An error at a token, with its line and a caret as a note.
  Error ErrorAt(const Token& token, const std::string& message) {
    return places_.ErrorAt(token.offset, token.length, message);
  }

 private:
  void SkipBlanks();
  Token Take(TokenKind kind, std::size_t length, std::size_t prefix = 0);
  // The string at `prefix` characters after the position.
  Token String(TokenKind kind, std::size_t prefix = 0);
  std::size_t NumberLength() const;
  std::size_t NameLength(std::size_t from, bool with_dots, bool with_slashes = false) const;
  // Of the name after the sign at `from`.
  std::size_t SignedNameLength(std::size_t from) const;
  std::size_t CharacterLength(std::size_t from) const;
  char At(std::size_t position) const { return position < text_.size() ? text_[position] : '\0'; }

  const std::string_view text_;
  SourceText places_;
  std::size_t position_ = 0;
  bool after_dot_ = false;
};

}  // namespace tenon::ir

#endif  // TENON_IR_LEXER_H_
