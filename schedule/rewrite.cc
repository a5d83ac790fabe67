#include "tenon/schedule/rewrite.h"

#include <algorithm>

#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;

class ReadReplacer : public loop::ExprMutator {
 public:
  ReadReplacer(const loop::Buffer& buffer,
               const std::function<Expr(const std::vector<Expr>&)>& read)
      : buffer_(buffer), read_(read) {}

 protected:
  Expr Mutate(const Expr& e) override {
    const Expr mutated = MutateChildren(e);
    const auto* load = mutated.As<loop::LoadNode>();
    return load != nullptr && load->buffer == buffer_ ? read_(load->indices) : mutated;
  }

 private:
  const loop::Buffer& buffer_;
  const std::function<Expr(const std::vector<Expr>&)>& read_;
};

}  // namespace

bool Reads(const te::OperationNode& op, const loop::Buffer& buffer) {
  const std::vector<te::Tensor> inputs = te::InputsOf(op);
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const te::Tensor& input) { return input.buffer() == buffer; });
}

te::Operation WithReads(const te::OperationNode& op, const loop::Buffer& buffer,
                        const std::function<Expr(const std::vector<Expr>&)>& read) {
  auto* copy = new te::OperationNode;
  te::Operation handle(copy);
  copy->name = op.name;
  copy->label = op.label;
  copy->outputs = op.outputs;
  copy->axes = op.axes;
  copy->combiner = op.combiner;
  copy->reduce_axes = op.reduce_axes;
  ReadReplacer replacer(buffer, read);
  for (const Expr& value : op.body) copy->body.push_back(replacer(value));
  for (const Expr& value : op.initial) copy->initial.push_back(replacer(value));
  if (op.condition.defined()) copy->condition = replacer(op.condition);
  for (const Expr& index : op.target) copy->target.push_back(replacer(index));
  return handle;
}

NewOperation NewLike(const te::OperationNode& op, std::string name,
                     const std::vector<te::IterVar>& axes) {
  auto* node = new te::OperationNode;
  NewOperation made{node, te::Operation(node)};
  node->name = std::move(name);
  node->axes = axes;
  std::vector<Expr> shape;
  for (const te::IterVar& axis : axes) shape.push_back(axis.extent);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    node->outputs.push_back(
        loop::Buffer::Make(op.outputs.size() == 1 ? node->name : StrCat(node->name, ".v", i),
                           op.outputs[i]->dtype, shape));
  }
  return made;
}

void CopyReduction(const te::OperationNode& from, const std::vector<te::IterVar>& reduce_axes,
                   const ByVar& values, te::OperationNode* to) {
  const auto substituted = [&](const std::vector<Expr>& list) {
    std::vector<Expr> result;
    for (const Expr& e : list) result.push_back(loop::Substitute(e, values));
    return result;
  };
  to->label = from.label;
  to->combiner = from.combiner;
  to->reduce_axes = reduce_axes;
  to->body = substituted(from.body);
  to->initial = substituted(from.initial);
  if (from.condition.defined()) to->condition = loop::Substitute(from.condition, values);
  to->target = substituted(from.target);
}

std::vector<te::IterVar> PlainAxes(std::vector<te::IterVar> axes) {
  for (te::IterVar& axis : axes) axis.starts_only = false;
  return axes;
}

te::IterVar FreshAxis(const std::string& name, const Expr& extent, bool is_reduce) {
  return {loop::Var(name), 0, extent, is_reduce};
}

Expr ReadOutput(const te::Operation& op, std::size_t i, std::vector<Expr> indices) {
  return te::Tensor(op, static_cast<int>(i))[std::move(indices)];
}

}  // namespace tenon::schedule
