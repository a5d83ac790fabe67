// The name of a fused function, made of its content. Measurements of its kernels are kept under it.
//
// The text is that of the function in the Relay text format, which is fixed, and a line that says
// which parameters are constant. It has operators, shapes, element types, and those attributes that
// differ from their defaults. It has no addresses, positions in a model, names of files, or values
// of constants with axes. So the same layer of two models has one content, on every machine. A
// later version of Tenon keeps it, too, as long as the format stays, whatever becomes of computes
// and schedules. A new attribute has its default and is not printed.
//
//   ContentKey(ContentText(group)) == "5f0c1b6e2a9d4c38"
#ifndef TENON_STRATEGIES_CHOICE_CONTENT_H_
#define TENON_STRATEGIES_CHOICE_CONTENT_H_

#include <string>

#include "tenon/strategies/strategy.h"

namespace tenon::strategies {

std::string ContentText(const Group& group);
// 16 hexadecimal digits.
std::string ContentKey(const std::string& text);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_CHOICE_CONTENT_H_
