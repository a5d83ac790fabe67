#include "tenon/compiler/plan/moveless_nodes.h"

#include <algorithm>

#include "tenon/compiler/plan/memory_pieces.h"
#include "tenon/runtime/owners.h"

namespace tenon::compiler {

using runtime::EntryRef;
using runtime::Node;
using runtime::NodeKind;

bool MovelessNodes::Make(const ir::FunctionNode& function, const std::vector<EntryRef>& inputs,
                         Node* node) {
  const std::vector<Pieces> results = PiecesOf(function);
  if (IsView(results)) {
    node->kind = NodeKind::kView;
    node->inputs = {inputs[results[0][0].input]};
    const DataType type = plan_.entry(node->inputs[0]).dtype;
    for (const Pieces& pieces : results)
      node->begins.push_back(pieces[0].begin * static_cast<std::int64_t>(type.bytes()));
    return true;
  }
  if (results.size() != 1 || results[0].size() < 2) return false;
  std::vector<EntryRef> owners;
  std::vector<EntryRef> parts;
  for (const Piece& piece : results[0]) {
    const EntryRef input = inputs[piece.input];
    const runtime::Owned owned = runtime::Viewed(plan_, input);
    const runtime::Entry& part = plan_.entry(input);
    const runtime::Entry& whole = plan_.entry(owned.entry);
    const Node& producer = plan_.nodes[static_cast<std::size_t>(owned.entry.node)];
    const Dim bytes = piece.count * static_cast<std::int64_t>(part.dtype.bytes());
    if (!(piece.begin == Dim(0)) || !(bytes == BytesForAll(part)) || owned.offset != 0 ||
        !(bytes == BytesForAll(whole)) || runtime::IsGiven(producer.kind) ||
        whole.device != node->outputs[0].device ||
        taken_.contains({owned.entry.node, owned.entry.output}) ||
        std::find(owners.begin(), owners.end(), owned.entry) != owners.end())
      return false;
    owners.push_back(owned.entry);
    parts.push_back(input);
  }
  for (const EntryRef& owner : owners) Take(owner);
  node->kind = NodeKind::kJoin;
  node->inputs = std::move(parts);
  return true;
}

}  // namespace tenon::compiler
