#include "tenon/relax/tokens.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

constexpr std::array<std::string_view, 12> kLongPunctuation = {
    "->", "//", "**", "==", "!=", "<=", ">=", ":=", "+=", "-=", "*=", "/="};
constexpr std::string_view kPunctuation = "()[]{},.:=@+-*/<>%&|^~;";

class Tokenizer {
 public:
  Tokenizer(std::string_view text, ir::SourceText* places) : text_(text), places_(places) {}

  std::vector<Token> Run() {
    while (true) {
      if (at_line_start_ && !BeginLine()) break;
      SkipBlanks();
      if (position_ >= text_.size()) break;
      if (text_[position_] == '\n') {
        EndLine();
      } else {
        Next();
      }
    }
    if (depth_ > 0) Fail(open_.back(), 1, "this bracket is never closed");
    EndLine();
    for (; indents_.size() > 1; indents_.pop_back()) Add(TokenKind::kDedent, 0);
    Add(TokenKind::kEnd, 0);
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void Fail(std::size_t offset, std::size_t length, const std::string& message) {
    throw places_->ErrorAt(offset, length, message);
  }
  char At(std::size_t position) const { return position < text_.size() ? text_[position] : '\0'; }
  void Add(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, text_.substr(position_, length), position_});
    position_ += length;
  }

  // Measures the indentation of the next line that is not empty. False at the end of the text.
  bool BeginLine() {
    while (true) {
      const std::size_t start = position_;
      while (At(position_) == ' ' || At(position_) == '\r') ++position_;
      if (At(position_) == '#') position_ = std::min(text_.find('\n', position_), text_.size());
      if (position_ >= text_.size()) return false;
      if (text_[position_] == '\t')
        Fail(position_, 1, "a tab stands at the start of a line; indent with blanks");
      if (text_[position_] != '\n') {
        Indent(position_ - start);
        at_line_start_ = false;
        return true;
      }
      ++position_;
    }
  }

  void Indent(std::size_t width) {
    if (width > indents_.back()) {
      const bool opens =
          !tokens_.empty() && tokens_.back().kind == TokenKind::kLineEnd && last_was_colon_;
      if (!opens)
        Fail(position_, 1,
             StrCat("this line is indented by ", width, " blanks, but no block begins here; the ",
                    "block around it is indented by ", indents_.back()));
      indents_.push_back(width);
      Add(TokenKind::kIndent, 0);
      return;
    }
    while (width < indents_.back()) {
      indents_.pop_back();
      Add(TokenKind::kDedent, 0);
    }
    if (width != indents_.back())
      Fail(position_, 1,
           StrCat("this line is indented by ", width, " blanks; no block around it is (",
                  StrJoin(indents_, ", "), ")"));
  }

  void SkipBlanks() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && depth_ > 0)) {
        ++position_;
      } else if (c == '#') {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (c == '\\' && At(position_ + 1) == '\n') {
        position_ += 2;
      } else {
        return;
      }
    }
  }

  void EndLine() {
    if (!tokens_.empty() && tokens_.back().kind != TokenKind::kLineEnd &&
        tokens_.back().kind != TokenKind::kDedent) {
      last_was_colon_ = tokens_.back().text == ":";
      tokens_.push_back({TokenKind::kLineEnd, {}, position_});
    }
    if (position_ < text_.size()) ++position_;
    at_line_start_ = true;
  }

  void Next() {
    const char c = text_[position_];
    if (IsLetter(c)) {
      std::size_t end = position_;
      while (IsLetter(At(end)) || IsDigit(At(end))) ++end;
      return Add(TokenKind::kName, end - position_);
    }
    if (IsDigit(c) || (c == '.' && IsDigit(At(position_ + 1)))) return Number();
    if (c == '"' || c == '\'') return String(c);
    for (const std::string_view sign : kLongPunctuation) {
      if (text_.substr(position_).starts_with(sign)) return Add(TokenKind::kPunctuation, 2);
    }
    if (kPunctuation.find(c) == std::string_view::npos)
      Fail(position_, 1, "this character has no meaning here");
    if (c == '(' || c == '[' || c == '{') {
      open_.push_back(position_);
      ++depth_;
    } else if (c == ')' || c == ']' || c == '}') {
      if (depth_ == 0) Fail(position_, 1, "this bracket was not opened");
      const char opened = text_[open_.back()];
      const char wanted = opened == '(' ? ')' : opened == '[' ? ']' : '}';
      if (c != wanted)
        Fail(position_, 1,
             StrCat("expected '", std::string(1, wanted), "', which closes '",
                    std::string(1, opened), "'"));
      open_.pop_back();
      --depth_;
    }
    Add(TokenKind::kPunctuation, 1);
  }

  void Number() {
    std::size_t end = position_;
    while (IsDigit(At(end))) ++end;
    if (At(end) == '.') {
      ++end;
      while (IsDigit(At(end))) ++end;
    }
    const std::size_t sign = At(end + 1) == '-' || At(end + 1) == '+' ? 2 : 1;
    if ((At(end) == 'e' || At(end) == 'E') && IsDigit(At(end + sign))) {
      end += sign;
      while (IsDigit(At(end))) ++end;
    }
    if (IsLetter(At(end))) Fail(position_, end + 1 - position_, "this number cannot be read");
    Add(TokenKind::kNumber, end - position_);
  }

  void String(char quote) {
    const std::string three(3, quote);
    const bool is_long = text_.substr(position_).starts_with(three);
    std::size_t end = position_ + (is_long ? 3 : 1);
    for (;; ++end) {
      if (end >= text_.size() || (!is_long && text_[end] == '\n'))
        Fail(position_, is_long ? 3 : end - position_, "this string is never closed");
      if (text_[end] == '\\') {
        ++end;
      } else if (is_long ? text_.substr(end).starts_with(three) : text_[end] == quote) {
        break;
      }
    }
    Add(TokenKind::kString, end + (is_long ? 3 : 1) - position_);
  }

  const std::string_view text_;
  ir::SourceText* const places_;
  std::size_t position_ = 0;
  bool at_line_start_ = true;
  bool last_was_colon_ = false;
  std::size_t depth_ = 0;
  std::vector<std::size_t> open_;  // brackets
  std::vector<std::size_t> indents_ = {0};
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> Tokenize(std::string_view text, ir::SourceText* places) {
  return Tokenizer(text, places).Run();
}

std::string Shown(const Token& token) {
  switch (token.kind) {
    case TokenKind::kLineEnd:
      return "the end of the line";
    case TokenKind::kIndent:
      return "an indented block";
    case TokenKind::kDedent:
      return "the end of the block";
    case TokenKind::kEnd:
      return "the end of the text";
    default:
      break;
  }
  constexpr std::size_t kLongest = 60;
  return StrCat("'", token.text.substr(0, kLongest), token.text.size() > kLongest ? "..." : "",
                "'");
}

}  // namespace tenon::relax
