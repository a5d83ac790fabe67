#include "tenon/compiler/plan/unread_constants.h"

#include <algorithm>

namespace tenon::compiler {

using runtime::EntryRef;
using runtime::Node;
using runtime::NodeKind;

void DropUnreadConstants(Lowered& lowered, KernelSource& source) {
  std::vector<Node>& nodes = lowered.plan.nodes;
  std::vector<bool> is_read(nodes.size(), false);
  const auto mark = [&](const EntryRef& entry) {
    is_read[static_cast<std::size_t>(entry.node)] = true;
  };
  for (const Node& node : nodes) std::for_each(node.inputs.begin(), node.inputs.end(), mark);
  std::for_each(lowered.plan.heads.begin(), lowered.plan.heads.end(), mark);
  std::vector<int> position(nodes.size(), -1);
  std::vector<Node> kept;
  std::vector<NDArray> constants;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind == NodeKind::kConstant) {
      if (!is_read[i]) continue;
      const auto old = static_cast<std::size_t>(nodes[i].constant);
      nodes[i].constant = static_cast<int>(constants.size());
      constants.push_back(lowered.constants[old]);
    }
    position[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(nodes[i]));
  }
  const auto move = [&](EntryRef& entry) {
    entry.node = position[static_cast<std::size_t>(entry.node)];
  };
  for (Node& node : kept) std::for_each(node.inputs.begin(), node.inputs.end(), move);
  std::for_each(lowered.plan.heads.begin(), lowered.plan.heads.end(), move);
  source.ForEachPrepared(move);
  nodes = std::move(kept);
  lowered.constants = std::move(constants);
}

}  // namespace tenon::compiler
