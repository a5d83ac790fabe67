#include "tenon/verify/check/printed_module.h"

#include "tenon/ir/structural.h"
#include "tenon/ir/text_format.h"
#include "tenon/ops/registry.h"
#include "tenon/support/strings.h"

namespace tenon::verify {

std::optional<std::string> WrongText(const ir::Module& module) {
  const std::string text = ir::PrintModule(module);
  const auto again = ir::ParseModule(text, ops::OpRegistry::Global().Resolver(), "printed");
  if (!again.ok()) return StrCat("its text is refused: ", again.status().message());
  // Relay text has no place for attributes of the module.
  if (!ir::StructuralEqual(module.WithAttrs({}), *again)) return "its text is another module";
  return std::nullopt;
}

}  // namespace tenon::verify
