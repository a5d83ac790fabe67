#include "tenon/ops/relax_names.h"

#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

constexpr std::string_view kPrefix = "relax.";

struct Row {
  std::string_view op;
  std::string_view relax;  // without the prefix
};
constexpr Row kOtherWords[] = {
    {"cast", "astype"},
    {"concatenate", "concat"},
    {"gather", "gather_elements"},
    {"nn.leaky_relu", "nn.leakyrelu"},
    {"nn.matmul", "matmul"},
    {"qnn.dequantize", "dequantize"},
    {"qnn.quantize", "quantize"},
    {"reverse", "flip"},
    {"transpose", "permute_dims"},
};

}  // namespace

std::string RelaxNameOf(std::string_view op) {
  for (const Row& row : kOtherWords) {
    if (row.op == op) return StrCat(kPrefix, row.relax);
  }
  return StrCat(kPrefix, op);
}

std::string FromRelaxName(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::string(name);
  const std::string_view word = name.substr(kPrefix.size());
  for (const Row& row : kOtherWords) {
    if (row.relax == word) return std::string(row.op);
  }
  return std::string(word);
}

}  // namespace tenon::ops
