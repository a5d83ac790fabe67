// One walk from inputs to results (the scheme of layout passes in "Optimizing CNN Model Inference
// on CPUs", Liu et al., USENIX ATC 2019). An operator is asked twice: how it names the axes of its
// old inputs, and which layouts it takes now that some have changed. The answer is used only when
// the types agree; if they do not, the operator gets its old layouts.
#include "tenon/passes/layout/rewrite_layouts.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/ir/visit.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/op.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/layout/layout_moves.h"
#include "tenon/passes/layout/placements.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ops::LayoutAnswer;

bool IsWholeLayout(const std::string& layout) {
  return std::all_of(layout.begin(), layout.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

class Rewriter {
 public:
  explicit Rewriter(const AlterLayoutRule& alter) : alter_(alter) {}

  Expr Rewrite(const Expr& original, const Expr& rebuilt) {
    if (const auto* call = original.As<CallNode>();
        call != nullptr && call->op() != nullptr && !call->args.empty())
      return Call(original, rebuilt);
    if (const auto* tuple = rebuilt.As<ir::TupleNode>()) {
      const auto* old = original.As<ir::TupleNode>();
      const bool is_flat = std::all_of(old->fields.begin(), old->fields.end(), [](const Expr& e) {
        return TensorOf(e.checked_type()) != nullptr;
      });
      if (is_flat) {
        Placements& placements = placements_[original];
        for (const Expr& field : old->fields) placements.push_back(PlacementOf(field));
        return rebuilt == original ? rebuilt : MakeTuple(tuple->fields);
      }
    }
    if (const auto* item = rebuilt.As<ir::TupleGetItemNode>()) {
      const Expr& tuple = original.As<ir::TupleGetItemNode>()->tuple;
      if (const auto found = placements_.find(tuple); found != placements_.end()) {
        placements_[original] = {found->second[static_cast<std::size_t>(item->index)]};
        return rebuilt == original ? rebuilt : Item(item->tuple, item->index);
      }
    }
    return WithPlainChildren(original, rebuilt);
  }

 private:
  Placement PlacementOf(const Expr& original) const {
    const auto found = placements_.find(original);
    return found == placements_.end() || found->second.size() != 1 ? Placement() : found->second[0];
  }

  // The value in its old layout, tuples field by field.
  Expr PlainValue(const Expr& original, const Expr& now) {
    const auto found = placements_.find(original);
    if (found == placements_.end()) return now;
    const Placements& placements = found->second;
    if (std::none_of(placements.begin(), placements.end(),
                     [](const Placement& p) { return p.is_moved(); }))
      return now;
    if (TensorOf(original.checked_type()) != nullptr)
      return moves_.Transform(now, placements[0].now, placements[0].old);
    std::vector<Expr> fields;
    for (std::size_t i = 0; i < placements.size(); ++i)
      fields.push_back(moves_.Transform(Field(now, i), placements[i].now, placements[i].old));
    return MakeTuple(fields);
  }
  Expr WithPlainChildren(const Expr& original, const Expr& rebuilt) {
    if (rebuilt == original) {
      // The children are unchanged, so they have not moved.
      return rebuilt;
    }
    const std::vector<Expr> before = ir::Children(original);
    std::vector<Expr> children = ir::Children(rebuilt);
    for (std::size_t i = 0; i < children.size(); ++i)
      children[i] = PlainValue(before[i], children[i]);
    return ir::WithChildren(rebuilt, std::move(children), original.checked_type());
  }

  // The tensors that a call reads, with fields of a tuple in its place. Nothing when one is not a
  // tensor.
  std::optional<std::vector<Operand>> Operands(const CallNode& original, const CallNode& rebuilt) {
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < original.args.size(); ++i) {
      const Expr& arg = original.args[i];
      if (TensorOf(arg.checked_type()) != nullptr) {
        operands.push_back({arg.checked_type(), rebuilt.args[i], PlacementOf(arg)});
        continue;
      }
      const auto* tuple = arg.checked_type().As<ir::TupleTypeNode>();
      const auto found = placements_.find(arg);
      for (std::size_t k = 0; tuple != nullptr && k < tuple->fields.size(); ++k) {
        if (TensorOf(tuple->fields[k]) == nullptr) return std::nullopt;
        operands.push_back({tuple->fields[k], Field(rebuilt.args[i], k),
                            found == placements_.end() ? Placement() : found->second[k]});
      }
    }
    return operands;
  }
  std::optional<Expr> InLayouts(const Expr& original, const std::vector<Operand>& operands,
                                const LayoutAnswer& named, const Expr& callee,
                                const LayoutAnswer& answer) {
    const auto* call = original.As<CallNode>();
    std::vector<Expr> values;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto value = moves_.ToLayout(operands[i], named.inputs[i], answer.inputs[i]);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    const Expr result = answer.is_input ? values[0]
                                        : InferCall(ir::Call::Make(callee, Arguments(*call, values),
                                                                   answer.attrs, original.span()));
    auto placements = ResultPlacements(original.checked_type(), result.checked_type(),
                                       {answer.output, named.output});
    if (!placements) return std::nullopt;
    placements_[original] = std::move(*placements);
    return result;
  }

  Expr Call(const Expr& original, const Expr& rebuilt) {
    const auto* call = original.As<CallNode>();
    const auto* column = ops::OpOf(*call)->Column<ops::LayoutInference>();
    if (column == nullptr) return WithPlainChildren(original, rebuilt);
    auto operands = Operands(*call, *rebuilt.As<CallNode>());
    if (!operands) return WithPlainChildren(original, rebuilt);
    std::vector<std::string> names;
    std::vector<ir::Type> types;
    for (const Operand& operand : *operands) {
      names.push_back(operand.placement.old);
      types.push_back(operand.type);
    }
    const LayoutAnswer named = column->infer({call->attrs, names, names, types});
    if (!IsWholeLayout(named.output) ||
        !std::all_of(named.inputs.begin(), named.inputs.end(), IsWholeLayout))
      return WithPlainChildren(original, rebuilt);
    // If producer and consumer name axes differently, the consumer's old layout counts.
    bool is_moved = false;
    std::vector<std::string> arrive;
    for (std::size_t i = 0; i < operands->size(); ++i) {
      Operand& operand = (*operands)[i];
      if (operand.placement.old != named.inputs[i])
        operand = {operand.type, moves_.ToOld(operand), Placement()};
      arrive.push_back(operand.placement.now);
      is_moved = is_moved || operand.placement.is_moved();
    }
    if (const auto alteration = alter_(*call)) {
      const auto altered =
          InLayouts(original, *operands, named, alteration->callee, alteration->answer);
      if (altered) return *altered;
    }
    if (is_moved) {
      const LayoutAnswer answer = column->infer({call->attrs, arrive, named.inputs, types});
      const auto moved = InLayouts(original, *operands, named, call->callee, answer);
      if (moved) return *moved;
    }
    const Expr plain = WithPlainChildren(original, rebuilt);
    auto placements = ResultPlacements(original.checked_type(), original.checked_type(),
                                       {named.output, named.output});
    if (placements && HasRank(original.checked_type(), named.output.size()))
      placements_[original] = std::move(*placements);
    return plain;
  }
  static bool HasRank(const ir::Type& type, std::size_t rank) {
    const auto* tensor = TensorOf(type);
    return tensor == nullptr || tensor->shape.size() == rank;
  }

  const AlterLayoutRule& alter_;
  std::unordered_map<Expr, Placements, ir::ExprHash> placements_;  // of values as they were
  LayoutMoves moves_;
};

}  // namespace

ir::Module RewriteLayouts(const ir::Module& module, const AlterLayoutRule& alter) {
  const ir::Module result = module.Map([&](const Expr& function) {
    Rewriter rewriter(alter);
    return ir::RewritePostOrder(
        function,
        [&](const Expr& original, const Expr& rebuilt) {
          return rewriter.Rewrite(original, rebuilt);
        },
        [](const Expr& e) {
          const auto* inner = e.As<ir::FunctionNode>();
          return inner == nullptr || !inner->is_primitive();
        });
  });
  return InferType(result);
}

}  // namespace tenon::passes
