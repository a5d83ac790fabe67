#include "tenon/runtime/owners.h"

#include "tenon/support/error.h"

namespace tenon::runtime {

Dim BytesForAll(const Entry& entry) {
  if (entry.extents.empty()) return static_cast<std::int64_t>(entry.bytes());
  Dim bytes = static_cast<std::int64_t>(entry.dtype.bytes());
  for (const Dim& extent : entry.extents) bytes = bytes * extent;
  return bytes;
}

Owned Viewed(const Plan& plan, EntryRef entry) {
  Owned place{entry};
  for (;;) {
    const Node& node = plan.nodes[static_cast<std::size_t>(place.entry.node)];
    if (node.kind != NodeKind::kView) return place;
    if (!node.offsets.empty())
      place.offset += node.offsets[static_cast<std::size_t>(place.entry.output)];
    if (!node.begins.empty())
      place.place = place.place + node.begins[static_cast<std::size_t>(place.entry.output)];
    place.entry = node.inputs[0];
  }
}

Owners::Owners(const Plan& plan) : plan_(plan) {
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    if (plan.nodes[n].kind != NodeKind::kJoin) continue;
    Owned place{{static_cast<int>(n), 0}};
    for (const EntryRef input : plan.nodes[n].inputs) {
      const Owned part = Viewed(plan, input);
      const std::size_t bytes = plan.entry(part.entry).bytes();
      CheckInvariant(part.offset == 0 && plan.entry(input).bytes() == bytes,
                     "what lies in a join lies there as a whole");
      const bool is_new =
          joined_.emplace(std::pair(part.entry.node, part.entry.output), place).second;
      CheckInvariant(is_new, "a value lies in one join, once");
      place.offset += bytes;
      if (!plan.symbols.empty()) place.place = place.place + BytesForAll(plan.entry(part.entry));
    }
  }
}

Owned Owners::Of(EntryRef entry) const {
  Owned place{entry};
  for (;;) {
    const Owned seen = Viewed(plan_, place.entry);
    place = {seen.entry, place.offset + seen.offset, place.place + seen.place};
    const auto join = joined_.find({place.entry.node, place.entry.output});
    if (join == joined_.end()) return place;
    place = {join->second.entry, place.offset + join->second.offset,
             place.place + join->second.place};
  }
}

}  // namespace tenon::runtime
