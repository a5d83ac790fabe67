// A place in the tokens of a text, and the errors of whoever reads there.
//
//   Cursor at(&source);
//   at.Expect("(", "before the parameters");
//   const Token name = at.ExpectName("the name of a parameter");
#ifndef TENON_RELAX_CURSOR_H_
#define TENON_RELAX_CURSOR_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/relax/tokens.h"
#include "tenon/support/error.h"

namespace tenon::relax {

// How many ifs may stand inside each other. Python takes no more than 100 blocks.
inline constexpr int kMaxIfs = 90;

// A text and its tokens, which all readers of it share.
struct Source {
  Source(std::string_view whole, std::string name)
      : text(whole), places(text, std::move(name)), tokens(Tokenize(text, &places)) {}
  const std::string_view text;
  ir::SourceText places;
  const std::vector<Token> tokens;
  int nesting = 0;  // of what is being read
  int ifs = 0;      // inside each other
};

class Cursor {
 public:
  explicit Cursor(Source* source, std::size_t position = 0)
      : source_(source), position_(position) {}

  const Token& token() const { return source_->tokens[position_]; }
  // The token after the current one; the last one stays.
  const Token& ahead() const;
  std::size_t position() const { return position_; }
  Source* source() const { return source_; }
  Token Advance();
  void Skip(std::size_t position) { position_ = position; }

  bool Is(TokenKind kind) const { return token().kind == kind; }
  bool IsPunct(std::string_view text) const {
    return Is(TokenKind::kPunctuation) && token().text == text;
  }
  bool IsName(std::string_view text) const { return Is(TokenKind::kName) && token().text == text; }
  // "name =" begins here.
  bool IsKeyword() const {
    return Is(TokenKind::kName) && ahead().kind == TokenKind::kPunctuation && ahead().text == "=";
  }
  bool Accept(std::string_view punctuation);
  bool AcceptName(std::string_view name);

  // Throws InvalidArgument at `at` with its line.
  [[noreturn]] void Fail(const Token& at, const std::string& message) const;
  // "expected WANTED, found ..." at the current token.
  [[noreturn]] void FailExpected(std::string_view wanted) const;
  Token Expect(std::string_view punctuation, std::string_view where);
  Token ExpectName(std::string_view what);
  Token ExpectKind(TokenKind kind, std::string_view what);
  void ExpectLineEnd(std::string_view what);
  Span SpanOf(const Token& token) const {
    return source_->places.SpanOf(token.offset, token.text.size());
  }
  std::string String();  // takes a string token, or several in a row

  // Runs `make`; a user error that it throws is shown at `at`.
  template <typename Make>
  auto Placed(const Token& at, Make make) const {
    try {
      return make();
    } catch (const Error& error) {
      if (error.code() == absl::StatusCode::kInternal) throw;
      Error placed = source_->places.ErrorAt(at.offset, at.text.size(), error.message());
      for (const std::string& note : error.notes()) placed.AddNote(note);
      throw placed;
    }
  }

 private:
  Source* source_;
  std::size_t position_;
};

// Guards recursion: the depth of a text must not become depth of the stack.
class Nested {
 public:
  explicit Nested(const Cursor& at) : source_(at.source()) {
    if (source_->nesting >= kMaxNesting)
      at.Fail(at.token(), "nested more than 200 deep; give inner results a name");
    ++source_->nesting;
  }
  ~Nested() { --source_->nesting; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  static constexpr int kMaxNesting = 200;
  Source* source_;
};

}  // namespace tenon::relax

#endif  // TENON_RELAX_CURSOR_H_
