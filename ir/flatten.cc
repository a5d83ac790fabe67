#include "tenon/ir/flatten.h"

namespace tenon::ir {

namespace {

void AddLeaves(const Type& type, std::vector<Type>* leaves) {
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr) {
    leaves->push_back(type);
  } else {
    for (const Type& field : tuple->fields) AddLeaves(field, leaves);
  }
}

std::size_t NumLeaves(const Type& type) {
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr) return 1;
  std::size_t count = 0;
  for (const Type& field : tuple->fields) count += NumLeaves(field);
  return count;
}

}  // namespace

std::vector<Type> Flatten(const Type& type) {
  std::vector<Type> leaves;
  AddLeaves(type, &leaves);
  return leaves;
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
  LeafRange range{.count = NumLeaves(fields[at])};
  for (std::size_t i = 0; i < at; ++i) range.begin += NumLeaves(fields[i]);
  return range;
}

}  // namespace tenon::ir
