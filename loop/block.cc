#include "tenon/loop/block.h"

#include <algorithm>
#include <utility>

namespace tenon::loop {
namespace {

void AppendItems(const Stmt& stmt, std::vector<Item>& items) {
  if (const auto* allocate = stmt.As<AllocateNode>()) {
    items.push_back({{}, allocate->buffer});
    AppendItems(allocate->body, items);
  } else if (const auto* seq = stmt.As<SeqNode>()) {
    if (seq->stmts.empty()) return;
    for (std::size_t i = 0; i + 1 < seq->stmts.size(); ++i) items.push_back({seq->stmts[i], {}});
    AppendItems(seq->stmts.back(), items);
  } else {
    items.push_back({stmt, {}});
  }
}

}  // namespace

std::vector<Item> ItemsOf(const Stmt& stmt) {
  std::vector<Item> items;
  AppendItems(stmt, items);
  return items;
}

Stmt Join(const std::vector<Item>& items) {
  std::vector<Stmt> reversed;
  Stmt block = Seq({});
  const auto flush = [&] {
    std::reverse(reversed.begin(), reversed.end());
    reversed.push_back(block);
    block = Seq(std::move(reversed));
    reversed.clear();
  };
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (item->stmt) {
      reversed.push_back(item->stmt);
      continue;
    }
    flush();
    block = Allocate(item->buffer, block);
  }
  flush();
  return block;
}

Stmt BlockMutator::MutateStmt(const Stmt& stmt) {
  if (stmt.kind() != StmtKind::kAllocate && stmt.kind() != StmtKind::kSeq)
    return MutateStmtChildren(stmt);
  std::vector<Item> items = ItemsOf(stmt);
  bool changed = Change(items);
  for (Item& item : items) {
    if (!item.stmt) continue;
    Stmt mutated = MutateStmt(item.stmt);
    changed = changed || !(mutated == item.stmt);
    item.stmt = std::move(mutated);
  }
  return changed ? Join(items) : stmt;
}

}  // namespace tenon::loop
