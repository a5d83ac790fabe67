// What the handles of tenon_c.h hold, and how its functions turn exceptions into errors.
#ifndef TENON_C_API_HANDLES_H_
#define TENON_C_API_HANDLES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tenon/c_api/tenon_c.h"
#include "tenon/compiler/compile.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

struct TenonError {
  int code;
  std::string message;
};
struct TenonText {
  std::string text;
};
struct TenonExpr {
  tenon::ir::Expr expr;
};
struct TenonModule {
  tenon::ir::Module module;
};
struct TenonExecutable {
  tenon::Lowered lowered;  // of a program, nothing
  bool has_plan = false;   // in `lowered`
  tenon::runtime::Executable executable;
  std::vector<tenon::runtime::Entry> results;  // of which types and shapes are read
};

namespace tenon::c_api {

// Of a status that is not OK. Does not throw.
TenonError* MakeError(const absl::Status& status) noexcept;

// Runs `body` of the function `name`.
template <typename Body>
TenonError* Run(const char* name, const Body& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Error& error) {
    return MakeError(Error(error).AddNote(StrCat("in ", name)).ToStatus());
  } catch (...) {
    return MakeError(CurrentExceptionToStatus());
  }
}

template <typename T>
T& Required(T* pointer, const char* what) {
  if (pointer == nullptr) throw InvalidArgument(StrCat(what, " is null"));
  return *pointer;
}
inline std::string RequiredText(const char* text, const char* what) {
  return &Required(text, what);
}

// Makes a handle of `value`.
template <typename Handle, typename Value>
void Give(Value value, Handle** out) {
  Required(out, "where the result goes");
  *out = new Handle{std::move(value)};
}

}  // namespace tenon::c_api

#endif  // TENON_C_API_HANDLES_H_
