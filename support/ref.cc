// Trampolined destruction: the outermost Destroy on a thread drains a work list, and nested ones
// only append to it. So a deep graph does not need a deep stack.
#include "tenon/support/ref.h"

#include <vector>

namespace tenon {

void RefCounted::Destroy(const RefCounted* node) {
  thread_local std::vector<const RefCounted*>* pending = nullptr;
  if (pending != nullptr) {
    pending->push_back(node);
    return;
  }
  std::vector<const RefCounted*> work;
  pending = &work;
  delete node;
  while (!work.empty()) {
    const RefCounted* next = work.back();
    work.pop_back();
    delete next;
  }
  pending = nullptr;
}

}  // namespace tenon
