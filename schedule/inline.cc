#include "tenon/schedule/inline.h"

#include <algorithm>

#include "tenon/loop/check_given.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

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
  // Without sharing, a chain of x + x would double at each step, and so would one of x[k - 1] + x[k
  // - 2]. The latter shares only if reads of a body are inlined after its axes have become the
  // reader's indices. And one of x[k + 1] + x[k + 2] does only in normal form: an element that is
  // several steps away is read on many ways, whose sums have other orders.
  std::vector<Expr> element;
  for (const Expr& index : load->indices) element.push_back(loop::Simplify(index));
  for (const auto& [indices, inlined] : inlined_[load->buffer.get()]) {
    if (std::ranges::equal(indices, element, loop::StructuralEqual)) return inlined;
  }
  loop::ExprMap values;
  for (std::size_t d = 0; d < op.axes.size(); ++d) values[op.axes[d].var] = load->indices[d];
  // Each level takes stack of its own while what it reads is inlined.
  constexpr int kMaxNesting = 2048;
  if (++level_ > kMaxNesting) {
    throw InvalidArgument(StrCat("compute_inline: stage ", stage->name(), " is inlined with ",
                                 kMaxNesting, " others that read each other; store one of them"));
  }
  Expr own = op.body[static_cast<std::size_t>(tensor.index())];
  // A copy of the whole stage asks for elements that a split has added past the end, too. Nothing
  // computes them, and what they would read may not exist.
  if (stage->guard().defined())
    own = loop::IfThenElse(stage->guard(), own, loop::Constant(own.dtype(), 0));
  const Expr body = (*this)(loop::Substitute(own, values));
  --level_;
  loop::RequireDepth(body, StrCat("compute_inline: stage ", stage->name()));
  inlined_[load->buffer.get()].emplace_back(std::move(element), body);
  return body;
}

}  // namespace tenon::schedule
