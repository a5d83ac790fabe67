// The text of a module's body, for goldens.
#ifndef TENON_TESTS_PASSES_QUANTIZE_BODY_TEXT_H_
#define TENON_TESTS_PASSES_QUANTIZE_BODY_TEXT_H_

#include <string>

#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {

// The body with every line of text, without types of intermediate values.
inline std::string BodyOf(const ir::Module& module) {
  std::string text = Print(module), body;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 4, " /* ") == 0) i = text.find("*/", i) + 2;
    body += text[i];
  }
  return body.substr(body.find("{\n") + 2);
}

}  // namespace tenon::passes

#endif  // TENON_TESTS_PASSES_QUANTIZE_BODY_TEXT_H_
