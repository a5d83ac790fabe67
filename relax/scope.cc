#include "tenon/relax/scope.h"

#include <utility>

namespace tenon::relax {

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
  blocks_.back().insert_or_assign(std::string(name), std::move(value));
}

ir::Expr Scope::Find(std::string_view name) const {
  const std::string key(name);
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    const auto found = block->find(key);
    if (found != block->end()) return found->second;
  }
  return {};
}

std::optional<BlockKind> Scope::Ended(std::string_view name) const {
  const auto found = ended_.find(std::string(name));
  return found == ended_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> Scope::Names() const {
  std::vector<std::string> names;
  for (const Block& block : blocks_) {
    for (const auto& [name, value] : block) names.push_back(name);
  }
  return names;
}

}  // namespace tenon::relax
