// A block of statements as a list: the statements that run one after the other, and the buffers
// that begin to exist in between. Only files inside loop/ include this header.
//
//   std::vector<Item> items = ItemsOf(stmt);  ...  Stmt same = Join(items);
#ifndef TENON_LOOP_BLOCK_H_
#define TENON_LOOP_BLOCK_H_

#include <vector>

#include "tenon/loop/stmt.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {

// A statement of a block, or a buffer that exists from there on.
struct Item {
  Stmt stmt;
  Buffer buffer;
};

std::vector<Item> ItemsOf(const Stmt& stmt);
Stmt Join(const std::vector<Item>& items);

// Changes every block of a statement, the outer ones first. Expressions stay.
class BlockMutator : public StmtMutator {
 protected:
  // Returns whether it changed the items.
  virtual bool Change(std::vector<Item>& items) = 0;

  Expr Mutate(const Expr& e) override { return e; }
  Stmt MutateStmt(const Stmt& stmt) override;
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_BLOCK_H_
