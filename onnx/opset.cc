#include "tenon/onnx/opset.h"

#include <cstdint>

#include "tenon/onnx/import.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

bool IsDefaultDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

int OpsetOf(const OpsetImports& imports, int otherwise, const std::string& what) {
  std::int64_t opset = otherwise;
  for (const auto& entry : imports) {
    if (IsDefaultDomain(entry.domain())) opset = entry.version();
  }
  if (opset < kFirstOpset || opset > kLastOpset)
    throw Unimplemented(StrCat(what, " is of opset ", opset, "; opsets ", kFirstOpset, " to ",
                               kLastOpset, " are supported"));
  return static_cast<int>(opset);
}

}  // namespace tenon::onnx_import
