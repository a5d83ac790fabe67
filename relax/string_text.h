// Strings in Relax text, which may hold any bytes.
//
//   QuotedString("a\"b") == R"("a\"b")";
#ifndef TENON_RELAX_STRING_TEXT_H_
#define TENON_RELAX_STRING_TEXT_H_

#include <string>
#include <string_view>

#include "tenon/ir/source_text.h"
#include "tenon/relax/tokens.h"

namespace tenon::relax {

// What a string token stands for. An escape \udc80 to \udcff is a single byte that is no UTF-8, as
// Python's "surrogateescape" has it. Throws InvalidArgument for an escape that is not known.
std::string StringValue(const Token& token, ir::SourceText* places);
// The text that StringValue reads back.
std::string QuotedString(std::string_view value);

}  // namespace tenon::relax

#endif  // TENON_RELAX_STRING_TEXT_H_
