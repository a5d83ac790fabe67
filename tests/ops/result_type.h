// The type that an operator gives, or the words in which it refuses.
#ifndef TENON_TESTS_OPS_RESULT_TYPE_H_
#define TENON_TESTS_OPS_RESULT_TYPE_H_

#include <string>

#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ops {

// Of "def @main(params) { body }".
inline std::string ResultType(const std::string& params, const std::string& body) {
  try {
    const ir::Module module =
        passes::InferType(Parse(StrCat("def @main(", params, ") { ", body, " }")));
    return ir::ToString(module.Main().body.checked_type());
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace tenon::ops

#endif  // TENON_TESTS_OPS_RESULT_TYPE_H_
