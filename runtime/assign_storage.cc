// Linear scan over the nodes in execution order with a free list: outputs are placed before the
// node's inputs are released, so that no node writes over what it reads. Among the free storages
// the smallest that is large enough is taken, else the largest is grown (best fit; Pisarchyk & Lee,
// "Efficient Memory Management for Deep Neural Net Inference", 2020, section 4).
#include <algorithm>
#include <map>
#include <vector>

#include "tenon/runtime/plan.h"

namespace tenon::runtime {
namespace {

class StorageAssigner {
 public:
  explicit StorageAssigner(Plan* plan) : plan_(*plan) {}

  void Run() {
    CountReaders();
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) Place(static_cast<int>(n));
  }

 private:
  // The entry that owns the storage of `ref`: views lead to what they view.
  EntryRef Owner(EntryRef ref) const {
    while (node(ref).kind == NodeKind::kView) ref = node(ref).inputs[0];
    return ref;
  }
  Node& node(EntryRef ref) const { return plan_.nodes[static_cast<std::size_t>(ref.node)]; }
  int& readers(EntryRef ref) {
    return readers_[static_cast<std::size_t>(ref.node)][static_cast<std::size_t>(ref.output)];
  }
  Entry& entry(EntryRef ref) const {
    return node(ref).outputs[static_cast<std::size_t>(ref.output)];
  }

  void CountReaders() {
    for (const Node& node : plan_.nodes) readers_.emplace_back(node.outputs.size(), 0);
    for (const Node& node : plan_.nodes) {
      if (node.kind == NodeKind::kView) continue;
      for (const EntryRef input : node.inputs) ++readers(Owner(input));
    }
    // A result is never released.
    for (const EntryRef head : plan_.heads) ++readers(Owner(head));
  }

  void Place(int index) {
    Node& placed = plan_.nodes[static_cast<std::size_t>(index)];
    if (placed.kind == NodeKind::kView) {
      placed.outputs[0].storage_id = entry(Owner(placed.inputs[0])).storage_id;
      return;
    }
    for (Entry& output : placed.outputs) {
      output.storage_id = IsComputed(placed.kind) ? Reuse(output) : Fresh(output);
    }
    for (const EntryRef input : placed.inputs) {
      const EntryRef owner = Owner(input);
      if (--readers(owner) == 0 && IsComputed(node(owner).kind)) {
        free_[entry(owner).device].push_back(entry(owner).storage_id);
      }
    }
    if (!IsComputed(placed.kind)) return;
    for (std::size_t o = 0; o < placed.outputs.size(); ++o) {
      // Nobody reads this output: its storage serves the next node.
      const Entry& output = placed.outputs[o];
      if (readers({index, static_cast<int>(o)}) == 0)
        free_[output.device].push_back(output.storage_id);
    }
  }

  int Fresh(const Entry& output) {
    plan_.storage_bytes.push_back(output.bytes());
    return static_cast<int>(plan_.storage_bytes.size()) - 1;
  }

  int Reuse(const Entry& output) {
    std::vector<int>& free = free_[output.device];
    if (free.empty()) return Fresh(output);
    const std::size_t bytes = output.bytes();
    const auto size = [&](int id) { return plan_.storage_bytes[static_cast<std::size_t>(id)]; };
    // Large enough comes first, then the smaller; among the too small, the larger.
    const auto better = [&](int a, int b) {
      const bool fits_a = size(a) >= bytes, fits_b = size(b) >= bytes;
      if (fits_a != fits_b) return fits_a;
      return fits_a ? size(a) < size(b) : size(a) > size(b);
    };
    const auto best = std::min_element(free.begin(), free.end(), better);
    const int id = *best;
    free.erase(best);
    std::size_t& held = plan_.storage_bytes[static_cast<std::size_t>(id)];
    held = std::max(held, bytes);
    return id;
  }

  Plan& plan_;
  std::vector<std::vector<int>> readers_;  // by node and output
  std::map<Device, std::vector<int>> free_;
};

}  // namespace

void AssignStorage(Plan* plan) {
  plan->storage_bytes.clear();
  StorageAssigner(plan).Run();
}

}  // namespace tenon::runtime
