// A block of statements as a list: what runs one after the other, and the buffers that begin to
// exist in between. Only files inside loop/ include this header.
//
//   std::vector<Item> items = ItemsOf(stmt);  ...  Stmt same = Join(items);
#ifndef TENON_LOOP_BLOCK_H_
#define TENON_LOOP_BLOCK_H_

#include <vector>

#include "tenon/loop/stmt.h"

namespace tenon::loop {

// A statement of a block, or a buffer that exists from there on.
struct Item {
  Stmt stmt;
  Buffer buffer;
};

std::vector<Item> ItemsOf(const Stmt& stmt);
Stmt Join(const std::vector<Item>& items);

}  // namespace tenon::loop

#endif  // TENON_LOOP_BLOCK_H_
