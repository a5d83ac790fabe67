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
  kString,  // with its quotes; StringValue reads it
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

// What a string token stands for. An escape \udc80 to \udcff is a single byte that is no UTF-8, as
// Python's "surrogateescape" has it. Throws InvalidArgument for an escape that is not known.
std::string StringValue(const Token& token, ir::SourceText* places);
// The text that StringValue reads back.
std::string QuotedString(std::string_view value);

// "'x'", "the end of the line": for messages.
std::string Shown(const Token& token);

}  // namespace tenon::relax

#endif  // TENON_RELAX_TOKENS_H_
