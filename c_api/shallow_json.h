// JSON that a caller gives. Only files of c_api/ include this header.
#ifndef TENON_C_API_SHALLOW_JSON_H_
#define TENON_C_API_SHALLOW_JSON_H_

#include <string>

#include <nlohmann/json.hpp>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::c_api {

// A discarded value for what is no JSON. A text may nest without end, and an error that quotes a
// value prints it level by level, each of which takes stack: throws InvalidArgument for more levels
// than any option or shape has.
inline nlohmann::json ParseShallow(const std::string& text, const char* what) {
  constexpr int kMaxDepth = 8;
  const auto check = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kMaxDepth)
      throw InvalidArgument(StrCat(what, " nest more than ", kMaxDepth, " levels"));
    return true;
  };
  return nlohmann::json::parse(text, check, /*allow_exceptions=*/false);
}

}  // namespace tenon::c_api

#endif  // TENON_C_API_SHALLOW_JSON_H_
