#include "tenon/onnx/model_inputs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "tenon/ir/parse_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Reads inputs one by one; the names of all are known before.
class InputReader {
 public:
  InputReader(const onnx::GraphProto& graph, const ImportOptions& options,
              const std::string& source)
      : graph_(graph), options_(options), source_(source) {}

  ModelInputs Read(const std::vector<ir::InputSpec>& inputs) {
    for (const ir::InputSpec& input : inputs) AddSymbols(input);
    RequireInputs(inputs);
    for (const ir::InputSpec& input : inputs) AddInput(input);
    for (const auto& [name, meaning] : options_.dims) {
      if (!named_.contains(name))
        throw InvalidArgument(StrCat("an extent is given for ", name,
                                     ", which no input has; variables are ",
                                     StrJoin(named_, ", ")));
    }
    return std::move(made_);
  }

 private:
  void AddSymbols(const ir::InputSpec& input) {
    if (!input.extents) return;
    for (const ir::Dim& dim : *input.extents) dim.AddSymbols(&symbols_);
    const auto given = options_.extents.find(input.name);
    if (given != options_.extents.end())
      for (const ir::Dim& dim : given->second) dim.AddSymbols(&symbols_);
    if (options_.shapes.contains(input.name) || options_.constants.contains(input.name)) return;
    for (const ir::Dim& dim : given != options_.extents.end() ? given->second : *input.extents) {
      if (const auto name = dim.symbol()) alone_.insert(*name);
    }
  }

  // That the options name no others.
  void RequireInputs(const std::vector<ir::InputSpec>& inputs) const {
    std::set<std::string> names;
    for (const ir::InputSpec& input : inputs) names.insert(input.name);
    const auto require_input = [&](const char* what, const std::string& name) {
      if (!names.contains(name))
        throw InvalidArgument(StrCat(what, " is given for ", name,
                                     ", which is not an input; inputs are ", StrJoin(names, ", ")));
    };
    for (const auto& [name, shape] : options_.shapes) require_input("a shape", name);
    for (const auto& [name, extents] : options_.extents) require_input("a shape", name);
    for (const auto& [name, value] : options_.constants) require_input("a constant", name);
  }

  void AddInput(const ir::InputSpec& input) {
    if (const auto fixed = options_.constants.find(input.name); fixed != options_.constants.end()) {
      CheckFits(input, fixed->second);
      made_.values[input.name] = ir::Constant::Make(fixed->second);
      return;
    }
    if (options_.symbolic && !options_.shapes.contains(input.name) && input.extents &&
        !input.Fixed()) {
      AddParameter(input.name, ir::TensorType(SymbolsOf(input), input.dtype));
      return;
    }
    const Shape shape = ShapeOfInput(input);
    try {
      NumBytes(shape, input.dtype);
    } catch (const Error& error) {
      throw InvalidArgument(StrCat("the input ", input.name, ": ", error.message()));
    }
    AddParameter(input.name, ir::TensorTypeOf(shape, input.dtype));
  }

  void AddParameter(const std::string& name, const ir::Type& type) {
    const Expr var = ir::Var::MakeChecked(name, type, {source_});
    made_.params.push_back(var);
    made_.values[name] = var;
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
  ModelInputs made_;
  std::set<std::string> symbols_;  // names of extents
  std::set<std::string> alone_;    // those that are extents of inputs alone
  std::set<std::string> named_;    // those of extents that stay open
};

}  // namespace

ModelInputs InputsOf(const onnx::GraphProto& graph, const std::vector<ir::InputSpec>& inputs,
                     const ImportOptions& options, const std::string& source) {
  return InputReader(graph, options, source).Read(inputs);
}

}  // namespace tenon::onnx_import
