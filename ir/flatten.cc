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

std::set<std::string> SymbolsOf(const Type& type) {
  std::set<std::string> symbols;
  for (const Type& leaf : Flatten(type)) {
    const auto* tensor = leaf.As<TensorTypeNode>();
    if (tensor == nullptr) continue;
    for (const Dim& dim : tensor->shape) dim.AddSymbols(&symbols);
  }
  return symbols;
}

LeafRange LeavesOfField(const Type& tuple, int field) {
  const auto& fields = tuple.As<TupleTypeNode>()->fields;
  const auto at = static_cast<std::size_t>(field);
  LeafRange range{.count = Flatten(fields[at]).size()};
  for (std::size_t i = 0; i < at; ++i) range.begin += Flatten(fields[i]).size();
  return range;
}

}  // namespace tenon::ir
