#include "tenon/onnx/import.h"

#include <filesystem>
#include <set>
#include <unordered_map>

#include "tenon/onnx/converters.h"
#include "tenon/onnx/external_data.h"
#include "tenon/onnx/model.h"
#include "tenon/onnx/strip_raw_data.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/registry.h"
#include "tenon/support/error.h"
#include "tenon/support/mapped_file.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

const ConverterTable& Converters() {
  static const ConverterTable table = [] {
    ConverterTable made;
    AddActivationConverters(&made);
    AddConvConverters(&made);
    AddEinsumConverters(&made);
    AddElementwiseConverters(&made);
    AddImageConverters(&made);
    AddIndexConverters(&made);
    AddLossConverters(&made);
    AddRecurrentConverters(&made);
    AddQuantizeConverters(&made);
    AddReduceConverters(&made);
    AddSignalConverters(&made);
    AddShapeConverters(&made);
    AddNnConverters(&made);
    AddVisionConverters(&made);
    return made;
  }();
  return table;
}

namespace {

constexpr int kFirstOpset = 7;
constexpr int kLastOpset = 21;
// protobuf takes no more.
constexpr std::size_t kLargest = (std::size_t{1} << 31) - 1;

std::string NameOf(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 ? StrCat("making ", node.output(0)) : std::string("without a name");
}

bool IsDefaultDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

// A registered operator that stands for a node of another domain.
Expr CustomOp(const onnx::NodeProto& node) {
  const ops::OpRegistry& registry = ops::OpRegistry::Global();
  if (const Expr op = registry.Find(StrCat(node.domain(), ".", node.op_type()))) return op;
  return registry.Find(node.op_type());
}

attrs::Value ToValue(const onnx::AttributeProto& attribute) {
  switch (attribute.type()) {
    case onnx::AttributeProto::INT:
      return attrs::Value(static_cast<std::int64_t>(attribute.i()));
    case onnx::AttributeProto::FLOAT:
      return attrs::Value(static_cast<double>(attribute.f()));
    case onnx::AttributeProto::STRING:
      return attrs::Value(attribute.s());
    case onnx::AttributeProto::INTS: {
      attrs::List list;
      for (const std::int64_t i : attribute.ints()) list.push_back(attrs::Value(i));
      return attrs::Value(std::move(list));
    }
    default:
      throw Unimplemented(StrCat("the attribute ", attribute.name(), " has no supported type"));
  }
}

std::vector<Expr> ConvertCustom(const Expr& op, Node& node) {
  const auto* schema = op.As<ir::OpNode>()->attrs_schema();
  attrs::FieldValues fields;
  for (const onnx::AttributeProto& attribute : node.proto().attribute()) {
    fields.emplace(attribute.name(), ToValue(attribute));
    node.Ignore(attribute.name().c_str());
  }
  attrs::Attrs attrs;
  if (schema != nullptr) attrs = attrs::Attrs::FromFields(*schema, fields);
  const Expr call = node.Typed(ir::Call::Make(op, node.inputs(), std::move(attrs)));
  if (node.num_outputs() == 1) return {call};
  std::vector<Expr> outputs;
  for (int i = 0; i < node.num_outputs(); ++i)
    outputs.push_back(node.Typed(ir::TupleGetItem::Make(call, i)));
  return outputs;
}

// Throws Unimplemented.
void ReportMissing(const onnx::GraphProto& graph, const std::string& source) {
  std::map<std::string, std::vector<std::string>> missing;
  for (const onnx::NodeProto& node : graph.node()) {
    if (IsDefaultDomain(node.domain()) ? Converters().contains(node.op_type())
                                       : static_cast<bool>(CustomOp(node)))
      continue;
    const std::string type = IsDefaultDomain(node.domain())
                                 ? node.op_type()
                                 : StrCat(node.domain(), ".", node.op_type());
    missing[type].push_back(NameOf(node));
  }
  if (missing.empty()) return;
  std::string list;
  for (const auto& [type, nodes] : missing)
    StrAppend(&list, "\n  ", type, " (", StrJoin(nodes, ", "), ")");
  throw Unimplemented(StrCat(source, " uses ", missing.size(),
                             missing.size() == 1 ? " operator" : " operators",
                             " that cannot be imported:", list));
}

int OpsetOf(const onnx::ModelProto& model, const std::string& source) {
  std::int64_t opset = 0;
  for (const auto& entry : model.opset_import()) {
    if (IsDefaultDomain(entry.domain())) opset = entry.version();
  }
  if (opset < kFirstOpset || opset > kLastOpset)
    throw Unimplemented(StrCat(source, " is of opset ", opset, "; opsets ", kFirstOpset, " to ",
                               kLastOpset, " are supported"));
  return static_cast<int>(opset);
}

ir::InputSpec ToInputSpec(const onnx::ValueInfoProto& input) {
  const std::string what = StrCat("the input ", input.name());
  if (!input.type().has_tensor_type()) throw Unimplemented(what + " is no tensor");
  const auto& tensor = input.type().tensor_type();
  ir::InputSpec spec{input.name(), ToDataType(tensor.elem_type(), what), std::nullopt};
  if (!tensor.has_shape()) return spec;
  spec.extents.emplace();
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() > 0) {
      spec.extents->emplace_back(dim.dim_value());
    } else {
      spec.extents->push_back(dim.dim_param().empty() ? ir::Dim()
                                                      : ir::Dim::Symbol(dim.dim_param()));
    }
  }
  return spec;
}

}  // namespace

struct OnnxModel::State {
  std::string source;
  onnx::ModelProto proto;  // without the data of the initializers
  int opset = 0;
  std::unordered_map<std::string, Expr> initializers;
  std::vector<ir::InputSpec> inputs;
};

namespace {

class Importer {
 public:
  Importer(const onnx::GraphProto& graph, int opset, std::unordered_map<std::string, Expr> values,
           const std::vector<ir::InputSpec>& inputs, const ImportOptions& options,
           const std::string& source)
      : graph_(graph),
        options_(options),
        source_(source),
        opset_(opset),
        values_(std::move(values)) {
    AddInputs(inputs);
  }

  ir::Module Import() {
    for (const onnx::NodeProto& node : graph_.node()) Convert(node);
    return ir::Module().With("main", ir::Function::Make(params_, Result()));
  }

 private:
  void AddInputs(const std::vector<ir::InputSpec>& inputs) {
    std::set<std::string> names;
    for (const ir::InputSpec& input : inputs) {
      names.insert(input.name);
      const ir::Type type = ir::TensorTypeOf(ShapeOfInput(input), input.dtype);
      const Expr var = ir::Var::MakeChecked(input.name, type, {source_});
      params_.push_back(var);
      values_[input.name] = var;
    }
    for (const auto& [name, shape] : options_.shapes) {
      if (!names.contains(name))
        throw InvalidArgument(StrCat("a shape is given for ", name,
                                     ", which is no input; inputs are ", StrJoin(names, ", ")));
    }
  }

  Shape ShapeOfInput(const ir::InputSpec& input) const {
    const auto given = options_.shapes.find(input.name);
    if (given == options_.shapes.end()) {
      if (const std::optional<Shape> fixed = input.Fixed()) return *fixed;
      const std::vector<ir::Dim> extents = input.extents.value_or(std::vector<ir::Dim>{1});
      throw InvalidArgument(StrCat("the input ", input.name, " has the shape ",
                                   input.ExtentsToString(),
                                   "; give its extents, for instance --shape ", input.name, "=",
                                   StrJoin(extents, ",", [](std::string* out, const ir::Dim& e) {
                                     StrAppend(out, e.is_static() ? e.value() : 1);
                                   })));
    }
    if (!input.Fits(given->second))
      throw InvalidArgument(StrCat("the shape ", ShapeToString(given->second), " given for ",
                                   input.name, " does not fit the model's ",
                                   input.ExtentsToString()));
    NumElements(given->second);
    return given->second;
  }

  void Convert(const onnx::NodeProto& proto) {
    const std::string what = StrCat("in the node ", NameOf(proto), " (", proto.op_type(), ")");
    try {
      std::vector<Expr> inputs;
      for (const std::string& name : proto.input()) {
        if (name.empty()) {
          inputs.emplace_back();
          continue;
        }
        const auto found = values_.find(name);
        if (found == values_.end())
          throw InvalidArgument(StrCat("the input ", name,
                                       " is made by no node before it; nodes must be in order and "
                                       "without cycles"));
        inputs.push_back(found->second);
      }
      Node node(proto, opset_, std::move(inputs), options_.evaluate);
      const auto converter = Converters().find(proto.op_type());
      const std::vector<Expr> outputs = IsDefaultDomain(proto.domain())
                                            ? converter->second(node)
                                            : ConvertCustom(CustomOp(proto), node);
      node.RequireAllHandled();
      for (int i = 0; i < proto.output_size(); ++i) {
        if (proto.output(i).empty()) continue;
        if (static_cast<std::size_t>(i) >= outputs.size())
          throw Unimplemented(StrCat("output ", i, " is not supported"));
        if (!values_.emplace(proto.output(i), outputs[static_cast<std::size_t>(i)]).second)
          throw InvalidArgument(StrCat("the value ", proto.output(i), " is made twice"));
      }
    } catch (const Error& error) {
      Error named(error.code(), StrCat(what, ": ", error.message()));
      for (const std::string& note : error.notes()) named.AddNote(note);
      throw named;
    }
  }

  Expr Result() const {
    std::vector<Expr> outputs;
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      const auto found = values_.find(output.name());
      if (found == values_.end())
        throw InvalidArgument(StrCat("the output ", output.name(), " is made by no node"));
      outputs.push_back(found->second);
    }
    if (outputs.empty()) throw InvalidArgument("the graph has no outputs");
    return outputs.size() == 1 ? outputs[0] : ir::Tuple::Make(std::move(outputs));
  }

  const onnx::GraphProto& graph_;
  const ImportOptions& options_;
  const std::string& source_;
  const int opset_;
  std::unordered_map<std::string, Expr> values_;
  std::vector<Expr> params_;
};

}  // namespace

OnnxModel OnnxModel::Make(std::string_view bytes, const std::string& source,
                          const std::shared_ptr<const MappedFile>& file,
                          const std::optional<std::string>& folder) {
  const auto state = std::make_shared<State>();
  state->source = source;
  onnx::ModelProto& model = state->proto;
  const std::optional<StrippedModel> stripped = StripRawData(bytes);
  if (bytes.empty() || bytes.size() > kLargest || !stripped ||
      !model.ParseFromString(stripped->bytes))
    throw DataLoss(StrCat(source, " is no whole ONNX model (", bytes.size(), " bytes)"));
  if (!model.has_graph()) throw DataLoss(StrCat(source, " holds no graph"));
  state->opset = OpsetOf(model, source);
  ReportMissing(model.graph(), source);
  ExternalData files(folder);
  for (int i = 0; i < model.graph().initializer_size(); ++i) {
    onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(i);
    const std::string what = StrCat("the initializer ", tensor.name());
    std::optional<RawData> raw;
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
      raw = files.Of(tensor, what);
    } else if (const auto& data = stripped->raw.at(static_cast<std::size_t>(i))) {
      raw = {*data, nullptr};
    }
    const NDArray array = ToNDArray(tensor, what, raw);
    if (!state->initializers.emplace(tensor.name(), ir::Constant::Make(array)).second)
      throw InvalidArgument(what + " is given twice");
    // What was copied need not be in memory twice.
    if (raw && raw->owner == nullptr && file != nullptr) file->Forget(raw->bytes);
    tensor.Clear();
  }
  std::set<std::string> names;
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    if (!names.insert(input.name()).second)
      throw InvalidArgument(StrCat("the input ", input.name(), " is declared twice"));
    // One with an initializer is a constant that older versions list here too.
    if (!state->initializers.contains(input.name())) state->inputs.push_back(ToInputSpec(input));
  }
  return OnnxModel(state);
}

absl::StatusOr<OnnxModel> OnnxModel::Parse(std::string_view bytes, const std::string& source) {
  return CatchErrors([&] { return Make(bytes, source, nullptr, std::nullopt); });
}

absl::StatusOr<OnnxModel> OnnxModel::Load(const std::string& path) {
  return CatchErrors([&] {
    const std::shared_ptr<const MappedFile> file = MappedFile::Open(path);
    if (file->size() > kLargest)
      throw Unimplemented(StrCat("the model ", path, " is larger than 2 GiB"));
    return Make(file->bytes(), path, file, std::filesystem::path(path).parent_path().string());
  });
}

const std::vector<ir::InputSpec>& OnnxModel::inputs() const { return state_->inputs; }

absl::StatusOr<ir::Module> OnnxModel::Import(const ImportOptions& options) const {
  return CatchErrors([&] {
    return Importer(state_->proto.graph(), state_->opset, state_->initializers, state_->inputs,
                    options, state_->source)
        .Import();
  });
}

absl::StatusOr<ir::Module> ImportOnnx(std::string_view bytes, const ImportOptions& options,
                                      const std::string& source) {
  absl::StatusOr<OnnxModel> model = OnnxModel::Parse(bytes, source);
  if (!model.ok()) return model.status();
  return model->Import(options);
}

absl::StatusOr<ir::Module> LoadOnnx(const std::string& path, const ImportOptions& options) {
  absl::StatusOr<OnnxModel> model = OnnxModel::Load(path);
  if (!model.ok()) return model.status();
  return model->Import(options);
}

std::vector<std::string> SupportedOnnxOps() {
  std::vector<std::string> names;
  for (const auto& entry : Converters()) names.push_back(entry.first);
  return names;
}

}  // namespace tenon::onnx_import
