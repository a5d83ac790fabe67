#include "tenon/passes/device/copy_to_device.h"

#include <utility>
#include <vector>

#include "tenon/ops/device/device_attrs.h"
#include "tenon/ops/known_ops.h"

namespace tenon::passes {

using ir::Expr;

Expr CopyToDevice(const Expr& value, const Device& from, const Device& to, const Span& span) {
  const auto* type = value.checked_type().As<ir::TupleTypeNode>();
  if (type == nullptr)
    return ir::Call::Make(ops::Known().device_copy, {value},
                          attrs::Attrs::Make(ops::DeviceCopyAttrs{from.ToString(), to.ToString()}),
                          span, value.checked_type());
  const auto* tuple = value.As<ir::TupleNode>();
  std::vector<Expr> fields;
  for (std::size_t i = 0; i < type->fields.size(); ++i) {
    const Expr field = tuple != nullptr ? tuple->fields[i]
                                        : ir::TupleGetItem::Make(value, static_cast<int>(i), span,
                                                                 type->fields[i]);
    fields.push_back(CopyToDevice(field, from, to, span));
  }
  return ir::Tuple::Make(std::move(fields), span, value.checked_type());
}

}  // namespace tenon::passes
