#include "tenon/te/with_inputs.h"

#include <unordered_map>
#include <unordered_set>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::te {
namespace {

// Copies operations, producers first.
class Copier : public loop::ExprMutator {
 public:
  Copier(const std::vector<std::pair<Tensor, Tensor>>& inputs, const loop::ExprMap& extents)
      : values_(extents) {
    for (const auto& [from, to] : inputs) {
      if (!from.op()->is_placeholder())
        throw InvalidArgument(
            StrCat("with_inputs: ", from.name(), " is computed; only placeholders are replaced"));
      if (from.dtype() != to.dtype() || from.ndim() != to.ndim())
        throw InvalidArgument(StrCat("with_inputs: ", from.name(), " is ", from.dtype().ToString(),
                                     " of ", from.ndim(), " dimensions; ", to.name(), " is ",
                                     to.dtype().ToString(), " of ", to.ndim()));
      copies_[from.op().get()] = {to};
      buffers_[from.buffer().get()] = to.buffer();
    }
  }

  void Copy(const Operation& op) {
    if (copies_.contains(op.get())) return;
    for (const Tensor& state : op->state) Copy(state.op());  // which its update may not read
    auto* copy = new OperationNode;
    const Operation handle(copy);
    copy->kind = op->kind;
    copy->name = op->name;
    copy->label = op->label;
    copy->axes = AxesOf(op->axes);
    copy->reduce_axes = AxesOf(op->reduce_axes);
    std::vector<Tensor>& outputs = copies_[op.get()];
    for (std::size_t i = 0; i < op->outputs.size(); ++i) {
      const loop::Buffer& output = op->outputs[i];
      copy->outputs.push_back(
          loop::Buffer::Make(output->name, output->dtype, Simplified(output->shape)));
      buffers_[output.get()] = copy->outputs.back();
      outputs.emplace_back(handle, static_cast<int>(i));
    }
    copy->combiner = op->combiner;
    if (copy->combiner) {
      copy->combiner->result = Mutated(op->combiner->result);
      copy->combiner->identity = Mutated(op->combiner->identity);
    }
    copy->body = Mutated(op->body);
    copy->initial = Mutated(op->initial);
    if (op->condition.defined()) copy->condition = (*this)(op->condition);
    copy->target = Mutated(op->target);
    copy->inputs = CopiesOf(op->inputs);
    copy->init = CopiesOf(op->init);
    copy->update = CopiesOf(op->update);
    copy->state = CopiesOf(op->state);
  }

  std::vector<Tensor> CopiesOf(const std::vector<Tensor>& tensors) const {
    std::vector<Tensor> copies;
    for (const Tensor& tensor : tensors) copies.push_back(CopyOf(tensor));
    return copies;
  }

 protected:
  Expr Mutate(const Expr& e) override {
    if (const auto value = values_.find(e); value != values_.end()) return value->second;
    if (const auto* load = e.As<loop::LoadNode>(); load != nullptr && load->producer)
      return CopyOf(TensorOf(*load))[Mutated(load->indices)];
    if (const auto* address = e.As<loop::AddressNode>()) return AddressOf(*address);
    return MutateChildren(e);
  }

 private:
  // The address of a whole array; external operations take no others.
  Expr AddressOf(const loop::AddressNode& address) const {
    const auto found = buffers_.find(address.buffer.get());
    CheckInvariant(found != buffers_.end(), "the tensors of an external operation are copied");
    return loop::Address(found->second);
  }

  Tensor CopyOf(const Tensor& tensor) const {
    return copies_.at(tensor.op().get())[static_cast<std::size_t>(tensor.index())];
  }

  std::vector<Expr> Mutated(const std::vector<Expr>& exprs) {
    std::vector<Expr> mutated;
    for (const Expr& e : exprs) mutated.push_back((*this)(e));
    return mutated;
  }

  // Extents become numbers if their variables have become numbers.
  std::vector<Expr> Simplified(const std::vector<Expr>& exprs) {
    std::vector<Expr> simplified = Mutated(exprs);
    for (Expr& e : simplified) e = loop::Simplify(e);
    return simplified;
  }

  std::vector<IterVar> AxesOf(std::vector<IterVar> axes) {
    for (IterVar& axis : axes) {
      const Var fresh(axis.var.name(), axis.var.dtype());
      values_[axis.var] = fresh;
      axis.var = fresh;
      axis.min = (*this)(axis.min);
      axis.extent = loop::Simplify((*this)(axis.extent));
    }
    return axes;
  }

  loop::ExprMap values_;  // of variables
  std::unordered_map<const OperationNode*, std::vector<Tensor>> copies_;
  std::unordered_map<const loop::BufferNode*, loop::Buffer> buffers_;
};

// The states of all scans among the operations.
std::unordered_set<const OperationNode*> StatesOf(const std::vector<Operation>& operations) {
  std::unordered_set<const OperationNode*> states;
  for (const Operation& op : operations) {
    for (const Tensor& state : op->state) states.insert(state.op().get());
  }
  return states;
}

}  // namespace

std::vector<Tensor> WithInputs(const std::vector<Tensor>& outputs,
                               const std::vector<std::pair<Tensor, Tensor>>& inputs,
                               const loop::ExprMap& extents) {
  const std::vector<Operation> operations = PostOrder(outputs);
  std::unordered_set<const OperationNode*> given = StatesOf(operations);
  for (const auto& [from, to] : inputs) given.insert(from.op().get());
  Copier copier(inputs, extents);
  for (const Operation& op : operations) {
    if (op->is_placeholder() && !given.contains(op.get()))
      throw InvalidArgument(StrCat("the placeholder ", op->name, " is read, but not given"));
    copier.Copy(op);
  }
  return copier.CopiesOf(outputs);
}

}  // namespace tenon::te
