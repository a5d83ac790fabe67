#include "tenon/tools/kernel_texts.h"

#include <memory>
#include <variant>

#include "tenon/support/error.h"

namespace tenon::tools {

std::vector<loop::Function> GeneratedParts(const LoweredKernel& kernel) {
  std::vector<loop::Function> parts = strategies::GeneratedFunctions(kernel.choice.built);
  for (const strategies::PreparedConstant& prepared : kernel.choice.built.prepared)
    parts.push_back(prepared.function);
  return parts;
}

std::string PartText(const loop::Function& part, jit::KernelText kind,
                     const jit::CompileOptions& options) {
  const std::string text = ValueOrThrow(jit::TextOf(part, kind, options));
  if (!text.empty()) return text;
  return part.body.source() == nullptr ? "// none: the loops were made by hand"
                                       : "// none: the loops are as the expressions say";
}

std::string LibraryCode(const LoweredKernel& kernel) {
  const auto* callable =
      std::get_if<std::shared_ptr<const jit::Callable>>(&kernel.choice.built.kernel);
  return callable == nullptr ? "" : (*callable)->implementation();
}

}  // namespace tenon::tools
