#include "tenon/tests/fuzz/front_end.h"

#include <cstdio>
#include <cstdlib>

#include "tenon/ir/structural.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/verify.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::fuzz {
namespace {

bool IsUserError(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kResourceExhausted:
      return false;
    default:
      return true;
  }
}

}  // namespace

std::optional<std::string> FaultOf(const absl::StatusOr<ir::Module>& module) {
  if (!module.ok()) {
    if (IsUserError(module.status())) return std::nullopt;
    return module.status().ToString();
  }
  const absl::Status verified = CatchErrors([&] { ir::VerifyModule(*module); });
  if (!verified.ok()) return StrCat("accepted, but: ", verified.ToString());
  const auto typed = CatchErrors([&] { return passes::InferType(*module); });
  if (!typed.ok() && !IsUserError(typed.status()))
    return StrCat("types: ", typed.status().ToString());
  const std::string text = ir::PrintModule(*module);
  const auto again = ir::ParseModule(text, ops::OpRegistry::Global().Resolver(), "printed");
  if (!again.ok())
    return StrCat("what is printed is refused: ", again.status().ToString(), "\n", text);
  // Relay text has no place for attributes of the module, such as names of results.
  if (!ir::StructuralEqual(module->WithAttrs({}), *again))
    return StrCat("is another when printed:\n", text);
  return std::nullopt;
}

void Report(const std::optional<std::string>& fault) {
  if (!fault) return;
  std::fprintf(stderr, "%s\n", fault->c_str());
  std::abort();
}

void CheckFrontEnd(const absl::StatusOr<ir::Module>& module) { Report(FaultOf(module)); }

}  // namespace tenon::fuzz
