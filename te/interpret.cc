#include "tenon/te/interpret.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_set>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/evaluate.h"
#include "tenon/te/host_function.h"
#include "tenon/te/scan.h"

namespace tenon::te {
namespace {

using loop::ExprKind;

constexpr std::int64_t kBlock = 1024;

std::vector<Column> Initial(const OperationNode& op, Evaluator& evaluator, const Columns& axes) {
  evaluator.Restart(axes);
  std::vector<Column> result;
  for (const Expr& value : op.initial.empty() ? op.combiner->identity : op.initial)
    result.push_back(evaluator.Evaluate(value));
  return result;
}

// `value` where the term counts. Elsewhere nothing is read.
Expr IfCounted(const Expr& condition, const Expr& value) {
  return condition.defined() ? loop::IfThenElse(condition, value, loop::Constant(value.dtype(), 0))
                             : value;
}

// What the combiner makes of `old` and of terms.
std::vector<Column> Combined(const Combiner& combiner, Evaluator& evaluator,
                             const std::vector<Column>& old, const std::vector<Column>& terms) {
  Columns sides;
  for (std::size_t i = 0; i < old.size(); ++i) {
    sides.emplace(combiner.rhs[i].get(), terms[i]);
    sides.emplace(combiner.lhs[i].get(), old[i]);
  }
  evaluator.Restart(std::move(sides));
  std::vector<Column> result;
  for (const Expr& value : combiner.result) result.push_back(evaluator.Evaluate(value));
  return result;
}

class Interpreter {
 public:
  void Give(const Tensor& tensor, const NDArray& array) {
    const loop::Buffer& buffer = tensor.buffer();
    if (array.dtype() != buffer->dtype || array.shape().size() != buffer->shape.size())
      throw InvalidArgument(StrCat("the value of ", buffer->name, " has the type ",
                                   array.dtype().ToString(), " ", ShapeToString(array.shape()),
                                   "; ", buffer->dtype.ToString(), " of rank ",
                                   buffer->shape.size(), " is needed"));
    for (std::size_t d = 0; d < buffer->shape.size(); ++d) {
      const Expr& extent = buffer->shape[d];
      if (extent.kind() == ExprKind::kVar) extents_.emplace(extent, array.shape()[d]);
      if (const auto* known = extent.As<loop::IntImmNode>();
          known != nullptr && known->value != array.shape()[d])
        throw InvalidArgument(StrCat("the value of ", buffer->name, " has the extent ",
                                     array.shape()[d], " in dimension ", d, "; ", known->value,
                                     " is needed"));
    }
    arrays_[buffer.get()] = array;
  }

  NDArray Get(const Tensor& tensor) { return arrays_.at(tensor.buffer().get()); }

  void Compute(const OperationNode& op) {
    switch (op.kind) {
      case OperationKind::kPlaceholder:
        return;
      case OperationKind::kCompute:
        for (const loop::Buffer& buffer : op.outputs) Allocate(buffer);
        ComputeElements(op, 0, NumElements(arrays_.at(op.outputs[0].get()).shape()));
        if (!op.target.empty()) UpdateElements(op);
        return;
      case OperationKind::kExtern:
        return CallExtern(op);
      case OperationKind::kScan:
        return RunScan(op);
    }
  }

 private:
  void Allocate(const loop::Buffer& buffer) {
    Shape shape;
    for (const loop::Expr& extent : buffer->shape) shape.push_back(Scalar(extent));
    arrays_[buffer.get()] = NDArray::Empty(shape, buffer->dtype);
  }

  void ComputeElements(const OperationNode& op, std::int64_t first, std::int64_t last) {
    const Shape& shape = arrays_.at(op.outputs[0].get()).shape();
    for (std::int64_t start = first; start < last; start += kBlock)
      ComputeBlock(op, shape, start, std::min(kBlock, last - start));
  }

  void CallExtern(const OperationNode& op) {
    for (const loop::Buffer& buffer : op.outputs) Allocate(buffer);
    const auto& call = *op.body[0].As<loop::ExternCallNode>();
    std::vector<HostValue> values;
    for (const Expr& arg : call.args) {
      const auto* address = arg.As<loop::AddressNode>();
      if (address != nullptr) {
        values.push_back(HostValue::Of(arrays_.at(address->buffer.get()).raw()));
        continue;
      }
      Evaluator evaluator(arrays_, extents_);
      evaluator.Start(1);
      const Column value = evaluator.Evaluate(arg);
      values.push_back(value.is_float ? ToHost(arg.dtype(), value.f[0])
                                      : ToHost(arg.dtype(), value.i[0]));
    }
    HostFunction(call.callee)(values);
  }

  // Runs a scan. States and updates are the scan's own arrays; each step computes its slice of
  // every operation.
  void RunScan(const OperationNode& op) {
    for (const loop::Buffer& buffer : op.outputs) Allocate(buffer);
    const std::vector<Operation> steps = StepOperations(op);
    for (const Operation& step : steps) {
      for (const loop::Buffer& buffer : step->outputs) Allocate(buffer);
    }
    const std::int64_t all = arrays_.at(op.outputs[0].get()).shape()[0];
    const std::int64_t given = std::min(all, Scalar(op.init[0].shape()[0]));
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const NDArray& output = arrays_.at(op.outputs[i].get());
      if (all > 0) {
        std::memcpy(
            output.raw(), Get(op.init[i]).raw(),
            output.bytes() / static_cast<std::size_t>(all) * static_cast<std::size_t>(given));
      }
      arrays_[op.state[i].buffer().get()] = output;
      arrays_[op.update[i].buffer().get()] = output;
    }
    for (std::int64_t t = given; t < all; ++t) {
      for (const Operation& step : steps) {
        const Shape& shape = arrays_.at(step->outputs[0].get()).shape();
        const std::int64_t slice = NumElements(shape) / shape[0];
        ComputeElements(*step, t * slice, (t + 1) * slice);
      }
    }
  }

  std::int64_t Scalar(const Expr& e) {
    Evaluator evaluator(arrays_, extents_);
    evaluator.Start(1);
    return evaluator.Evaluate(e).i[0];
  }

  void ComputeBlock(const OperationNode& op, const Shape& shape, std::int64_t start,
                    std::int64_t size) {
    const auto n = static_cast<std::size_t>(size);
    Evaluator evaluator(arrays_, extents_);
    evaluator.Start(n);
    Columns axes;
    std::int64_t inner = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      Column index = MakeColumn(Int64, n);
      for (std::size_t k = 0; k < n; ++k)
        index.i[k] = (start + static_cast<std::int64_t>(k)) / inner % shape[d];
      axes.emplace(op.axes[d].var.get(), std::move(index));
      inner *= shape[d];
    }
    std::vector<Column> results;
    if (!op.is_reduction()) {
      evaluator.Restart(axes);
      for (const Expr& body : op.body) results.push_back(evaluator.Evaluate(body));
    } else if (op.target.empty()) {
      results = Reduce(op, evaluator, axes, n);
    } else {
      results = Initial(op, evaluator, axes);
    }
    for (std::size_t i = 0; i < results.size(); ++i)
      WriteColumn(arrays_.at(op.outputs[i].get()), start, results[i]);
  }

  // The values of `axes` one after the other, the last one fastest.
  template <typename Visit>
  void ForEach(const std::vector<IterVar>& axes, const Visit& visit) {
    std::vector<std::int64_t> low, extent, at;
    std::int64_t count = 1;
    for (const IterVar& axis : axes) {
      low.push_back(Scalar(axis.min));
      extent.push_back(Scalar(axis.extent));
      count *= std::max<std::int64_t>(extent.back(), 0);  // two negative ones are no iterations
    }
    at = low;
    for (std::int64_t step = 0; step < count; ++step) {
      visit(at);
      for (std::size_t r = at.size(); r-- > 0;) {
        if (++at[r] < low[r] + extent[r]) break;
        at[r] = low[r];
      }
    }
  }

  std::vector<Column> Reduce(const OperationNode& op, Evaluator& evaluator, const Columns& axes,
                             std::size_t n) {
    std::vector<Column> result = Initial(op, evaluator, axes);
    std::vector<Expr> sources;
    for (const Expr& value : op.body) sources.push_back(IfCounted(op.condition, value));
    ForEach(op.reduce_axes, [&](const std::vector<std::int64_t>& at) {
      auto bound = axes;
      for (std::size_t r = 0; r < at.size(); ++r) {
        Column index = MakeColumn(Int64, n);
        std::fill(index.i.begin(), index.i.end(), at[r]);
        bound.emplace(op.reduce_axes[r].var.get(), std::move(index));
      }
      evaluator.Restart(std::move(bound));
      std::vector<Column> terms;
      for (const Expr& source : sources) terms.push_back(evaluator.Evaluate(source));
      std::optional<Column> counts;
      if (op.condition.defined()) counts = evaluator.Evaluate(op.condition);
      const std::vector<Column> joined = Combined(*op.combiner, evaluator, result, terms);
      for (std::size_t i = 0; i < joined.size(); ++i) {
        for (std::size_t k = 0; k < n; ++k) {
          if (counts && counts->i[k] == 0) continue;
          if (joined[i].is_float) {
            result[i].f[k] = joined[i].f[k];
          } else {
            result[i].i[k] = joined[i].i[k];
          }
        }
      }
    });
    return result;
  }

  // Adds one term after the other, each to the element that it computes.
  void UpdateElements(const OperationNode& op) {
    std::vector<IterVar> loops;
    for (const IterVar& axis : op.axes) {
      if (!axis.starts_only) loops.push_back(axis);
    }
    loops.insert(loops.end(), op.reduce_axes.begin(), op.reduce_axes.end());
    const Shape shape = arrays_.at(op.outputs[0].get()).shape();
    Evaluator evaluator(arrays_, extents_);
    evaluator.Start(1);
    ForEach(loops, [&](const std::vector<std::int64_t>& at) {
      Columns bound;
      for (std::size_t r = 0; r < at.size(); ++r)
        bound.emplace(loops[r].var.get(), Column{.i = {at[r]}});
      evaluator.Restart(std::move(bound));
      if (op.condition.defined() && evaluator.Evaluate(op.condition).i[0] == 0) return;
      std::int64_t place = 0;
      std::vector<Expr> indices;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const std::int64_t index = evaluator.Evaluate(op.target[d]).i[0];
        if (index < 0 || index >= shape[d]) return;
        place = place * shape[d] + index;
        indices.emplace_back(index);
      }
      std::vector<Expr> elements;  // the evaluator knows nodes by their addresses: they must live
      std::vector<Column> old, terms;
      for (std::size_t i = 0; i < op.body.size(); ++i) {
        elements.push_back(loop::Load(op.outputs[i], indices));
        old.push_back(evaluator.Evaluate(elements[i]));
        terms.push_back(evaluator.Evaluate(op.body[i]));
      }
      const std::vector<Column> joined = Combined(*op.combiner, evaluator, old, terms);
      for (std::size_t i = 0; i < joined.size(); ++i)
        WriteColumn(arrays_.at(op.outputs[i].get()), place, joined[i]);
    });
  }

  Arrays arrays_;
  Extents extents_;
};

}  // namespace

namespace {

double ExtentOf(const Expr& extent) {
  const Expr simple = extent.kind() == ExprKind::kIntImm ? extent : loop::Simplify(extent);
  const auto* known = simple.As<loop::IntImmNode>();
  return known != nullptr ? static_cast<double>(known->value)
                          : std::numeric_limits<double>::infinity();
}

double ElementsOf(const loop::Buffer& buffer) {
  double elements = 1;
  for (const Expr& extent : buffer->shape) elements *= ExtentOf(extent);
  return elements;
}

}  // namespace

Cost CostToInterpret(const std::vector<Tensor>& outputs) {
  Cost cost;
  for (const Operation& op : PostOrder(outputs)) {
    if (op->kind == OperationKind::kPlaceholder) continue;
    double most = 0;
    for (const loop::Buffer& buffer : op->outputs) {
      const double elements = ElementsOf(buffer);
      cost.bytes += elements * static_cast<double>(buffer->dtype.bytes());
      most = std::max(most, elements);
    }
    for (const IterVar& axis : op->reduce_axes) most *= ExtentOf(axis.extent);
    cost.steps += most;
  }
  return cost;
}

std::vector<NDArray> Interpret(const std::vector<Tensor>& outputs,
                               const std::vector<std::pair<Tensor, NDArray>>& inputs) {
  Interpreter interpreter;
  for (const auto& [tensor, array] : inputs) interpreter.Give(tensor, array);
  const std::vector<Operation> order = PostOrder(outputs);
  std::unordered_set<const OperationNode*> in_scans;  // computed step by step
  for (const Operation& op : order) {
    if (op->kind != OperationKind::kScan) continue;
    for (const Operation& step : StepOperations(*op)) in_scans.insert(step.get());
  }
  for (const Operation& op : order) {
    if (!in_scans.contains(op.get())) interpreter.Compute(*op);
  }
  std::vector<NDArray> results;
  for (const Tensor& output : outputs) results.push_back(interpreter.Get(output));
  return results;
}

}  // namespace tenon::te
