// A node's outputs have the types that the import finds. A node that the import refuses is mostly
// removed again.
#include "tenon/verify/draw/random_onnx.h"

#include <algorithm>
#include <set>

#include "tenon/onnx/import.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/mutate_onnx.h"
#include "tenon/verify/draw/onnx_drawers.h"
#include "tenon/verify/draw/random_operator.h"

namespace tenon::verify {
namespace {

constexpr const char* kOtherDomain = "tenon";
// What an extent that values decide is taken for when later nodes are drawn. The import refuses
// nodes that take it for granted, or a run does.
constexpr std::int64_t kRunTimeExtent = 3;
using onnx_import::kFirstOpset;
using onnx_import::kLastOpset;

// What exporters put after operators whose results values decide the extents of.
const Names& ReadersOfRunTimeExtents() {
  static const Names& names = *new Names{
      "Add",       "Cast",   "Concat",  "ConstantOfShape", "Equal",     "Expand",    "Gather",
      "GatherND",  "Mul",    "NonZero", "OneHot",          "Pad",       "ReduceMax", "ReduceSum",
      "Reshape",   "Shape",  "Size",    "Slice",           "Softmax",   "Split",     "Squeeze",
      "ScatterND", "MatMul", "TopK",    "Transpose",       "Unsqueeze", "Where"};
  return names;
}

// Sets the attributes of a call of a registered operator, if ONNX has their types.
bool SetAttributes(const attrs::Attrs& attrs, NodeDraft* node) {
  if (!attrs.defined()) return true;
  for (const attrs::FieldInfo& field : attrs.schema()->fields) {
    const attrs::Value value = attrs.Get(field.name);
    if (value == field.default_value) continue;
    if (const auto* integer = value.As<std::int64_t>()) {
      node->Int(field.name, *integer);
    } else if (const auto* number = value.As<double>()) {
      node->Float(field.name, *number);
    } else if (const auto* text = value.As<std::string>()) {
      node->String(field.name, *text);
    } else if (const auto* list = value.As<attrs::List>()) {
      Ints integers;
      for (const attrs::Value& entry : *list) {
        if (entry.As<std::int64_t>() == nullptr) return false;
        integers.push_back(*entry.As<std::int64_t>());
      }
      node->IntList(field.name, integers);
    } else {
      return false;
    }
  }
  return true;
}

// The registered operator for which nodes of this name stand: "tenon.nn.relu"; empty for other
// names.
std::string RegisteredName(const std::string& name) {
  const std::string prefix = StrCat(kOtherDomain, ".");
  if (!name.starts_with(prefix)) return "";
  const std::string registered = name.substr(prefix.size());
  return ops::OpRegistry::Global().Find(registered) ? registered : "";
}

// A node of another domain that stands for the registered operator. Null when the draw has
// attributes that no file can hold, or when no call was found.
onnx::NodeProto* AppendRegistered(Draft& d, const std::string& name) {
  std::string refusal;
  const absl::StatusOr<std::optional<OperatorCall>> drawn =
      CatchErrors([&] { return MakeRandomCall(name, d.random(), &refusal); });
  if (!drawn.ok() || !*drawn) return nullptr;
  const ir::FunctionNode& main = (*drawn)->module.Main();
  const auto* call = main.body.As<ir::CallNode>();
  if (call == nullptr) return nullptr;
  int results = 1;
  if (const auto* tuple = main.body.checked_type().As<ir::TupleTypeNode>())
    results = static_cast<int>(tuple->fields.size());
  if (d.Chance(4)) ++results;  // more than there are must be refused
  NodeDraft node({}, results);
  for (const ir::Expr& arg : call->args) {
    if (arg.kind() != ir::ExprKind::kVar || !ir::IsStaticTensor(arg.checked_type())) return nullptr;
    const auto* type = arg.checked_type().As<ir::TensorTypeNode>();
    node.proto.add_input(
        d.Tensor(type->dtype, ir::StaticShape(arg.checked_type(), "an argument")).name);
  }
  if (!SetAttributes(call->attrs, &node)) return nullptr;
  return d.Append(kOtherDomain, call->op()->name, std::move(node));
}

class Chain {
 public:
  Chain(Draft& draft, const RandomOnnxOptions& options) : draft_(draft), options_(options) {
    for (const auto& [name, drawer] : Drawers()) {
      if (options.ops.empty() ||
          std::find(options.ops.begin(), options.ops.end(), name) != options.ops.end())
        names_.push_back(name);
    }
    for (const std::string& op : options.ops) {
      if (!RegisteredName(op).empty()) names_.push_back(op);
    }
  }

  void Append() {
    const int before = draft_.model().graph().node_size();
    const onnx::NodeProto* node = Drawn();
    if (node == nullptr) return;
    const absl::StatusOr<ir::Module> module = Imported(*node);
    if (module.ok()) {
      AddTypes(*node, module->Main().body.checked_type());
    } else if (module.status().code() != absl::StatusCode::kInternal && draft_.Chance(85)) {
      auto* nodes = draft_.model().mutable_graph()->mutable_node();
      nodes->DeleteSubrange(before, nodes->size() - before);
    }
  }

 private:
  const onnx::NodeProto* Drawn() {
    if (options_.ops.empty() && draft_.Chance(4))
      return AppendRegistered(draft_, draft_.Of(ops::OpRegistry::Global().Names()));
    const bool continues = draft_.has_preferred() && options_.ops.empty() && draft_.Chance(75);
    const std::string name = draft_.Of(continues ? ReadersOfRunTimeExtents() : names_);
    if (!Drawers().contains(name)) return AppendRegistered(draft_, RegisteredName(name));
    const std::size_t dot = name.rfind('.');
    const bool is_standard = dot == std::string::npos;
    const onnx::NodeProto* node =
        draft_.Append(is_standard ? "" : name.substr(0, dot),
                      is_standard ? name : name.substr(dot + 1), Drawers().at(name)(draft_));
    const auto reader = ReadersOfLists().find(name);
    if (reader == ReadersOfLists().end()) return node;
    NodeDraft read({node->output(0)});
    if (reader->second == "SequenceAt")
      read.proto.add_input(draft_.Known(NDArray::Scalar<std::int64_t>(0)));
    return draft_.Append("", reader->second, std::move(read));
  }

  absl::StatusOr<ir::Module> Imported(const onnx::NodeProto& node) const {
    onnx::ModelProto model = draft_.model();
    for (const std::string& output : node.output())
      model.mutable_graph()->add_output()->set_name(output);
    const std::string bytes = model.SerializeAsString();
    if (options_.before_import) options_.before_import(bytes);
    return onnx_import::ImportOnnx(bytes, {.evaluate = strategies::EvaluateCall});
  }

  void AddTypes(const onnx::NodeProto& node, const ir::Type& type) {
    const auto* tuple = type.As<ir::TupleTypeNode>();
    for (int i = 0; i < node.output_size(); ++i) {
      const ir::Type& of_output =
          tuple == nullptr ? type : tuple->fields.at(static_cast<std::size_t>(i));
      const auto* tensor = of_output.As<ir::TensorTypeNode>();
      if (tensor == nullptr) continue;
      Shape shape;
      bool is_of_run = false;
      for (const Dim& dim : tensor->shape) {
        is_of_run |= !dim.is_static();
        shape.push_back(dim.is_static() ? dim.value() : kRunTimeExtent);
      }
      draft_.Add({node.output(i), tensor->dtype, std::move(shape)});
      if (is_of_run) draft_.Prefer(draft_.values().back());
    }
  }

  Draft& draft_;
  const RandomOnnxOptions& options_;
  Names names_;
};

void ChooseResults(Draft& d) {
  onnx::GraphProto& graph = *d.model().mutable_graph();
  for (int i = 0; i < graph.node_size(); ++i) {
    if (ReadersOfLists().contains(graph.node(i).op_type())) continue;
    for (const std::string& output : graph.node(i).output()) {
      if (i + 1 == graph.node_size() || d.Chance(30)) graph.add_output()->set_name(output);
    }
  }
}

// Takes the names of results away that nobody reads, as exporters do. `random` is a copy: models
// stay what they were otherwise.
void LeaveNamesOut(onnx::GraphProto* graph, Random random) {
  std::set<std::string> read;
  for (const onnx::NodeProto& node : graph->node())
    read.insert(node.input().begin(), node.input().end());
  for (const onnx::ValueInfoProto& output : graph->output()) read.insert(output.name());
  for (onnx::NodeProto& node : *graph->mutable_node()) {
    for (int i = 1; i < node.output_size(); ++i) {
      if (!read.contains(node.output(i)) && random.Chance(50)) node.set_output(i, "");
    }
    if (node.op_type() != "BatchNormalization" || !random.Chance(20)) continue;
    while (node.output_size() < 3) node.add_output("");
  }
}

}  // namespace

const DrawerTable& Drawers() {
  static const DrawerTable& table = *[] {
    auto* made = new DrawerTable;
    AddAttentionDrawers(made);
    AddControlDrawers(made);
    AddElementwiseDrawers(made);
    AddIndexDrawers(made);
    AddListDrawers(made);
    AddMicrosoftDrawers(made);
    AddNnDrawers(made);
    AddQuantizeDrawers(made);
    AddSampleDrawers(made);
    AddSequenceDrawers(made);
    AddShapeDrawers(made);
    return made;
  }();
  return table;
}

void RequireDrawable(const std::vector<std::string>& ops) {
  for (const std::string& op : ops) {
    if (!Drawers().contains(op) && RegisteredName(op).empty())
      throw InvalidArgument(StrCat(
          "fuzz: no node of ", op, " can be drawn; `tenon ops --onnx` and ",
          "`tenon ops` print the operators, the latter's are written ", kOtherDomain, ".NAME"));
  }
}

onnx::ModelProto RandomOnnx(Random& random, const RandomOnnxOptions& options) {
  RequireDrawable(options.ops);
  const int any = kFirstOpset + static_cast<int>(random.Below(kLastOpset - kFirstOpset + 1));
  Draft draft(random, options.opset > 0 ? options.opset : any, options.computes_shapes);
  Chain chain(draft, options);
  for (std::int64_t nodes = 1 + random.Below(6); nodes > 0; --nodes) chain.Append();
  for (int tries = 0; draft.model().graph().node().empty() && tries < 10; ++tries) chain.Append();
  ChooseResults(draft);
  for (onnx::TensorProto& tensor : *draft.model().mutable_graph()->mutable_initializer()) {
    if (random.Chance(25)) UseTypedFields(&tensor);
  }
  auto* nodes = draft.model().mutable_graph()->mutable_node();
  if (nodes->size() > 1 && random.Chance(15)) nodes->SwapElements(0, nodes->size() - 1);
  if (options.mutate && random.Chance(40)) {
    for (std::int64_t changes = 1 + random.Below(3); changes > 0; --changes)
      MutateOnnx(&draft.model(), random);
  }
  LeaveNamesOut(draft.model().mutable_graph(), random);
  return draft.model();
}

}  // namespace tenon::verify
