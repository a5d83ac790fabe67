// Storages lie one after the other in the workspace, each as large as the largest value in it. A
// value that is a result as a whole lies in the caller's array.
#include "tenon/compiler/export/c_places.h"

#include <algorithm>

#include "tenon/support/alignment.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {

using runtime::BytesForAll;
using runtime::EntryRef;
using runtime::Node;
using runtime::NodeKind;

CPlaces::CPlaces(const runtime::Plan& plan, std::vector<std::string> constants, CExtents* extents)
    : plan_(plan),
      owners_(plan),
      constants_(std::move(constants)),
      extents_(*extents),
      zero_(extents_.Of(0)),
      offsets_(plan.storage_bytes.size(), zero_),
      workspace_(zero_) {
  FindResults();
  const std::vector<int> sizes = StorageSizes();
  std::vector<bool> placed(plan_.storage_bytes.size(), false);
  for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
    const Node& node = plan_.nodes[n];
    if (node.kind == NodeKind::kInput) inputs_.push_back(static_cast<int>(n));
    if (!runtime::IsComputed(node.kind)) continue;
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const auto id = static_cast<std::size_t>(node.outputs[o].storage_id);
      const EntryRef owner = owners_.Of({static_cast<int>(n), static_cast<int>(o)}).entry;
      if (placed[id] || result_.contains({owner.node, owner.output})) continue;
      placed[id] = true;
      offsets_[id] = workspace_;
      workspace_ = extents_.Sum(workspace_, extents_.RoundedUp(sizes[id], kAlignment));
    }
  }
  // Room for rounding the address up.
  if (has_workspace()) workspace_ = extents_.Sum(workspace_, extents_.Of(std::int64_t{kAlignment}));
}

void CPlaces::FindResults() {
  for (std::size_t k = 0; k < plan_.heads.size(); ++k) {
    const EntryRef owner = owners_.Of(plan_.heads[k]).entry;
    // A part of a value is copied to the caller's array, which has no room for all of the value.
    if (IsWritten(owner) &&
        BytesForAll(plan_.entry(owner)) == BytesForAll(plan_.entry(plan_.heads[k])))
      result_.emplace(std::pair(owner.node, owner.output), k);
  }
}

// Values without elements have an address, too.
std::vector<int> CPlaces::StorageSizes() {
  std::vector<int> sizes(plan_.storage_bytes.size(), extents_.Of(1));
  for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
    for (std::size_t o = 0; o < plan_.nodes[n].outputs.size(); ++o) {
      const EntryRef entry = {static_cast<int>(n), static_cast<int>(o)};
      if (!(owners_.Of(entry).entry == entry)) continue;
      int& size = sizes[static_cast<std::size_t>(plan_.entry(entry).storage_id)];
      size = extents_.Greater(size, extents_.Of(BytesForAll(plan_.entry(entry))));
    }
  }
  return sizes;
}

std::string CPlaces::Address(EntryRef entry) {
  const runtime::Owned owned = owners_.Of(entry);
  const EntryRef owner = owned.entry;
  const Node& node = NodeOf(owner);
  const int offset = extents_.Of(
      extents_.has_variables() ? owned.place : Dim(static_cast<std::int64_t>(owned.offset)));
  const auto result = result_.find({owner.node, owner.output});
  std::string base;
  if (node.kind == NodeKind::kInput) {
    const auto at = std::find(inputs_.begin(), inputs_.end(), owner.node) - inputs_.begin();
    base = StrCat("inputs[", at, "]");
  } else if (node.kind == NodeKind::kConstant) {
    base = constants_[static_cast<std::size_t>(node.constant)];
  } else if (result != result_.end()) {
    base = StrCat("outputs[", result->second, "]");
  } else {
    const int storage = offsets_[static_cast<std::size_t>(plan_.entry(owner).storage_id)];
    return StrCat("(memory + ", extents_.Text(extents_.Sum(storage, offset)), ")");
  }
  if (offset == zero_) return base;
  return StrCat("((", IsWritten(owner) ? "" : "const ", "unsigned char*)", base, " + ",
                extents_.Text(offset), ")");
}

}  // namespace tenon::compiler
