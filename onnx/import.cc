#include "tenon/onnx/import.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "tenon/ir/module_builder.h"
#include "tenon/ir/parse_extents.h"
#include "tenon/ir/result_names.h"
#include "tenon/onnx/convert/graph_importer.h"
#include "tenon/onnx/convert/sequence.h"
#include "tenon/onnx/external_data.h"
#include "tenon/onnx/local_functions.h"
#include "tenon/onnx/model.h"
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

class Importer {
 public:
  Importer(const onnx::GraphProto& graph, GraphImporter::Meaning meaning, NamedValues values,
           const std::vector<ir::InputSpec>& inputs, const ImportOptions& options,
           const std::string& source)
      : graph_(graph),
        options_(options),
        source_(source),
        meaning_(std::move(meaning)),
        values_(std::move(values)) {
    AddInputs(inputs);
  }

  ir::Module Import() {
    double bytes = 0;
    for (const auto& [name, value] : values_) {
      if (const auto* constant = value.As<ir::ConstantNode>())
        bytes += static_cast<double>(constant->data.bytes());
    }
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      const NarrowType* narrow = FindNarrowType(input.type().tensor_type().elem_type());
      if (narrow != nullptr) meaning_.narrow.emplace(values_[input.name()], narrow);
    }
    LoopFunctions loops;
    if (options_.control_flow) meaning_.loops = &loops;
    GraphImporter importer(std::move(meaning_), options_.evaluate,
                           {.folding = ops::FoldingBudget(bytes)});
    std::vector<Expr> outputs = importer.Import(graph_, std::move(values_));
    if (outputs.empty()) throw InvalidArgument("the graph has no outputs");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].checked_type().As<ir::TensorTypeNode>() == nullptr)
        throw Unimplemented(StrCat("the output ", graph_.output(static_cast<int>(i)).name(), " is ",
                                   KindOf(outputs[i]), "; the results of a model must be tensors"));
    }
    const Expr result = outputs.size() == 1 ? outputs[0] : ir::Tuple::Make(std::move(outputs));
    ir::ModuleBuilder module;
    std::vector<std::string> limits;
    if (options_.symbolic) limits = options_.limits;
    for (const ExtentCondition& limit : importer.limits()) limits.push_back(TextOf(limit));
    ir::FunctionAttrs attrs;
    if (!limits.empty()) attrs[passes::kLimits] = attrs::Value(StrJoin(limits, ", "));
    const Expr main = ir::Function::Make(params_, result, ir::Type(), std::move(attrs));
    (void)passes::DeclaredLimits(*main.As<ir::FunctionNode>());  // refuses what is none
    module.Set("main", main);
    for (const auto& [name, function] : loops.all()) module.Set(name, function);
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto& output : graph_.output()) names.push_back(output.name());
    return ir::WithResultNames(passes::RemoveUnusedFunctions(module.Build()), names);
  }

 private:
  void AddInputs(const std::vector<ir::InputSpec>& inputs) {
    std::set<std::string> names;
    for (const ir::InputSpec& input : inputs) {
      names.insert(input.name);
      if (!input.extents) continue;
      for (const ir::Dim& dim : *input.extents) dim.AddSymbols(&symbols_);
      const auto given = options_.extents.find(input.name);
      if (given != options_.extents.end())
        for (const ir::Dim& dim : given->second) dim.AddSymbols(&symbols_);
      if (options_.shapes.contains(input.name) || options_.constants.contains(input.name)) continue;
      for (const ir::Dim& dim : given != options_.extents.end() ? given->second : *input.extents) {
        if (const auto name = dim.symbol()) alone_.insert(*name);
      }
    }
    const auto require_input = [&](const char* what, const std::string& name) {
      if (!names.contains(name))
        throw InvalidArgument(StrCat(what, " is given for ", name,
                                     ", which is not an input; inputs are ", StrJoin(names, ", ")));
    };
    for (const auto& [name, shape] : options_.shapes) require_input("a shape", name);
    for (const auto& [name, extents] : options_.extents) require_input("a shape", name);
    for (const auto& [name, value] : options_.constants) require_input("a constant", name);
    for (const ir::InputSpec& input : inputs) {
      if (const auto fixed = options_.constants.find(input.name);
          fixed != options_.constants.end()) {
        CheckFits(input, fixed->second);
        values_[input.name] = ir::Constant::Make(fixed->second);
        continue;
      }
      if (options_.symbolic && !options_.shapes.contains(input.name) && input.extents &&
          !input.Fixed()) {
        AddParameter(input.name, ir::TensorType(SymbolsOf(input), input.dtype));
        continue;
      }
      const Shape shape = ShapeOfInput(input);
      try {
        NumBytes(shape, input.dtype);
      } catch (const Error& error) {
        throw InvalidArgument(StrCat("the input ", input.name, ": ", error.message()));
      }
      AddParameter(input.name, ir::TensorTypeOf(shape, input.dtype));
    }
    for (const auto& [name, meaning] : options_.dims) {
      if (!named_.contains(name))
        throw InvalidArgument(StrCat("an extent is given for ", name,
                                     ", which no input has; variables are ",
                                     StrJoin(named_, ", ")));
    }
  }

  void AddParameter(const std::string& name, const ir::Type& type) {
    const Expr var = ir::Var::MakeChecked(name, type, {source_});
    params_.push_back(var);
    values_[name] = var;
  }

  // Exporters name an extent by what it is: "past_length + length". Where inputs have these names
  // as extents alone, it is that expression and no variable.
  ir::Dim Meant(const ir::Dim& dim) const {
    const std::optional<std::string> name = dim.symbol();
    if (!name) return dim;
    bool is_known = true;
    const auto meaning = [&](const std::string& part) {
      const ir::Dim symbol = ir::Dim::Symbol(part);
      is_known = is_known && part != *name && alone_.contains(part);
      return is_known ? Meant(symbol) : symbol;
    };
    try {
      const std::vector<ir::Dim> extents = ir::ParseExtents(StrCat("(", *name, ")"), meaning);
      if (is_known && extents.size() == 1 && extents[0].is_symbolic()) return extents[0];
    } catch (const Error& error) {
      if (error.code() == absl::StatusCode::kInternal) throw;
    }
    return dim;
  }

  // An extent without a name is a variable of its own: none of an input's name has its name.
  std::vector<ir::Dim> SymbolsOf(const ir::InputSpec& input) {
    const auto given = options_.extents.find(input.name);
    std::vector<ir::Dim> dims = given == options_.extents.end() ? *input.extents : given->second;
    if (given == options_.extents.end())
      std::ranges::transform(dims, dims.begin(), [&](const ir::Dim& dim) { return Meant(dim); });
    if (dims.size() != input.extents->size()) RefuseShape(input, ir::ToText(dims));
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const ir::Dim& own = (*input.extents)[i];
      if (own.is_static() && dims[i] != own) RefuseShape(input, ir::ToText(dims));
    }
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (!dims[i].is_any()) continue;
      std::string name = StrCat(input.name, "_", i);
      while (!symbols_.insert(name).second) name += '_';
      dims[i] = ir::Dim::Symbol(name);
    }
    for (ir::Dim& dim : dims) {
      dim.AddSymbols(&named_);
      dim = dim.Substitute(options_.dims);
    }
    return dims;
  }

  [[noreturn]] static void RefuseShape(const ir::InputSpec& input, const std::string& shape) {
    throw InvalidArgument(StrCat("the shape ", shape, " given for ", input.name,
                                 " does not fit the model's ", input.ExtentsToString()));
  }

  void CheckFits(const ir::InputSpec& input, const NDArray& value) const {
    if (options_.shapes.contains(input.name))
      throw InvalidArgument(
          StrCat("the input ", input.name, " is given as a constant, which has its own shape"));
    if (value.dtype() != input.dtype || !input.Fits(value.shape()))
      throw InvalidArgument(StrCat("the constant ", value.dtype().ToString(), " ",
                                   ShapeToString(value.shape()), " given for ", input.name,
                                   " does not fit the model's ", input.dtype.ToString(), " ",
                                   input.ExtentsToString()));
  }

  // Some exporters declare an extent of 0 where any is meant, so it is taken for one that is open.
  std::string MeaningOfZero(const ir::InputSpec& input) const {
    for (const onnx::ValueInfoProto& declared : graph_.input()) {
      if (declared.name() != input.name) continue;
      for (const auto& dim : declared.type().tensor_type().shape().dim())
        if (dim.has_dim_value() && dim.dim_value() == 0)
          return "; the model declares an extent of 0, which stands for any, and may be given as 0";
    }
    return "";
  }

  Shape ShapeOfInput(const ir::InputSpec& input) const {
    const auto given = options_.shapes.find(input.name);
    if (given == options_.shapes.end()) {
      if (const std::optional<Shape> fixed = input.Fixed()) return *fixed;
      const std::vector<ir::Dim> extents = input.extents.value_or(std::vector<ir::Dim>{1});
      throw InvalidArgument(StrCat("the input ", input.name, " has the shape ",
                                   input.ExtentsToString(), MeaningOfZero(input),
                                   "; give its extents, for instance --shape ", input.name, "=",
                                   StrJoin(extents, ",", [](std::string* out, const ir::Dim& e) {
                                     StrAppend(out, e.is_static() ? e.value() : 1);
                                   })));
    }
    if (!input.Fits(given->second)) RefuseShape(input, ShapeToString(given->second));
    return given->second;
  }

  const onnx::GraphProto& graph_;
  const ImportOptions& options_;
  const std::string& source_;
  GraphImporter::Meaning meaning_;
  NamedValues values_;
  std::vector<Expr> params_;
  std::set<std::string> symbols_;  // names of extents
  std::set<std::string> alone_;    // those that are extents of inputs alone
  std::set<std::string> named_;    // those of extents that stay open
};

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
    const Error* const said = missing ? &*missing : nullptr;
    std::optional<Importer> importer;
    try {
      importer.emplace(state_->proto.graph(),
                       GraphImporter::Meaning{.opset = state_->opset,
                                              .functions = &state_->functions,
                                              .narrow = state_->narrow,
                                              .missing = said},
                       state_->initializers, inputs, options, state_->source);
    } catch (const Error&) {
      // What the model lacks matters more than what it is given.
      if (missing) throw Error(*missing);
      throw;
    }
    return importer->Import();
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
