#include "tenon/ir/flatten.h"

namespace tenon::ir {

std::vector<Type> Flatten(const Type& type) {
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr) return {type};
  std::vector<Type> fields;
  for (const Type& field : tuple->fields) {
    const std::vector<Type> inner = Flatten(field);
    fields.insert(fields.end(), inner.begin(), inner.end());
  }
  return fields;
}

}  // namespace tenon::ir
