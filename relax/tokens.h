// Tokens of Relax text: Python's, with the starts and ends of indented blocks.
//
// A line break inside brackets is no token, nor are comments and empty lines.
//
//   ir::SourceText places(text, "module.py");
//   for (const Token& token : Tokenize(text, &places)) ...
#ifndef TENON_RELAX_TOKENS_H_
#define TENON_RELAX_TOKENS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/ir/source_text.h"

namespace tenon::relax {

enum class TokenKind {
  kName,
  kNumber,
  kString,  // with its quotes; string_text.h reads it
  kPunctuation,
  kLineEnd,
  kIndent,  // a block begins
  kDedent,  // a block ends
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // a part of the source
  std::size_t offset = 0;
};

// The last token is kEnd. Throws InvalidArgument with its place for a character or a string that
// cannot be read, and for wrong indentation.
std::vector<Token> Tokenize(std::string_view text, ir::SourceText* places);

// "'x'", "the end of the line": for messages.
std::string Shown(const Token& token);

}  // namespace tenon::relax

#endif  // TENON_RELAX_TOKENS_H_
