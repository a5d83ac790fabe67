#include "tenon/te/tensor.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/loop/check_given.h"
#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::te {
namespace {

std::vector<IterVar> MakeAxes(const std::string& name, const std::vector<Expr>& shape,
                              const std::vector<std::string>& names = {}) {
  std::vector<IterVar> axes;
  if (!names.empty() && names.size() != shape.size())
    throw InvalidArgument(StrCat("tensor ", name, ": ", names.size(),
                                 " axes have names; the shape ", "has ", shape.size(),
                                 " dimensions"));
  for (std::size_t d = 0; d < names.size(); ++d) {
    if (names[d].empty() || std::find(names.begin(), names.begin() + static_cast<long>(d),
                                      names[d]) != names.begin() + static_cast<long>(d))
      throw InvalidArgument(StrCat("tensor ", name, ": axis ", d, " has the name \"", names[d],
                                   "\"; names must differ and not be empty"));
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    loop::RequireExtent(shape[d], StrCat("tensor ", name, ": extent ", d));
    const auto* extent = shape[d].As<loop::IntImmNode>();
    if (extent != nullptr && extent->value < 0)
      throw InvalidArgument(StrCat("tensor ", name, ": the extent of dimension ", d, " is ",
                                   extent->value, "; it must be at least 0"));
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    axes.push_back({Var(names.empty() ? StrCat("ax", d) : names[d]), 0, shape[d], false});
  }
  return axes;
}

std::vector<Var> VarsOf(const std::vector<IterVar>& axes) {
  std::vector<Var> vars;
  for (const IterVar& axis : axes) vars.push_back(axis.var);
  return vars;
}

void MakeOutputs(OperationNode* op, const std::vector<Expr>& shape,
                 const std::vector<DataType>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].is_void() || types[i].lanes() != 1 || types[i].code() == TypeCode::kHandle) {
      throw InvalidArgument(StrCat("tensor ", op->name, ": elements cannot be ",
                                   types[i].ToString(), "; they must be numbers or bools"));
    }
    op->outputs.push_back(loop::Buffer::Make(
        types.size() == 1 ? op->name : StrCat(op->name, ".v", i), types[i], shape));
  }
}

std::vector<Tensor> TensorsOf(const Operation& op) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < op->outputs.size(); ++i)
    tensors.emplace_back(op, static_cast<int>(i));
  return tensors;
}

const IterVar& AxisAt(const std::vector<IterVar>& axes, int i, std::string_view kind,
                      const std::string& name) {
  if (i < 0 || i >= static_cast<int>(axes.size())) {
    throw OutOfRange(
        StrCat("tensor ", name, " has ", axes.size(), " ", kind, " axes; there is no number ", i));
  }
  return axes[static_cast<std::size_t>(i)];
}

// The axes that `e` uses, by their places.
std::vector<bool> AxesOf(const Expr& e, const std::vector<IterVar>& axes) {
  std::vector<bool> uses(axes.size(), false);
  loop::VisitExpr(e, [&](const Expr& part) {
    for (std::size_t d = 0; d < axes.size(); ++d) uses[d] = uses[d] || part.same_as(axes[d].var);
  });
  return uses;
}

// Takes over where terms go; the loops over computed indices only set initial values.
void SetTarget(OperationNode& op, std::vector<Expr> target) {
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(StrCat("reduction ", op.name, ": ", reason));
  };
  if (target.empty()) return;
  if (target.size() != op.axes.size())
    refuse(StrCat("its terms go to ", target.size(), " indices; the tensor has ", op.axes.size(),
                  " dimensions"));
  for (std::size_t d = 0; d < target.size(); ++d) {
    if (!target[d].dtype().is_int() && !target[d].dtype().is_uint())
      refuse(StrCat("index ", d, " of where its terms go is ", target[d].dtype().ToString(),
                    "; it must be an integer"));
    target[d] = loop::Cast(Int64, target[d]);
    op.axes[d].starts_only = !target[d].same_as(op.axes[d].var);
  }
  std::vector<Expr> of_terms = op.body;
  of_terms.insert(of_terms.end(), target.begin(), target.end());
  if (op.condition.defined()) of_terms.push_back(op.condition);
  for (const Expr& e : of_terms) {
    const std::vector<bool> uses = AxesOf(e, op.axes);
    for (std::size_t d = 0; d < uses.size(); ++d) {
      if (uses[d] && op.axes[d].starts_only)
        refuse(StrCat("terms go to a computed index of dimension ", d,
                      ", so that they have no place along ", op.axes[d].var.name(), ", but ",
                      loop::Print(e), " uses it; reduce over an axis of its own"));
    }
  }
  op.target = std::move(target);
}

// Takes over what else a reduction says.
void SetReduction(OperationNode& op, Reduction reduction) {
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(StrCat("reduction ", op.name, ": ", reason));
  };
  for (std::size_t i = 0; i < reduction.initial.size(); ++i) {
    const std::vector<bool> reduced = AxesOf(reduction.initial[i], reduction.axes);
    const auto found = std::find(reduced.begin(), reduced.end(), true);
    if (found != reduced.end())
      refuse(StrCat("initial value ", i, " uses the reduce axis ",
                    reduction.axes[static_cast<std::size_t>(found - reduced.begin())].var.name(),
                    "; it may use data axes alone"));
  }
  op.body = std::move(reduction.source);
  op.combiner = std::move(reduction.combiner);
  op.reduce_axes = std::move(reduction.axes);
  op.initial = std::move(reduction.initial);
  op.condition = std::move(reduction.condition);
  SetTarget(op, std::move(reduction.target));
  for (const Expr& e : op.Expressions()) loop::RequireDepth(e, StrCat("reduction ", op.name));
}

}  // namespace

std::vector<Expr> OperationNode::Expressions() const {
  std::vector<Expr> all = body;
  all.insert(all.end(), initial.begin(), initial.end());
  if (condition.defined()) all.push_back(condition);
  all.insert(all.end(), target.begin(), target.end());
  return all;
}

namespace te_internal {

void RequireRank(std::size_t given, std::size_t rank, const std::string& name) {
  if (given != rank) {
    throw InvalidArgument(StrCat("compute ", name, ": the body takes ", given,
                                 " axes; the shape has ", rank, " dimensions"));
  }
}

}  // namespace te_internal

const loop::Buffer& Tensor::buffer() const {
  if (!op_) throw InvalidArgument("a tensor is null; make it by Placeholder or Compute");
  return op_->outputs[static_cast<std::size_t>(index_)];
}
const IterVar& Tensor::axis(int i) const {
  const std::string& name = this->name();  // throws where the tensor is null
  return AxisAt(op_->axes, i, "data", name);
}
const IterVar& Tensor::reduce_axis(int i) const {
  const std::string& name = this->name();
  return AxisAt(op_->reduce_axes, i, "reduce", name);
}

Expr Tensor::operator[](std::vector<Expr> indices) const {
  if (indices.size() != ndim()) {
    throw InvalidArgument(StrCat("tensor ", name(), " has ", ndim(),
                                 " dimensions; it is read with ", indices.size(), " indices"));
  }
  for (Expr& index : indices) {
    if (index.defined() && index.dtype().is_float())
      throw InvalidArgument(StrCat("tensor ", name(), " is read at ", loop::Print(index), ", a ",
                                   index.dtype().ToString(), "; an index must be an integer"));
    index = loop::Cast(Int64, index);
  }
  return loop::Load(buffer(), std::move(indices), op_);
}

Tensor Placeholder(std::vector<Expr> shape, DataType dtype, std::string name) {
  auto* op = new OperationNode;
  const Operation handle(op);
  op->kind = OperationKind::kPlaceholder;
  op->name = std::move(name);
  op->axes = MakeAxes(op->name, shape);
  MakeOutputs(op, shape, {dtype});
  return Tensor(handle, 0);
}

std::vector<Tensor> ComputeTuple(std::vector<Expr> shape, const IndexedBody& body, std::string name,
                                 Label label) {
  auto* op = new OperationNode;
  const Operation handle(op);
  op->name = std::move(name);
  op->label = std::move(label);
  op->axes = MakeAxes(op->name, shape, op->label.axes);
  op->body = body(VarsOf(op->axes));
  if (op->body.empty())
    throw InvalidArgument(StrCat("compute ", op->name, ": the body has no value"));
  std::vector<DataType> types;
  for (const Expr& e : op->Expressions()) loop::RequireDepth(e, StrCat("compute ", op->name));
  for (const Expr& e : op->body) types.push_back(e.dtype());
  MakeOutputs(op, shape, types);
  return TensorsOf(handle);
}

std::vector<Tensor> ReduceTuple(std::vector<Expr> shape, const IndexedReduction& body,
                                std::string name, Label label) {
  auto* op = new OperationNode;
  const Operation handle(op);
  op->name = std::move(name);
  op->label = std::move(label);
  op->axes = MakeAxes(op->name, shape, op->label.axes);
  SetReduction(*op, body(VarsOf(op->axes)));
  std::vector<DataType> types;
  for (const Var& v : op->combiner->lhs) types.push_back(v.dtype());
  MakeOutputs(op, shape, types);
  return TensorsOf(handle);
}

Tensor TensorOf(const loop::LoadNode& load) {
  CheckInvariant(static_cast<bool>(load.producer),
                 "a load in a tensor expression knows its producer");
  const Operation op(static_cast<const OperationNode*>(load.producer.get()));
  for (std::size_t i = 0; i < op->outputs.size(); ++i) {
    if (op->outputs[i] == load.buffer) return Tensor(op, static_cast<int>(i));
  }
  Unreachable("a load's buffer is an output of its producer");
}

std::vector<Tensor> InputsOf(const OperationNode& op) {
  std::vector<Tensor> inputs = op.inputs;
  inputs.insert(inputs.end(), op.init.begin(), op.init.end());
  inputs.insert(inputs.end(), op.update.begin(), op.update.end());
  std::unordered_set<const void*> seen;
  for (const Expr& value : op.Expressions()) {
    loop::VisitExpr(value, [&](const Expr& e) {
      const auto* load = e.As<loop::LoadNode>();
      if (load != nullptr && load->producer && seen.insert(load->buffer.get()).second)
        inputs.push_back(TensorOf(*load));
    });
  }
  return inputs;
}

std::vector<Operation> PostOrder(const std::vector<Tensor>& outputs) {
  // An explicit stack: a chain of tensors may be long.
  std::vector<Operation> order;
  std::unordered_set<const OperationNode*> seen;
  struct Frame {
    Operation op;
    std::vector<Tensor> inputs;
    std::size_t next = 0;
  };
  std::vector<Frame> stack;
  const auto enter = [&](const Operation& op) {
    if (seen.insert(op.get()).second) stack.push_back({op, InputsOf(*op), 0});
  };
  for (const Tensor& output : outputs) {
    output.buffer();  // throws where it is null
    enter(output.op());
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.inputs.size()) {
        const Operation input = top.inputs[top.next++].op();
        enter(input);
      } else {
        order.push_back(top.op);
        stack.pop_back();
      }
    }
  }
  return order;
}

namespace {

std::string ShapeText(const loop::Buffer& b) {
  return StrJoin(b->shape, ", ", [](std::string* out, const Expr& e) { *out += loop::Print(e); });
}

std::string AxisNames(const std::vector<IterVar>& axes) {
  return StrJoin(axes, ", ",
                 [](std::string* out, const IterVar& axis) { *out += axis.var.name(); });
}

std::string Names(const std::vector<Tensor>& tensors) {
  return StrJoin(tensors, ", ", [](std::string* out, const Tensor& t) { *out += t.name(); });
}

// The right side of an operation's line.
std::string ValueText(const OperationNode& op) {
  switch (op.kind) {
    case OperationKind::kPlaceholder:
      return "placeholder";
    case OperationKind::kExtern:
      return loop::Print(op.body[0]);
    case OperationKind::kScan:
      return StrCat("scan(init: ", Names(op.init), "; update: ", Names(op.update),
                    "; state: ", Names(op.state), ")");
    case OperationKind::kCompute:
      break;
  }
  std::string value =
      StrJoin(op.body, ", ", [](std::string* out, const Expr& e) { *out += loop::Print(e); });
  if (!op.is_reduction()) return value;
  const std::string ranges =
      StrJoin(op.reduce_axes, ", ", [](std::string* out, const IterVar& axis) {
        StrAppend(out, axis.var.name(), " in [", loop::Print(axis.min), ", ",
                  loop::Print(axis.min + axis.extent), ")");
      });
  const auto list = [](const std::vector<Expr>& values) {
    return StrJoin(values, ", ", [](std::string* out, const Expr& e) { *out += loop::Print(e); });
  };
  std::string text = StrCat(op.combiner->name, "(", value, ", ", ranges, ")");
  if (op.condition.defined()) StrAppend(&text, " where ", loop::Print(op.condition));
  if (!op.target.empty()) StrAppend(&text, " into [", list(op.target), "]");
  if (!op.initial.empty()) StrAppend(&text, " starting at ", list(op.initial));
  return text;
}

}  // namespace

std::string Print(const std::vector<Tensor>& outputs) {
  std::string text;
  for (const Operation& op : PostOrder(outputs)) {
    const loop::Buffer& first = op->outputs[0];
    if (op->is_placeholder()) {
      StrAppend(&text, op->name, " = placeholder ", first->dtype.ToString(), "[", ShapeText(first),
                "]\n");
      continue;
    }
    StrAppend(&text, op->name);
    if (op->is_compute()) StrAppend(&text, "[", AxisNames(op->axes), "]");
    StrAppend(&text, " = ", ValueText(*op), "  : ", first->dtype.ToString(), "[", ShapeText(first),
              "]\n");
  }
  return text;
}

}  // namespace tenon::te
