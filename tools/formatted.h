// Numbers in a text of fixed width or precision.
#ifndef TENON_TOOLS_FORMATTED_H_
#define TENON_TOOLS_FORMATTED_H_

#include <cstdio>
#include <string>

namespace tenon::tools {

// A printf format and its numbers; at most 511 characters of it.
template <typename... Args>
std::string Formatted(const char* format, Args... args) {
  char text[512];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}

}  // namespace tenon::tools

#endif  // TENON_TOOLS_FORMATTED_H_
