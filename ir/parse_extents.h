// Extents as a type in Relay text has them.
//
//   ParseExtents("(n, 2*n + 1, 4)");   // three of them
#ifndef TENON_IR_PARSE_EXTENTS_H_
#define TENON_IR_PARSE_EXTENTS_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/support/dim.h"

namespace tenon::ir {

using ExtentOfName = std::function<Dim(const std::string& name)>;

// `meaning` says what names stand for: a variable of that name, unless it is given. Expressions are
// simplified by what is known of these extents. Throws InvalidArgument for a text that is not a
// list of extents in parentheses.
std::vector<Dim> ParseExtents(const std::string& text, const ExtentOfName& meaning = Dim::Symbol);
// "(n, 2*n + 1, 4)"
std::string ToText(const std::vector<Dim>& extents);

}  // namespace tenon::ir

#endif  // TENON_IR_PARSE_EXTENTS_H_
