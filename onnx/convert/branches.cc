#include "tenon/onnx/convert/branches.h"

#include <algorithm>

#include "tenon/onnx/convert/moved_elements.h"
#include "tenon/onnx/convert/open_extents.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/support/error.h"

namespace tenon::onnx_import {

std::vector<Expr> BranchAtRunTime(const Node& node, const Expr& condition,
                                  const std::vector<Expr>& yes, const std::vector<Expr>& no) {
  std::vector<ir::Type> types;
  for (const Expr& value : yes) types.push_back(value.checked_type());
  const ir::Type type = ir::TupleType(types);
  const Expr result = ir::If::Make(condition, ir::Tuple::Make(yes, node.span(), type),
                                   ir::Tuple::Make(no, node.span(), type), node.span(), type);
  std::vector<Expr> outputs;
  for (std::size_t i = 0; i < yes.size(); ++i) {
    outputs.push_back(
        MadeOf(node, ir::TupleGetItem::Make(result, static_cast<int>(i), node.span(), types[i]),
               {yes[i], no[i]}));
    node.extents().Add(outputs.back());
  }
  return outputs;
}

std::optional<std::vector<Expr>> Joined(const Node& node, const Expr& condition,
                                        std::vector<Expr> yes, std::vector<Expr> no) {
  const auto is_tensor = [](const Expr& value) { return HasKnownExtents(value.checked_type()); };
  if (node.loops() == nullptr || yes.size() != no.size() || !std::ranges::all_of(yes, is_tensor) ||
      !std::ranges::all_of(no, is_tensor))
    return std::nullopt;
  try {
    (void)GiveOneType(node, condition, &yes, &no);
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kInternal) throw;
    return std::nullopt;
  }
  const Expr flag = node.Typed(ops::Reshape(condition, Ints{}));
  return BranchAtRunTime(node, flag, yes, no);
}

}  // namespace tenon::onnx_import
