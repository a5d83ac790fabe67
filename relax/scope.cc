#include "tenon/relax/scope.h"

#include <utility>

#include "tenon/ir/parse_extents.h"
#include "tenon/relax/value_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {

std::string PlainValue::ToString() const {
  if (shape) return StrCat("the shape ", ir::ToText(*shape));
  if (extent) return StrCat("the extent ", extent->ToString());
  return StrCat("the number ", ValueText(attribute));
}

void Scope::Close(BlockKind kind) {
  for (const auto& [name, value] : blocks_.back()) ended_.insert_or_assign(name, kind);
  blocks_.pop_back();
}

void Scope::Export(std::string_view name) {
  Block& inner = blocks_.back();
  const auto found = inner.find(std::string(name));
  blocks_[blocks_.size() - 2].insert_or_assign(found->first, found->second);
  inner.erase(found);
}

void Scope::Bind(std::string_view name, ir::Expr value) {
  blocks_.back().insert_or_assign(std::string(name), Value{std::move(value), nullptr});
}

void Scope::BindPlain(std::string_view name, PlainValue value) {
  blocks_.back().insert_or_assign(std::string(name),
                                  Value{{}, std::make_shared<const PlainValue>(std::move(value))});
}

void Scope::BindSymbol(std::string_view name) {
  symbols.emplace(name);
  if (Innermost(name) != nullptr) blocks_.back().insert_or_assign(std::string(name), Value{});
}

ir::Expr Scope::Find(std::string_view name) const {
  const Value* value = Innermost(name);
  return value == nullptr ? ir::Expr() : value->expr;
}

const PlainValue* Scope::FindPlain(std::string_view name) const {
  const Value* value = Innermost(name);
  return value == nullptr ? nullptr : value->plain.get();
}

const Scope::Value* Scope::Innermost(std::string_view name) const {
  const std::string key(name);
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    const auto found = block->find(key);
    if (found != block->end()) return &found->second;
  }
  return nullptr;
}

std::optional<BlockKind> Scope::Ended(std::string_view name) const {
  const auto found = ended_.find(std::string(name));
  return found == ended_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> Scope::Names() const {
  std::vector<std::string> names;
  for (const Block& block : blocks_) {
    for (const auto& [name, value] : block) {
      if (value.expr || value.plain) names.push_back(name);
    }
  }
  return names;
}

}  // namespace tenon::relax
