// A plug-in that adds a row to a built-in operator: nn.dense over rows of at most 8 elements, whose
// sum is written out instead of looped over.
//
//   tenon run examples/plugin/few_columns.relay --plugin libfew_columns_plugin.so --verify
//   tenon compile examples/plugin/few_columns.relay --plugin libfew_columns_plugin.so --explain
#include <optional>
#include <string>

#include "tenon/strategies/register_op.h"

namespace {

using tenon::strategies::ExtentOf;
using tenon::strategies::TeCall;
namespace te = tenon::te;

constexpr std::int64_t kMaxColumns = 8;

std::optional<std::string> RefuseManyColumns(const TeCall& call) {
  if (call.input(0).ndim() != 2) return "the data is not a matrix";
  const std::int64_t columns = ExtentOf(call.input(0), 1);
  if (columns >= 1 && columns <= kMaxColumns && call.dtype() == call.input(0).dtype())
    return std::nullopt;
  return "rows have " + std::to_string(columns) + " elements, or sums another type";
}

std::vector<te::Tensor> WrittenOut(const TeCall& call) {
  const te::Tensor& x = call.input(0);
  const te::Tensor& weight = call.input(1);
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<te::Var>& i) {
        te::Expr sum = x(i[0], 0) * weight(i[1], 0);
        for (std::int64_t k = 1; k < ExtentOf(x, 1); ++k) sum = sum + x(i[0], k) * weight(i[1], k);
        return sum;
      },
      "dense_of_few")};
}

TENON_EXTEND_OP("nn.dense")
    .Form({.name = "dense.few_columns",
           .refusal = RefuseManyColumns,
           .make = WrittenOut,
           .priority = 1});

}  // namespace
