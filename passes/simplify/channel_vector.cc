#include "tenon/passes/simplify/channel_vector.h"

#include "tenon/ops/index_builders.h"
#include "tenon/support/strings.h"

namespace tenon::passes {

ir::Expr ChannelVector(const ir::Expr& vector, const ir::Expr& typed_vector, const ir::Expr& data,
                       const ir::Expr& typed_data, int axis) {
  const auto& has = *typed_vector.checked_type().As<ir::TensorTypeNode>();
  const auto& of = *typed_data.checked_type().As<ir::TensorTypeNode>();
  if (has.shape[0] == of.shape[static_cast<std::size_t>(axis)]) return vector;
  return ops::ReshapeToExtents(vector, {data}, StrCat("(x0_", axis, ")"));
}

}  // namespace tenon::passes
