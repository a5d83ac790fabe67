#include "tenon/ops/relax_names.h"

#include <map>

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

std::vector<std::size_t> RelaxAttributeArguments(std::string_view relax_name) {
  static const auto& rows = *new std::map<std::string_view, std::vector<std::size_t>>{
      {"relax.broadcast_to", {1}},           {"relax.clip", {1, 2}}, {"relax.full", {0}},
      {"relax.image.resize2d", {1}},         {"relax.ones", {0}},    {"relax.reshape", {1}},
      {"relax.strided_slice", {1, 2, 3, 4}}, {"relax.zeros", {0}},
  };
  const auto row = rows.find(relax_name);
  return row == rows.end() ? std::vector<std::size_t>() : row->second;
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
