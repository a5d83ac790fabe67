#include "tenon/compiler/build_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/jit/kernel.h"
#include "tenon/ops/device_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/runtime/device_copy.h"
#include "tenon/support/error.h"
#include "tenon/support/hash.h"
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

constexpr std::size_t kLongestName = 80;
// The prefix that graph executors and their tools know kernels by.
constexpr const char* kPrefix = "tvmgen_default_";

std::vector<ir::Type> Flatten(const ir::Type& type) {
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
    std::vector<ir::Type> fields;
    for (const ir::Type& field : tuple->fields) {
      const std::vector<ir::Type> inner = Flatten(field);
      fields.insert(fields.end(), inner.begin(), inner.end());
    }
    return fields;
  }
  return {type};
}

std::vector<runtime::Entry> EntriesOf(const ir::Type& type, const std::string& what) {
  std::vector<runtime::Entry> entries;
  for (const ir::Type& field : Flatten(type)) {
    const Shape shape = ir::StaticShape(field, what);
    entries.push_back({.shape = shape, .dtype = field.As<ir::TensorTypeNode>()->dtype});
  }
  return entries;
}

class Builder {
 public:
  Builder(const ir::Module& module, const strategies::StrategyOptions& options,
          const std::string& cache_dir)
      : options_(options), cache_dir_(cache_dir) {
    lowered_.module = module;
  }

  Lowered Build() {
    const FunctionNode& main = lowered_.module.Main();
    const std::vector<Device> devices = DevicesOfParameters(main);
    for (std::size_t i = 0; i < main.params.size(); ++i) {
      RequireAvailable(devices[i], main.params[i].span());
      AddInput(main.params[i], devices[i]);
    }
    const auto enter = [&](const Expr& e) {
      if (const auto* let = e.As<ir::LetNode>()) bound_.emplace(let->var, let->value);
      return e.kind() != ExprKind::kFunction;
    };
    ir::VisitPostOrder(
        main.body, [&](const Expr& e) { Visit(e); }, enter);
    for (const EntryRef& head : ValueOf(main.body)) lowered_.plan.heads.push_back(head);
    DropUnreadConstants();
    runtime::AssignStorage(&lowered_.plan);
    ComputePreparations();
    return std::move(lowered_);
  }

 private:
  using Value = std::vector<EntryRef>;

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

  void AddInput(const Expr& param, const Device& device) {
    const std::string& name = ir::Var(param).name();
    if (param.checked_type().As<ir::TensorTypeNode>() == nullptr)
      throw Unimplemented(StrCat("the parameter %", name, " of @main is no tensor"))
          .At(param.span());
    const int node =
        AddNode({.kind = NodeKind::kInput,
                 .name = Unique(name),
                 .function_name = {},
                 .inputs = {},
                 .outputs = EntriesOf(param.checked_type(), StrCat("the input ", name))});
    for (runtime::Entry& entry : lowered_.plan.nodes[static_cast<std::size_t>(node)].outputs)
      entry.device = device;
    values_[param] = OutputsOf(node);
  }

  // On which the function says its parameters are (passes/plan_devices.h).
  static std::vector<Device> DevicesOfParameters(const FunctionNode& function) {
    std::vector<Device> devices(function.params.size());
    const auto found = function.attrs.find("param_devices");
    const auto* list = found == function.attrs.end() ? nullptr : found->second.As<attrs::List>();
    for (std::size_t i = 0; list != nullptr && i < std::min(list->size(), devices.size()); ++i) {
      const auto* text = (*list)[i].As<std::string>();
      if (text != nullptr) devices[i] = Device::Parse(*text).value_or(Device());
    }
    return devices;
  }
  static void RequireAvailable(const Device& device, const Span& span) {
    if (!runtime::IsAvailable(device))
      throw Unimplemented(StrCat("no code can be made for ", device.ToString(),
                                 "; values can be on cpu:0, cpu:1 and so on"))
          .At(span);
  }

  // The target when the function is one copy between devices.
  static std::optional<Device> CopyTarget(const FunctionNode& function) {
    const auto* call = function.body.As<CallNode>();
    if (call == nullptr || !(call->callee == ops::Known().device_copy)) return std::nullopt;
    return Device::Parse(call->attrs.As<ops::DeviceCopyAttrs>().dst_virtual_device)
        .value_or(Device());
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
          throw Unimplemented("only calls of fused functions can be compiled; inline this one")
              .At(e.span());
        return;
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
    const auto* type = item.tuple.checked_type().As<ir::TupleTypeNode>();
    std::size_t begin = 0;
    for (int i = 0; i < item.index; ++i)
      begin += Flatten(type->fields[static_cast<std::size_t>(i)]).size();
    const Value& tuple = ValueOf(item.tuple);
    const std::size_t count = Flatten(e.checked_type()).size();
    values_[e] = Value(tuple.begin() + static_cast<std::ptrdiff_t>(begin),
                       tuple.begin() + static_cast<std::ptrdiff_t>(begin + count));
  }

  void AddCall(const Expr& e, const CallNode& call) {
    const auto* function = call.callee.As<FunctionNode>();
    if (function == nullptr)
      throw Unimplemented("only calls of fused functions can be compiled").At(e.span());
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
    const std::string name = NameOfFunction(*function);
    Node node{.name = {},
              .function_name = {},
              .inputs = {},
              .outputs = EntriesOf(e.checked_type(), "a result of " + name)};
    node.hash = ir::StructuralHash(call.callee);
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
    } else if (function->HasAttr("relay.reshape_only")) {
      node.kind = NodeKind::kView;
      node.name = Unique(kPrefix + name);
      node.inputs = {inputs[ViewedInput(*function)]};
    } else {
      node.kernel = KernelFor(call.callee, name, constants, node.hash);
      const LoweredKernel& kernel = lowered_.kernels[static_cast<std::size_t>(node.kernel)];
      node.function_name = kernel.name;
      node.name = Unique(kernel.name);
      for (const int argument : kernel.choice.built.arguments)
        node.inputs.push_back(inputs[static_cast<std::size_t>(argument)]);
      for (const EntryRef& prepared : PreparedFor(node.kernel, constants))
        node.inputs.push_back(prepared);
    }
    values_[e] = OutputsOf(AddNode(std::move(node)));
  }

  // Which of the flattened inputs a function of reshapes has the elements of.
  static std::size_t ViewedInput(const FunctionNode& function) {
    Expr e = function.body;
    std::size_t input = 0;
    while (e.kind() != ExprKind::kVar) {
      if (const auto* item = e.As<ir::TupleGetItemNode>()) {
        const auto* type = item->tuple.checked_type().As<ir::TupleTypeNode>();
        for (int i = 0; i < item->index; ++i)
          input += Flatten(type->fields[static_cast<std::size_t>(i)]).size();
        e = item->tuple;
      } else {
        const auto* call = e.As<CallNode>();
        CheckInvariant(call != nullptr, "a function of reshapes holds calls and projections");
        e = call->args[0];
      }
    }
    for (const Expr& param : function.params) {
      if (param == e) return input;
      input += Flatten(param.checked_type()).size();
    }
    Unreachable("what a fused function reads is a parameter");
  }

  // Constant nodes for what the kernel wants prepared of these constants; made when all are known.
  Value PreparedFor(int kernel, const std::vector<NDArray>& constants) {
    Value value;
    const auto& prepared = lowered_.kernels[static_cast<std::size_t>(kernel)].choice.built.prepared;
    for (std::size_t i = 0; i < prepared.size(); ++i) {
      Preparation preparation;
      for (const int argument : prepared[i].arguments)
        preparation.sources.push_back(constants[static_cast<std::size_t>(argument)]);
      std::vector<Preparation>& made = preparations_[{kernel, i}];
      const auto known = std::find_if(made.begin(), made.end(), [&](const Preparation& other) {
        return SameArrays(other.sources, preparation.sources);
      });
      if (known != made.end()) {
        value.push_back(known->constant);
        continue;
      }
      const loop::Buffer& buffer = prepared[i].function.buffers.back();
      Shape shape;
      for (const loop::Expr& extent : buffer->shape)
        shape.push_back(extent.As<loop::IntImmNode>()->value);
      preparation.constant = {AddConstantNode(NDArray::Zeros(shape, buffer->dtype)), 0};
      value.push_back(preparation.constant);
      made.push_back(std::move(preparation));
    }
    return value;
  }

  // A weight of which only the packed form is read need not be kept as it was.
  void DropUnreadConstants() {
    std::vector<Node>& nodes = lowered_.plan.nodes;
    std::vector<bool> is_read(nodes.size(), false);
    const auto mark = [&](const EntryRef& entry) {
      is_read[static_cast<std::size_t>(entry.node)] = true;
    };
    for (const Node& node : nodes) std::for_each(node.inputs.begin(), node.inputs.end(), mark);
    std::for_each(lowered_.plan.heads.begin(), lowered_.plan.heads.end(), mark);
    std::vector<int> position(nodes.size(), -1);
    std::vector<Node> kept;
    std::vector<NDArray> constants;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind == NodeKind::kConstant) {
        if (!is_read[i]) continue;
        const auto old = static_cast<std::size_t>(nodes[i].constant);
        nodes[i].constant = static_cast<int>(constants.size());
        constants.push_back(lowered_.constants[old]);
      }
      position[i] = static_cast<int>(kept.size());
      kept.push_back(std::move(nodes[i]));
    }
    const auto move = [&](EntryRef& entry) {
      entry.node = position[static_cast<std::size_t>(entry.node)];
    };
    for (Node& node : kept) std::for_each(node.inputs.begin(), node.inputs.end(), move);
    std::for_each(lowered_.plan.heads.begin(), lowered_.plan.heads.end(), move);
    for (auto& [wanted, made] : preparations_) {
      for (Preparation& preparation : made) move(preparation.constant);
    }
    nodes = std::move(kept);
    lowered_.constants = std::move(constants);
  }

  void ComputePreparations() {
    std::vector<loop::Function> functions;
    for (const auto& [wanted, made] : preparations_)
      functions.push_back(lowered_.kernels[static_cast<std::size_t>(wanted.first)]
                              .choice.built.prepared[wanted.second]
                              .function);
    const std::vector<jit::Kernel> kernels =
        ValueOrThrow(jit::CompileAll(functions, {.cache_dir = cache_dir_}));
    auto kernel = kernels.begin();
    for (const auto& [wanted, made] : preparations_) {
      for (const Preparation& preparation : made) {
        std::vector<NDArray> arrays = preparation.sources;
        const Node& node = lowered_.plan.nodes[static_cast<std::size_t>(preparation.constant.node)];
        arrays.push_back(lowered_.constants[static_cast<std::size_t>(node.constant)]);
        if (const absl::Status status = kernel->Run(arrays); !status.ok())
          throw Error(status.code(), std::string(status.message()));
      }
      ++kernel;
    }
  }

  // Equal functions share a kernel unless it holds constants that differ.
  int KernelFor(const Expr& function, const std::string& plain_name,
                const std::vector<NDArray>& constants, std::uint64_t hash) {
    for (const Known& known : known_[hash]) {
      if (!ir::StructuralEqual(function, known.function)) continue;
      const auto& built = lowered_.kernels[static_cast<std::size_t>(known.kernel)].choice.built;
      const bool holds_constants = !std::holds_alternative<loop::Function>(built.kernel) &&
                                   built.arguments.size() != constants.size();
      if (holds_constants ? SameArrays(constants, known.constants)
                          : SameAreConstant(constants, known.constants))
        return known.kernel;
    }
    const auto& node = *function.As<FunctionNode>();
    const std::string name = Unique(kPrefix + plain_name, &kernel_names_, "_");
    strategies::Choice choice =
        strategies::Choose({.function = &node, .name = name, .constants = constants}, options_);
    const int kernel = static_cast<int>(lowered_.kernels.size());
    lowered_.kernels.push_back({name, function, std::move(choice)});
    known_[hash].push_back({function, constants, kernel});
    return kernel;
  }

  static bool SameArrays(const std::vector<NDArray>& a, const std::vector<NDArray>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const NDArray& x, const NDArray& y) { return x.raw() == y.raw(); });
  }

  static bool SameAreConstant(const std::vector<NDArray>& a, const std::vector<NDArray>& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const NDArray& x, const NDArray& y) { return x.defined() == y.defined(); });
  }

  std::string Unique(const std::string& name) { return Unique(name, &node_names_, ""); }
  static std::string Unique(const std::string& name, std::unordered_map<std::string, int>* taken,
                            const char* separator) {
    std::string unique = name;
    while (taken->contains(unique)) unique = StrCat(name, separator, ++(*taken)[name]);
    taken->emplace(unique, 0);
    return unique;
  }

  struct Known {
    Expr function;
    std::vector<NDArray> constants;
    int kernel;
  };

  // A constant that a kernel's prepared argument is, and what it is made of.
  struct Preparation {
    std::vector<NDArray> sources;
    EntryRef constant;
  };

  const strategies::StrategyOptions& options_;
  const std::string& cache_dir_;
  // By the kernel and the position among what it wants prepared: these are made by the same code.
  std::map<std::pair<int, std::size_t>, std::vector<Preparation>> preparations_;
  Lowered lowered_;
  std::unordered_map<Expr, Value, ir::ExprHash> values_;
  ir::ExprMap bound_;  // what the variables of lets stand for
  std::unordered_map<std::uint64_t, std::vector<Known>> known_;
  std::unordered_map<std::string, int> node_names_, kernel_names_;
};

}  // namespace

std::string NameOfFunction(const FunctionNode& function) {
  std::string name = "fused";
  ir::VisitPostOrder(function.body, [&](const Expr& e) {
    const auto* call = e.As<CallNode>();
    if (call != nullptr && call->op() != nullptr) StrAppend(&name, "_", call->op()->name);
  });
  std::replace(name.begin(), name.end(), '.', '_');
  if (name.size() <= kLongestName) return name;
  const std::uint64_t hash = HashBytes(name);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(hash >> shift) & 15];
  return StrCat(name.substr(0, kLongestName - 1 - text.size()), "_", text);
}

Lowered BuildPlan(const ir::Module& module, const strategies::StrategyOptions& options,
                  const std::string& cache_dir) {
  return Builder(module, options, cache_dir).Build();
}

}  // namespace tenon::compiler
