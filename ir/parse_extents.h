// Extents as a type in Relay text has them.
//
//   ParseExtents("(n, 2*n + 1, 4)");   // three of them
#ifndef TENON_IR_PARSE_EXTENTS_H_
#define TENON_IR_PARSE_EXTENTS_H_

#include <string>
#include <vector>

#include "tenon/support/dim.h"

namespace tenon::ir {

// Throws InvalidArgument for a text that is no list of extents in parentheses.
std::vector<Dim> ParseExtents(const std::string& text);
// "(n, 2*n + 1, 4)"
std::string ToText(const std::vector<Dim>& extents);

}  // namespace tenon::ir

#endif  // TENON_IR_PARSE_EXTENTS_H_
