// The tokens of a Relay text, one at a time with one ahead, and errors at their places. Only the
// parser includes this header.
#ifndef TENON_IR_TOKEN_READER_H_
#define TENON_IR_TOKEN_READER_H_

#include <string>
#include <string_view>
#include <utility>

#include "tenon/ir/lexer.h"
#include "tenon/support/strings.h"

namespace tenon::ir {

inline constexpr int kMaxNesting = 400;

class TokenReader {
 public:
  // `text` must outlive the reader.
  TokenReader(std::string_view text, const std::string& source) : lexer_(text, source) {
    token_ = lexer_.Next();
    ahead_ = lexer_.Next();
  }

 protected:
  // Nesting takes stack, so it is bounded.
  struct Nested {
    TokenReader* reader;
    explicit Nested(TokenReader* r) : reader(r) {
      if (++r->nesting_ > kMaxNesting)
        r->Fail(r->token_, StrCat("nested more than ", kMaxNesting,
                                  " deep; give inner results a name (%0 = ...)"));
    }
    ~Nested() { --reader->nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
  };

  [[noreturn]] void Fail(const Token& at, const std::string& message) {
    throw lexer_.ErrorAt(at, message);
  }
  static std::string Shown(const Token& t) {
    if (t.kind == TokenKind::kEnd) return "the end of the text";
    const char* sign = t.kind == TokenKind::kLocal ? "%" : t.kind == TokenKind::kGlobal ? "@" : "";
    return StrCat("'", sign, t.text, "'");
  }
  Token Advance() {
    Token taken = std::move(token_);
    token_ = std::move(ahead_);
    ahead_ = lexer_.Next();
    return taken;
  }
  bool IsPunct(std::string_view text) const {
    return token_.kind == TokenKind::kPunctuation && token_.text == text;
  }
  bool IsName(std::string_view text) const {
    return token_.kind == TokenKind::kName && token_.text == text;
  }
  // "%0 = ..." begins here.
  bool IsLine() const {
    return token_.kind == TokenKind::kLocal && ahead_.kind == TokenKind::kPunctuation &&
           ahead_.text == "=";
  }
  bool Accept(std::string_view punctuation) {
    if (!IsPunct(punctuation)) return false;
    Advance();
    return true;
  }
  Token Expect(std::string_view punctuation, const char* where) {
    if (!IsPunct(punctuation))
      Fail(token_, StrCat("expected '", punctuation, "' ", where, ", found ", Shown(token_)));
    return Advance();
  }
  Token ExpectKind(TokenKind kind, const char* what) {
    if (token_.kind != kind) Fail(token_, StrCat("expected ", what, ", found ", Shown(token_)));
    return Advance();
  }
  // Runs `make`; a user error that it throws is shown at `at`.
  template <typename Make>
  auto Placed(const Token& at, Make make) {
    try {
      return make();
    } catch (const Error& error) {
      if (error.code() == absl::StatusCode::kInternal) throw;
      Error placed = lexer_.ErrorAt(at, error.message());
      for (const std::string& note : error.notes()) placed.AddNote(note);
      throw placed;
    }
  }

  Lexer lexer_;
  Token token_, ahead_;

 private:
  int nesting_ = 0;
};

}  // namespace tenon::ir

#endif  // TENON_IR_TOKEN_READER_H_
