#include "tenon/compiler/plan/build_plan.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tenon/compiler/plan/function_labels.h"
#include "tenon/compiler/plan/kernel_source.h"
#include "tenon/compiler/plan/memory_pieces.h"
#include "tenon/compiler/plan/moveless_nodes.h"
#include "tenon/compiler/plan/unique_names.h"
#include "tenon/compiler/plan/unread_constants.h"
#include "tenon/ir/flatten.h"
#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/device/device_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/device/plan_devices.h"
#include "tenon/runtime/device_copy.h"
#include "tenon/runtime/owners.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::ExprKind;
using ir::FunctionNode;
using runtime::EntryRef;
using runtime::Node;
using runtime::NodeKind;

// The prefix that graph executors and their tools know kernels by.
constexpr const char* kPrefix = "tvmgen_default_";

// The value of `dim` in the example that a plan with variables is made for.
std::int64_t InExample(const Dim& dim, const Dim::Values& example) {
  return std::max<std::int64_t>(dim.Evaluate(example).value_or(1), 0);
}

// Without an example, types must be static.
std::vector<runtime::Entry> EntriesOf(const ir::Type& type, const std::string& what,
                                      const Dim::Values& example) {
  std::vector<runtime::Entry> entries;
  for (const ir::Type& field : Flatten(type)) {
    const auto* tensor = field.As<ir::TensorTypeNode>();
    if (example.empty() || ir::IsStaticTensor(field)) {
      entries.push_back({.shape = ir::StaticShape(field, what), .dtype = tensor->dtype});
      continue;
    }
    runtime::Entry entry{.dtype = tensor->dtype, .extents = tensor->shape};
    for (const Dim& dim : tensor->shape) entry.shape.push_back(InExample(dim, example));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Dim::Values ExampleFor(const FunctionNode& main) {
  Dim::Values example;
  for (const Expr& param : main.params) {
    for (const std::string& name : ir::SymbolsOf(param.checked_type()))
      example.emplace(name, strategies::kPlannedExtent);
  }
  return example;
}

void RequireAvailable(const Device& device, const Span& span) {
  if (!runtime::IsAvailable(device))
    throw Unimplemented(StrCat("no code can be made for ", device.ToString(),
                               "; values can be on cpu:0, cpu:1 and so on"))
        .At(span);
}

// The target when the function is one copy between devices.
std::optional<Device> CopyTarget(const FunctionNode& function) {
  const auto* call = function.body.As<CallNode>();
  if (call == nullptr || !(call->callee == ops::Known().device_copy)) return std::nullopt;
  return Device::Parse(call->attrs.As<ops::DeviceCopyAttrs>().dst_virtual_device)
      .value_or(Device());
}

using ExprSet = std::unordered_set<Expr, ir::ExprHash>;

// The calls whose values are results, or may be parts of results, and what leads to them.
ExprSet ResultsOf(const FunctionNode& main) {
  ExprSet results;
  ir::ExprMap bound;
  std::vector<Expr> next = {main.body};
  while (!next.empty()) {
    const Expr e = next.back();
    next.pop_back();
    if (!results.insert(e).second) continue;
    if (const auto let = bound.find(e); let != bound.end()) next.push_back(let->second);
    if (const auto* tuple = e.As<ir::TupleNode>())
      next.insert(next.end(), tuple->fields.begin(), tuple->fields.end());
    if (const auto* item = e.As<ir::TupleGetItemNode>()) next.push_back(item->tuple);
    if (const auto* let = e.As<ir::LetNode>()) {
      bound.emplace(let->var, let->value);
      next.push_back(let->body);
    }
    const auto* call = e.As<CallNode>();
    const auto* function = call == nullptr ? nullptr : call->callee.As<FunctionNode>();
    // What a view shows is a part of a result. The parts of a join are not results themselves.
    if (function != nullptr && IsView(PiecesOf(*function)))
      next.insert(next.end(), call->args.begin(), call->args.end());
  }
  return results;
}

class Builder {
 public:
  Builder(ir::Module module, KernelSource& source) : source_(source) {
    lowered_.module = std::move(module);
  }

  Lowered Build(bool keeps_module) {
    const FunctionNode& main = lowered_.module.Main();
    example_ = ExampleFor(main);
    for (const auto& [name, value] : example_) lowered_.plan.symbols.push_back(name);
    const std::vector<std::optional<Device>> devices = passes::GivenDevices(main);
    for (std::size_t i = 0; i < main.params.size(); ++i) {
      const Device device = devices[i].value_or(Device());
      RequireAvailable(device, main.params[i].span());
      AddInput(main.params[i], device);
    }
    results_ = ResultsOf(main);
    const auto enter = [&](const Expr& e) {
      if (const auto* let = e.As<ir::LetNode>()) bound_.emplace(let->var, let->value);
      return e.kind() != ExprKind::kFunction;
    };
    MakeKernelsAhead(main.body);
    ir::VisitPostOrder(
        main.body, [&](const Expr& e) { Visit(e); }, enter);
    for (const EntryRef& head : ValueOf(main.body)) lowered_.plan.heads.push_back(head);
    DropUnreadConstants(lowered_, source_);
    runtime::AssignStorage(&lowered_.plan);
    lowered_.kernels = std::move(source_.kernels());
    if (!keeps_module) ForgetModule();
    source_.Compute(lowered_);
    return std::move(lowered_);
  }

 private:
  using Value = std::vector<EntryRef>;

  // Forgets all that holds constants of the module, except those of the plan and what Compute
  // reads.
  void ForgetModule() {
    lowered_.module = {};
    values_.clear();
    bound_.clear();
    results_.clear();
    source_.ForgetConstants();
  }

  // A let's variable has the value that it is bound to.
  const Value& ValueOf(const Expr& e) const {
    Expr meant = e;
    for (auto let = bound_.find(meant); let != bound_.end(); let = bound_.find(meant))
      meant = let->second;
    return values_.at(meant);
  }

  int AddNode(Node node) {
    lowered_.plan.nodes.push_back(std::move(node));
    return static_cast<int>(lowered_.plan.nodes.size()) - 1;
  }
  Value OutputsOf(int node) const {
    Value value;
    const auto& outputs = lowered_.plan.nodes[static_cast<std::size_t>(node)].outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) value.push_back({node, static_cast<int>(i)});
    return value;
  }

  // Makes the kernels of calls that are surely kernels. An argument counts as constant if it is
  // written as one; the value of a variable is not looked up.
  void MakeKernelsAhead(const Expr& body) {
    std::vector<KernelTable::Request> requests;
    ir::VisitPostOrder(
        body,
        [&](const Expr& e) {
          const auto* call = e.As<CallNode>();
          const auto* function = call == nullptr ? nullptr : call->callee.As<FunctionNode>();
          if (function == nullptr || source_.LabelsOf(call->callee) != nullptr ||
              CopyTarget(*function))
            return;
          const std::vector<Pieces> results = PiecesOf(*function);
          const bool may_be_join = results.size() == 1 && results[0].size() > 1;
          if (IsView(results) || may_be_join) return;
          requests.push_back(RequestOf(*call));
        },
        [](const Expr& e) { return e.kind() != ExprKind::kFunction; });
    source_.MakeAhead(requests);
  }

  void AddInput(const Expr& param, const Device& device) {
    const std::string& name = param.As<ir::VarNode>()->name;
    if (param.checked_type().As<ir::TensorTypeNode>() == nullptr)
      throw Unimplemented(StrCat("the parameter %", name, " of @main is no tensor"))
          .At(param.span());
    const int node =
        AddNode({.kind = NodeKind::kInput,
                 .name = Unique(name),
                 .function_name = {},
                 .inputs = {},
                 .outputs = EntriesOf(param.checked_type(), StrCat("the input ", name), example_)});
    for (runtime::Entry& entry : lowered_.plan.nodes[static_cast<std::size_t>(node)].outputs)
      entry.device = device;
    values_[param] = OutputsOf(node);
  }

  void Visit(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kVar:
      case ExprKind::kOp:
        return;
      case ExprKind::kConstant:
        AddConstant(e);
        return;
      case ExprKind::kTuple: {
        Value value;
        for (const Expr& field : e.As<ir::TupleNode>()->fields) {
          const Value& inner = ValueOf(field);
          value.insert(value.end(), inner.begin(), inner.end());
        }
        values_[e] = std::move(value);
        return;
      }
      case ExprKind::kTupleGetItem:
        AddProjection(e, *e.As<ir::TupleGetItemNode>());
        return;
      case ExprKind::kLet:
        values_[e] = ValueOf(e.As<ir::LetNode>()->body);
        return;
      case ExprKind::kFunction:
        if (!e.As<FunctionNode>()->is_primitive())
          throw Unimplemented(
              "a function that is a result, or that a run chooses, cannot be compiled; one that is "
              "called in place, bound by a let or handed to a function is inlined")
              .At(e.span());
        return;
      case ExprKind::kIf:
        throw Unimplemented("an if cannot be part of a plan without control flow").At(e.span());
      case ExprKind::kGlobalVar:
        throw Unimplemented(StrCat("the call of @", e.As<ir::GlobalVarNode>()->name,
                                   " cannot be compiled; inline the function"))
            .At(e.span());
      case ExprKind::kCall:
        AddCall(e, *e.As<CallNode>());
        return;
    }
  }

  void AddConstant(const Expr& e) {
    values_[e] = OutputsOf(AddConstantNode(e.As<ir::ConstantNode>()->data));
  }

  int AddConstantNode(const NDArray& data) {
    const int index = static_cast<int>(lowered_.constants.size());
    lowered_.constants.push_back(data);
    return AddNode({.kind = NodeKind::kConstant,
                    .name = Unique(StrCat("p", index)),
                    .function_name = {},
                    .constant = index,
                    .inputs = {},
                    .outputs = {{.shape = data.shape(), .dtype = data.dtype()}}});
  }

  void AddProjection(const Expr& e, const ir::TupleGetItemNode& item) {
    const auto [begin, count] = ir::LeavesOfField(item.tuple.checked_type(), item.index);
    const Value& tuple = ValueOf(item.tuple);
    values_[e] = Value(tuple.begin() + static_cast<std::ptrdiff_t>(begin),
                       tuple.begin() + static_cast<std::ptrdiff_t>(begin + count));
  }

  void AddCall(const Expr& e, const CallNode& call) {
    const auto* function = call.callee.As<FunctionNode>();
    if (function == nullptr)
      throw Unimplemented(
          call.op() != nullptr
              ? StrCat("the call of ", call.op()->name,
                       " is in no fused function, and only those become kernels; the pass FuseOps "
                       "makes them, so it cannot be left out (disabled_passes, --disable-pass)")
              : std::string("only calls of fused functions can be compiled"))
          .At(e.span());
    Value inputs;
    std::vector<NDArray> constants;
    for (const Expr& arg : call.args) {
      const Value& value = ValueOf(arg);
      for (const EntryRef& entry : value) {
        inputs.push_back(entry);
        const Node& producer = lowered_.plan.nodes[static_cast<std::size_t>(entry.node)];
        constants.push_back(producer.kind == NodeKind::kConstant
                                ? lowered_.constants[static_cast<std::size_t>(producer.constant)]
                                : NDArray());
      }
    }
    const FunctionLabels* const known = source_.LabelsOf(call.callee);
    FunctionLabels labels = known != nullptr ? *known : LabelsOf(call.callee);
    Node node{.hash = labels.hash,
              .outputs = EntriesOf(e.checked_type(), "a result of " + labels.name, example_)};
    node.origins = std::move(labels.origins);
    // A kernel runs where its inputs are, which is one place.
    Device device;
    for (const EntryRef& input : inputs) {
      const Node& producer = lowered_.plan.nodes[static_cast<std::size_t>(input.node)];
      if (producer.kind != NodeKind::kConstant) device = lowered_.plan.entry(input).device;
    }
    const std::optional<Device> target = CopyTarget(*function);
    RequireAvailable(target.value_or(device), e.span());
    for (runtime::Entry& output : node.outputs) output.device = target.value_or(device);
    if (target) {
      node.kind = NodeKind::kCopy;
      node.function_name = "__copy";
      node.name = Unique(node.function_name);
      node.inputs = {inputs[0]};
    } else if (moveless_.Make(*function, inputs, &node)) {
      node.name = Unique(kPrefix + labels.name);
      for (const Dim& begin : node.begins)
        node.offsets.push_back(static_cast<std::size_t>(InExample(begin, example_)));
      if (example_.empty()) node.begins.clear();
    } else {
      node.kernel = source_.For(call.callee, kPrefix + labels.name, constants, node.hash);
      node.arguments = source_.ArgumentsOf(call.callee);
      const LoweredKernel& kernel = source_.kernels()[static_cast<std::size_t>(node.kernel)];
      node.function_name = kernel.name;
      node.name = Unique(kernel.name);
      for (const int argument : kernel.choice.built.arguments)
        node.inputs.push_back(inputs[static_cast<std::size_t>(argument)]);
      const Value prepared = source_.Prepared(node.kernel, constants, [&](const NDArray& room) {
        return EntryRef{AddConstantNode(room), 0};
      });
      node.inputs.insert(node.inputs.end(), prepared.begin(), prepared.end());
    }
    values_[e] = OutputsOf(AddNode(std::move(node)));
    if (!results_.contains(e)) return;
    for (const EntryRef& entry : values_[e])
      moveless_.Take(runtime::Viewed(lowered_.plan, entry).entry);
  }

  std::string Unique(const std::string& name) { return node_names_.Unique(name, ""); }

  Lowered lowered_;
  KernelSource& source_;
  std::unordered_map<Expr, Value, ir::ExprHash> values_;
  ir::ExprMap bound_;  // what the variables of lets stand for
  ExprSet results_;
  Dim::Values example_;  // of a plan with variables
  MovelessNodes moveless_{lowered_.plan};
  UniqueNames node_names_;
};

void AddConstants(const Expr& arg, std::vector<NDArray>* constants) {
  if (const auto* constant = arg.As<ir::ConstantNode>()) {
    constants->push_back(constant->data);
  } else if (const auto* tuple = arg.As<ir::TupleNode>()) {
    for (const Expr& field : tuple->fields) AddConstants(field, constants);
  } else {
    constants->resize(constants->size() + Flatten(arg.checked_type()).size());
  }
}

}  // namespace

KernelTable::Request RequestOf(const CallNode& call) {
  KernelTable::Request request{.function = call.callee,
                               .name = kPrefix + NameOfFunction(*call.callee.As<FunctionNode>()),
                               .constants = {},
                               .hash = ir::StructuralHash(call.callee)};
  for (const Expr& arg : call.args) AddConstants(arg, &request.constants);
  return request;
}

Lowered BuildPlan(ir::Module module, const strategies::StrategyOptions& options,
                  const jit::CompileOptions& preparing, bool keeps_module) {
  FreshKernels source(options, preparing);
  return Builder(std::move(module), source).Build(keeps_module);
}

Lowered BuildPlan(ir::Module module, KernelSource& source) {
  return Builder(std::move(module), source).Build(true);
}

}  // namespace tenon::compiler
