// Linear scan over the nodes in execution order with a free list. Outputs are placed before the
// node's inputs are released, so that no node writes over what it reads. Among the free storages,
// the scan takes the smallest that is large enough, or else grows the largest (best fit; Pisarchyk
// & Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, section 4). An entry
// that lies in another one has no storage of its own. It uses its owner's storage, which is taken
// when the first of these entries is written and is free again after the last reader of any of
// them.
#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "tenon/runtime/owners.h"
#include "tenon/runtime/plan.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"

namespace tenon::runtime {
namespace {

class StorageAssigner {
 public:
  explicit StorageAssigner(Plan* plan) : plan_(*plan), owners_(*plan) {}

  void Run() {
    CountReaders();
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) Place(static_cast<int>(n));
  }

 private:
  Node& node(EntryRef ref) const { return plan_.nodes[static_cast<std::size_t>(ref.node)]; }
  int& readers(EntryRef ref) {
    return readers_[static_cast<std::size_t>(ref.node)][static_cast<std::size_t>(ref.output)];
  }
  Entry& entry(EntryRef ref) const {
    return node(ref).outputs[static_cast<std::size_t>(ref.output)];
  }

  void CountReaders() {
    for (Node& node : plan_.nodes) {
      readers_.emplace_back(node.outputs.size(), 0);
      for (Entry& output : node.outputs) output.storage_id = -1;
    }
    // A join counts as a reader of what lies in it, so that all of it is kept until the last is
    // written.
    for (const Node& node : plan_.nodes) {
      if (node.kind == NodeKind::kView) continue;
      for (const EntryRef input : node.inputs) ++readers(owners_.Of(input).entry);
    }
    // A result is never released.
    for (const EntryRef head : plan_.heads) ++readers(owners_.Of(head).entry);
  }

  void Place(int index) {
    Node& placed = plan_.nodes[static_cast<std::size_t>(index)];
    for (std::size_t o = 0; o < placed.outputs.size(); ++o) {
      const Owned owned = owners_.Of({index, static_cast<int>(o)});
      Entry& owner = entry(owned.entry);
      if (owner.storage_id < 0)
        owner.storage_id = IsGiven(node(owned.entry).kind) ? Fresh(owner) : Reuse(owner);
      placed.outputs[o].storage_id = owner.storage_id;
      placed.outputs[o].offset = owned.offset;
    }
    if (placed.kind == NodeKind::kView) return;
    for (const EntryRef input : placed.inputs) {
      const EntryRef owner = owners_.Of(input).entry;
      if (--readers(owner) == 0) Release(owner);
    }
    if (!IsComputed(placed.kind)) return;
    for (std::size_t o = 0; o < placed.outputs.size(); ++o) {
      // Nobody reads this output: its storage serves the next node.
      const EntryRef owner = owners_.Of({index, static_cast<int>(o)}).entry;
      if (readers(owner) == 0) Release(owner);
    }
  }

  void Release(EntryRef owner) {
    if (!IsGiven(node(owner).kind)) free_[entry(owner).device].push_back(entry(owner).storage_id);
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
    // Storages that are large enough come first, the smallest of them at the front; among those too
    // small, the largest comes first.
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
  const Owners owners_;
  std::vector<std::vector<int>> readers_;  // by node and output
  std::map<Device, std::vector<int>> free_;
};

// Each storage takes less than 2^63 bytes, so neither rounding nor one sum wraps.
void RequireCountable(const Plan& plan) {
  std::size_t total = 0;
  for (const std::size_t bytes : plan.storage_bytes) {
    total += RoundUp(bytes, kAlignment);
    if (total > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()))
      throw InvalidArgument("the values of the model take more than 2^63 bytes together");
  }
}

}  // namespace

void AssignStorage(Plan* plan) {
  plan->storage_bytes.clear();
  StorageAssigner(plan).Run();
  RequireCountable(*plan);
}

void PlaceInStorage(Plan* plan) {
  const Owners owners(*plan);
  std::fill(plan->storage_bytes.begin(), plan->storage_bytes.end(), 0);
  for (std::size_t n = 0; n < plan->nodes.size(); ++n) {
    std::vector<Entry>& outputs = plan->nodes[n].outputs;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const EntryRef entry = {static_cast<int>(n), static_cast<int>(o)};
      const Owned owned = owners.Of(entry);
      outputs[o].offset = owned.offset;
      if (!(owned.entry == entry)) continue;
      std::size_t& held = plan->storage_bytes[static_cast<std::size_t>(outputs[o].storage_id)];
      held = std::max(held, outputs[o].bytes());
    }
  }
  RequireCountable(*plan);
}

}  // namespace tenon::runtime
