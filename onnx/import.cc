#include "tenon/onnx/import.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "tenon/ir/module_builder.h"
#include "tenon/ir/parse_extents.h"
#include "tenon/ir/result_names.h"
#include "tenon/onnx/convert/graph_importer.h"
#include "tenon/onnx/convert/sequence.h"
#include "tenon/onnx/external_data.h"
#include "tenon/onnx/local_functions.h"
#include "tenon/onnx/model.h"
#include "tenon/onnx/model_inputs.h"
#include "tenon/onnx/narrow_type.h"
#include "tenon/onnx/opset.h"
#include "tenon/onnx/plain_tensors.h"
#include "tenon/onnx/sort_nodes.h"
#include "tenon/onnx/strip_raw_data.h"
#include "tenon/onnx/tensor.h"
#include "tenon/passes/declared_limits.h"
#include "tenon/passes/simplify/dead_code.h"
#include "tenon/support/error.h"
#include "tenon/support/mapped_file.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// The size limit of protobuf.
constexpr std::size_t kMaxFileBytes = (std::size_t{1} << 31) - 1;

ir::InputSpec ToInputSpec(const onnx::ValueInfoProto& input) {
  const std::string what = StrCat("the input ", input.name());
  if (!input.type().has_tensor_type()) throw Unimplemented(what + " is not a tensor");
  const auto& tensor = input.type().tensor_type();
  const NarrowType* narrow = FindNarrowType(tensor.elem_type());
  ir::InputSpec spec{input.name(),
                     narrow != nullptr ? narrow->carrier : ToDataType(tensor.elem_type(), what),
                     std::nullopt};
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
  LocalFunctions functions;
  NamedValues initializers;
  NarrowValues narrow;  // those initializers that wider types carry
  std::vector<ir::InputSpec> inputs, initialized_inputs;
  std::optional<Error> missing;  // operators that are not known
};

namespace {

// As a limit of @main has it.
std::string TextOf(const ExtentCondition& condition) {
  const auto side = [](const ir::Dim& dim) {
    const std::string list = ir::ToText({dim});
    return list.substr(1, list.size() - 2);
  };
  const bool is_equal = condition.kind == ExtentCondition::Kind::kEqual;
  return StrCat(side(condition.a), is_equal ? " == " : " <= ", side(condition.b));
}

// The module of a graph whose parameters and initializers are among `values`.
ir::Module ImportGraph(const onnx::GraphProto& graph, GraphImporter::Meaning meaning,
                       const std::vector<Expr>& params, NamedValues values,
                       const ImportOptions& options) {
  double bytes = 0;
  for (const auto& [name, value] : values) {
    if (const auto* constant = value.As<ir::ConstantNode>())
      bytes += static_cast<double>(constant->data.bytes());
  }
  for (const onnx::ValueInfoProto& input : graph.input()) {
    const NarrowType* narrow = FindNarrowType(input.type().tensor_type().elem_type());
    if (narrow != nullptr) meaning.narrow.emplace(values[input.name()], narrow);
  }
  LoopFunctions loops;
  if (options.control_flow) meaning.loops = &loops;
  GraphImporter importer(std::move(meaning), options.evaluate,
                         {.folding = ops::FoldingBudget(bytes)});
  std::vector<Expr> outputs = importer.Import(graph, std::move(values));
  if (outputs.empty()) throw InvalidArgument("the graph has no outputs");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].checked_type().As<ir::TensorTypeNode>() == nullptr)
      throw Unimplemented(StrCat("the output ", graph.output(static_cast<int>(i)).name(), " is ",
                                 KindOf(outputs[i]), "; the results of a model must be tensors"));
  }
  const Expr result = outputs.size() == 1 ? outputs[0] : ir::Tuple::Make(std::move(outputs));
  ir::ModuleBuilder module;
  std::vector<std::string> limits;
  if (options.symbolic) limits = options.limits;
  for (const ExtentCondition& limit : importer.limits()) limits.push_back(TextOf(limit));
  ir::FunctionAttrs attrs;
  if (!limits.empty()) attrs[passes::kLimits] = attrs::Value(StrJoin(limits, ", "));
  const Expr main = ir::Function::Make(params, result, ir::Type(), std::move(attrs));
  (void)passes::DeclaredLimits(*main.As<ir::FunctionNode>());  // refuses what is none
  module.Set("main", main);
  for (const auto& [name, function] : loops.all()) module.Set(name, function);
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto& output : graph.output()) names.push_back(output.name());
  return ir::WithResultNames(passes::RemoveUnusedFunctions(module.Build()), names);
}

}  // namespace

OnnxModel OnnxModel::Make(std::string_view bytes, const std::string& source,
                          const std::shared_ptr<const MappedFile>& file,
                          const std::optional<std::string>& folder) {
  const auto state = std::make_shared<State>();
  state->source = source;
  onnx::ModelProto& model = state->proto;
  const std::optional<StrippedModel> stripped = StripRawData(bytes);
  if (bytes.empty() || bytes.size() > kMaxFileBytes || !stripped ||
      !model.ParseFromString(stripped->bytes))
    throw DataLoss(StrCat(source, " is not a complete ONNX model (", bytes.size(), " bytes)"));
  if (!model.has_graph()) throw DataLoss(StrCat(source, " holds no graph"));
  ExternalData files(folder);
  MakePlain(model.mutable_graph(), &files);
  for (onnx::FunctionProto& function : *model.mutable_functions()) MakePlain(&function, &files);
  if (model.ir_version() < kFirstWithInitializersAlone)
    DropInitializedInputs(model.mutable_graph());
  state->opset = OpsetOf(model.opset_import(), 0, source);
  state->functions = LocalFunctions(model, state->opset);
  state->missing = MissingOperators(model.graph(), state->functions, source);
  SortNodes(model.mutable_graph());
  for (int i = 0; i < model.graph().initializer_size(); ++i) {
    onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(i);
    const std::string what = StrCat("the initializer ", tensor.name());
    std::optional<RawData> raw;
    const auto at = static_cast<std::size_t>(i);
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
      raw = files.Of(tensor, what);
    } else if (at < stripped->raw.size() && stripped->raw[at]) {
      raw = {*stripped->raw[at], nullptr};
      if (file != nullptr) raw->forget = [&](std::string_view part) { file->Forget(part); };
    }
    const NDArray array = ToNDArray(tensor, what, raw);
    const Expr value = ir::Constant::Make(array);
    if (!state->initializers.emplace(tensor.name(), value).second)
      throw InvalidArgument(what + " is given twice");
    if (const NarrowType* narrow = FindNarrowType(tensor.data_type()))
      state->narrow.emplace(value, narrow);
    tensor.Clear();
  }
  std::set<std::string> names;
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    if (!names.insert(input.name()).second)
      throw InvalidArgument(StrCat("the input ", input.name(), " is declared twice"));
    // An initializer is the default of an input; older versions list all of them here.
    const bool has_default = state->initializers.contains(input.name());
    (has_default ? state->initialized_inputs : state->inputs).push_back(ToInputSpec(input));
  }
  return OnnxModel(state);
}

absl::StatusOr<OnnxModel> OnnxModel::Parse(std::string_view bytes, const std::string& source) {
  return CatchErrors([&] { return Make(bytes, source, nullptr, std::nullopt); });
}

absl::StatusOr<OnnxModel> OnnxModel::Load(const std::string& path) {
  return CatchErrors([&] {
    const std::shared_ptr<const MappedFile> file = MappedFile::Open(path);
    if (file->size() > kMaxFileBytes)
      throw Unimplemented(StrCat("the model ", path, " is larger than 2 GiB"));
    return Make(file->bytes(), path, file, std::filesystem::path(path).parent_path().string());
  });
}

const std::vector<ir::InputSpec>& OnnxModel::inputs() const { return state_->inputs; }
const std::vector<ir::InputSpec>& OnnxModel::initialized_inputs() const {
  return state_->initialized_inputs;
}

std::vector<std::string> OnnxModel::results() const {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto& output : state_->proto.graph().output())
    names.push_back(output.name());
  return names;
}

absl::StatusOr<ir::Module> OnnxModel::Import(const ImportOptions& options) const {
  return CatchErrors([&] {
    std::vector<ir::InputSpec> inputs = state_->inputs;
    std::ranges::copy_if(
        state_->initialized_inputs, std::back_inserter(inputs), [&](const ir::InputSpec& input) {
          return options.constants.contains(input.name) || options.shapes.contains(input.name) ||
                 options.extents.contains(input.name);
        });
    const std::optional<Error>& missing = state_->missing;
    const onnx::GraphProto& graph = state_->proto.graph();
    ModelInputs given;
    try {
      given = InputsOf(graph, inputs, options, state_->source);
    } catch (const Error&) {
      // What the model lacks matters more than what it is given.
      if (missing) throw Error(*missing);
      throw;
    }
    NamedValues values = state_->initializers;
    for (auto& [name, value] : given.values) values[name] = std::move(value);
    GraphImporter::Meaning meaning{.opset = state_->opset,
                                   .functions = &state_->functions,
                                   .narrow = state_->narrow,
                                   .missing = missing ? &*missing : nullptr};
    return ImportGraph(graph, std::move(meaning), given.params, std::move(values), options);
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

}  // namespace tenon::onnx_import
