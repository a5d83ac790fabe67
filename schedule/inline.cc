#include "tenon/schedule/inline.h"

namespace tenon::schedule {

using loop::Expr;

Expr Inliner::Mutate(const Expr& e) {
  const Expr mutated = MutateChildren(e);
  const auto* load = mutated.As<loop::LoadNode>();
  if (load == nullptr || !load->producer) return mutated;
  const te::Tensor tensor = te::TensorOf(*load);
  const Stage* stage = schedule_.Find(tensor.op().get());
  if (stage == nullptr || stage->placement() != Stage::Placement::kInline) return mutated;
  const te::OperationNode& op = *stage->op();
  // Without sharing, a chain of x + x would double at each step.
  std::vector<const void*> key = {load->buffer.get()};
  for (const Expr& index : load->indices) key.push_back(index.get());
  const auto known = inlined_.find(key);
  if (known != inlined_.end()) return known->second;
  const Expr body = (*this)(op.body[static_cast<std::size_t>(tensor.index())]);
  loop::ExprMap values;
  for (std::size_t d = 0; d < op.axes.size(); ++d) values[op.axes[d].var] = load->indices[d];
  kept_.insert(kept_.end(), load->indices.begin(), load->indices.end());
  return inlined_.emplace(std::move(key), loop::Substitute(body, values)).first->second;
}

}  // namespace tenon::schedule
