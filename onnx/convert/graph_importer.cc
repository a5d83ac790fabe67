#include "tenon/onnx/convert/graph_importer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tenon/ir/flatten.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/moved_elements.h"
#include "tenon/onnx/opset.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/registry.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// A loop of a few bytes could ask for any number of nodes.
constexpr std::size_t kMaxNodes = 200000;
// Functions inside functions take stack, and copies of their bodies memory.
constexpr std::size_t kMaxCalls = 200;
constexpr std::size_t kMaxCopiedBytes = std::size_t{1} << 28;

std::string TypedNameOf(const onnx::NodeProto& node) {
  return StrCat("the node ", NameOf(node), " (", node.op_type(), ")");
}

// What makes the outputs of a node; nothing when the node cannot be imported. The bare name of a
// registered operator comes last, because functions of a model often have common names.
struct Handler {
  const Converter* converter = nullptr;
  const LocalFunction* function = nullptr;
  Expr op;
  bool exists() const { return converter != nullptr || function != nullptr || op; }
};

Handler HandlerOf(const onnx::NodeProto& node, const LocalFunctions* functions) {
  Handler handler{.converter = FindConverter(node.domain(), node.op_type())};
  if (handler.converter != nullptr) return handler;
  const ops::OpRegistry& registry = ops::OpRegistry::Global();
  const bool is_standard = IsDefaultDomain(node.domain());
  if (!is_standard) handler.op = registry.Find(StrCat(node.domain(), ".", node.op_type()));
  if (handler.op) return handler;
  if (functions != nullptr) handler.function = functions->Find(node);
  if (handler.function == nullptr && !is_standard) handler.op = registry.Find(node.op_type());
  return handler;
}

std::vector<Expr> ConvertCustom(const Expr& op, Node& node) {
  const auto* schema = op.As<ir::OpNode>()->attrs_schema();
  const attrs::FieldValues fields = node.AllAttributes();
  attrs::Attrs attrs;
  if (schema != nullptr) attrs = attrs::Attrs::FromFields(*schema, fields);
  const Expr call = node.Typed(ir::Call::Make(op, node.all_inputs(), std::move(attrs)));
  if (node.num_outputs() == 1) return {call};
  std::vector<Expr> outputs;
  for (int i = 0; i < node.num_outputs(); ++i)
    outputs.push_back(node.Typed(ir::TupleGetItem::Make(call, i)));
  return outputs;
}

// Runs `end` when it goes, also by an exception: a loop that cannot become a function is unrolled.
template <typename End>
class AtEnd {
 public:
  explicit AtEnd(End end) : end_(std::move(end)) {}
  ~AtEnd() { end_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  const End end_;
};

using MissingNodes = std::map<std::string, std::vector<std::string>>;

// Functions may call one another in chains of any length, so their bodies wait in a list.
struct MissingSearch {
  const LocalFunctions& functions;
  MissingNodes missing;
  std::vector<const LocalFunction*> called;
  std::set<const LocalFunction*> visited;

  void Collect(const onnx::GraphProto& graph) {
    for (const onnx::NodeProto& node : graph.node()) {
      for (const onnx::AttributeProto& attribute : node.attribute())
        if (attribute.has_g()) Collect(attribute.g());
      const Handler handler = HandlerOf(node, &functions);
      if (handler.function != nullptr && visited.insert(handler.function).second)
        called.push_back(handler.function);
      if (handler.exists()) continue;
      const std::string type = IsDefaultDomain(node.domain())
                                   ? node.op_type()
                                   : StrCat(node.domain(), ".", node.op_type());
      missing[type].push_back(NameOf(node));
    }
  }
};

}  // namespace

std::optional<Error> MissingOperators(const onnx::GraphProto& graph,
                                      const LocalFunctions& functions, const std::string& source) {
  MissingSearch search{functions, {}, {}, {}};
  search.Collect(graph);
  while (!search.called.empty()) {
    const LocalFunction* function = search.called.back();
    search.called.pop_back();
    search.Collect(function->body);
  }
  const MissingNodes& missing = search.missing;
  if (missing.empty()) return std::nullopt;
  std::string list;
  bool is_of_others = false;
  for (const auto& [type, nodes] : missing) {
    const bool is_ours = type.find('.') == std::string::npos;
    is_of_others = is_of_others || !is_ours;
    StrAppend(&list, "\n  ", type, " (", StrJoin(nodes, ", "), ")",
              is_ours ? "" : DidYouMean("; ", type, ops::OpRegistry::Global().Names()));
  }
  if (is_of_others)
    StrAppend(&list, "\noperators of other domains are registered by plug-ins, under DOMAIN.TYPE");
  return Unimplemented(StrCat(source, " uses ", missing.size(),
                              missing.size() == 1 ? " operator" : " operators",
                              " that cannot be imported:", list));
}

const Expr* GraphImporter::Find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->values.find(name); found != scope->values.end())
      return &found->second;
    if (scope->refusals.IsMissing(name)) throw AfterRefusal{};
  }
  return nullptr;
}

std::vector<Expr> GraphImporter::Import(const onnx::GraphProto& graph, NamedValues values) {
  for (const auto& [name, value] : values) {
    if (value) extents_.Add(value);
  }
  const bool is_model = scopes_.empty() && calls_.empty();
  scopes_.push_back({std::move(values)});
  const AtEnd leave([this] { scopes_.pop_back(); });
  if (is_model && meaning_.missing != nullptr) scopes_.back().refusals.Add(*meaning_.missing);
  return ImportFrom(graph, 0);
}

std::vector<Expr> GraphImporter::ImportFrom(const onnx::GraphProto& graph, int first) {
  for (int i = first; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    const std::optional<ExtentTest> test = OpenTest(node);
    if (!test) {
      ConvertOrGoOn(node, graph);
      continue;
    }
    Refusals refusals;
    if (Converts(node, &refusals)) continue;
    if (auto outputs = WithEachOutcome(graph, i, *test)) return *std::move(outputs);
    // Converted again, Ifs inside each other would take twice as long with each level.
    scopes_.back().refusals.Try([&] { refusals.ThrowIfAny("the graph"); });
    GoOnAfter(node, graph);
  }
  const Refusals& refusals = scopes_.back().refusals;
  const bool is_model = scopes_.size() == 1 && calls_.empty();
  if (!refusals.empty()) refusals.ThrowIfAny(is_model ? "the model" : "the graph");
  std::vector<Expr> outputs;
  for (const onnx::ValueInfoProto& output : graph.output()) {
    const Expr* found = Find(output.name());
    if (found == nullptr || !*found)
      throw InvalidArgument(StrCat("the output ", output.name(), " is made by no node"));
    outputs.push_back(*found);
  }
  return outputs;
}

const NamedValues& GraphImporter::InitializersOf(const onnx::GraphProto& graph) {
  const auto [found, is_new] = initializers_.try_emplace(&graph);
  if (!is_new) return found->second;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    const Expr value =
        ir::Constant::Make(ToNDArray(tensor, StrCat("the initializer ", tensor.name())));
    found->second[tensor.name()] = value;
    if (const NarrowType* narrow = FindNarrowType(tensor.data_type()))
      meaning_.narrow.emplace(value, narrow);
  }
  return found->second;
}

std::vector<Expr> GraphImporter::Inline(const onnx::GraphProto& graph,
                                        const std::vector<Expr>& inputs) {
  if (static_cast<std::size_t>(graph.input_size()) != inputs.size())
    throw InvalidArgument(StrCat("the graph inside takes ", graph.input_size(),
                                 " inputs; it is given ", inputs.size()));
  NamedValues values = InitializersOf(graph);
  CountOne();  // a graph without nodes takes time, too
  for (int i = 0; i < graph.input_size(); ++i)
    values[graph.input(i).name()] = inputs[static_cast<std::size_t>(i)];
  return Import(graph, std::move(values));
}

const onnx::GraphProto* GraphImporter::BodyOf(const LocalFunction& function,
                                              const onnx::NodeProto& call) {
  function.RequireAttributesOf(call);
  if (!function.has_references) return &function.body;
  copied_bytes_ += function.body.ByteSizeLong();
  if (copied_bytes_ > kMaxCopiedBytes)
    throw Unimplemented(StrCat("calls with different attributes copy more than ", kMaxCopiedBytes,
                               " bytes of functions"));
  return &bodies_.emplace_back(function.BodyFor(call));
}

std::vector<Expr> GraphImporter::Expand(const LocalFunction& function, const onnx::NodeProto& call,
                                        std::vector<Expr> inputs) {
  if (std::find(calls_.begin(), calls_.end(), &function) != calls_.end())
    throw InvalidArgument(StrCat("the function ", function.name, " calls itself"));
  if (calls_.size() >= kMaxCalls)
    throw Unimplemented(StrCat("functions call one another in more than ", kMaxCalls, " levels"));
  const auto declared = static_cast<std::size_t>(function.body.input_size());
  if (inputs.size() > declared || call.output_size() > function.body.output_size())
    throw InvalidArgument(StrCat("the function ", function.name, " has ", declared, " inputs and ",
                                 function.body.output_size(), " outputs; the node has ",
                                 inputs.size(), " and ", call.output_size()));
  std::string attributes;
  for (const onnx::AttributeProto& attribute : call.attribute())
    attribute.AppendToString(&attributes);
  const onnx::GraphProto*& body = body_of_[{&function, std::move(attributes)}];
  if (body == nullptr) body = BodyOf(function, call);
  NamedValues values;
  inputs.resize(declared);  // those that are left out are null
  for (std::size_t i = 0; i < declared; ++i)
    values[body->input(static_cast<int>(i)).name()] = inputs[i];
  std::deque<Scope> caller_scopes;
  caller_scopes.swap(scopes_);
  const int caller_opset = std::exchange(meaning_.opset, function.opset);
  calls_.push_back(&function);
  const AtEnd leave([&] {
    calls_.pop_back();
    meaning_.opset = caller_opset;
    scopes_.swap(caller_scopes);
  });
  const onnx::GraphProto& made = *body;
  return Import(made, std::move(values));
}

std::vector<Expr> GraphImporter::OutputsOf(const onnx::NodeProto& proto,
                                           const std::vector<Expr>& inputs) {
  const Handler handler = HandlerOf(proto, meaning_.functions);
  if (!handler.exists()) {
    CheckInvariant(meaning_.missing != nullptr, "operators that are not known are found first");
    throw AfterRefusal{};
  }
  if (handler.function != nullptr) return Expand(*handler.function, proto, inputs);
  std::optional<std::unordered_set<Expr, ir::ExprHash>> around;
  Node node = NodeOf(proto, inputs, &around);
  const std::vector<Expr> outputs =
      handler.converter != nullptr ? (*handler.converter)(node) : ConvertCustom(handler.op, node);
  node.RequireAllHandled();
  KeepNarrowTypes(node, outputs);
  return outputs;
}

Node GraphImporter::NodeOf(const onnx::NodeProto& proto, const std::vector<Expr>& inputs,
                           std::optional<std::unordered_set<Expr, ir::ExprHash>>* around) {
  return Node(
      proto, meaning_.opset, inputs, evaluate_, &budget_,
      {.inline_graph = [this](const onnx::GraphProto& graph,
                              const std::vector<Expr>& values) { return Inline(graph, values); },
       .narrow = &meaning_.narrow,
       .loops = meaning_.loops,
       .is_around =
           [this, around](const Expr& value) {
             if (!*around) *around = NamedExprs();
             return (*around)->contains(value);
           },
       .extents = &extents_});
}

std::unordered_set<Expr, ir::ExprHash> GraphImporter::NamedExprs() const {
  std::unordered_set<Expr, ir::ExprHash> named;
  for (const Scope& scope : scopes_) {
    for (const auto& [name, value] : scope.values) {
      if (!value) continue;
      named.insert(value);
      if (const auto* sequence = value.As<ir::TupleNode>())
        named.insert(sequence->fields.begin(), sequence->fields.end());
    }
  }
  return named;
}

void GraphImporter::CountOne() {
  if (++converted_ > kMaxNodes)
    throw Unimplemented(
        StrCat("the loops and functions of the model run more than ", kMaxNodes, " nodes"));
}

void GraphImporter::AddExtents(const onnx::NodeProto& proto, const std::vector<Expr>& outputs) {
  for (const Expr& output : outputs) {
    if (!output) continue;
    extents_.AddExpressions(output);
    for (const std::string& symbol : ir::SymbolsOf(output.checked_type())) {
      if (symbol.starts_with('#')) origins_.emplace(symbol, TypedNameOf(proto));
    }
  }
}

std::string GraphImporter::OriginsOf(const std::vector<Expr>& values) const {
  std::set<std::string> symbols;
  for (const Expr& value : values) {
    if (value) symbols.merge(ir::SymbolsOf(value.checked_type()));
  }
  std::vector<std::string> said;
  for (const auto& [symbol, node] : origins_) {
    if (symbols.contains(symbol)) said.push_back(StrCat(symbol, ", which ", node, " finds"));
  }
  return said.empty() ? ""
                      : StrCat("values decide extents of the inputs: ", StrJoin(said, ", "),
                               "; the model can be ended before this node");
}

void GraphImporter::ConvertOrGoOn(const onnx::NodeProto& proto, const onnx::GraphProto& graph) {
  const std::size_t depth = scopes_.size();
  if (scopes_.back().refusals.Try([&] { Convert(proto); })) return;
  CheckInvariant(scopes_.size() == depth, "a refused node leaves no graph");
  GoOnAfter(proto, graph);
}

bool GraphImporter::IsSpent() const { return converted_ > kMaxNodes || budget_.expressions < 0; }

void GraphImporter::GoOnAfter(const onnx::NodeProto& proto, const onnx::GraphProto& graph) {
  Scope& scope = scopes_.back();
  // All nodes after this one would be refused for it, too.
  if (IsSpent()) scope.refusals.ThrowIfAny("the graph");
  if (!scope.stand_ins) scope.stand_ins.emplace(graph, scope.values);
  for (const std::string& name : proto.output()) {
    if (name.empty() || scope.values.contains(name)) continue;
    if (const Expr value = scope.stand_ins->Of(name)) {
      extents_.Add(value);
      scope.values.emplace(name, value);
    } else {
      scope.refusals.AddMissing(name);
    }
  }
}

void GraphImporter::Convert(const onnx::NodeProto& proto) {
  const std::string what = StrCat("in ", TypedNameOf(proto));
  std::vector<Expr> inputs;
  try {
    for (const std::string& name : proto.input()) {
      if (name.empty()) {
        inputs.emplace_back();
        continue;
      }
      const Expr* found = Find(name);
      if (found == nullptr)
        throw InvalidArgument(
            StrCat("the input ", name, " is made by no node, or by one that needs this one"));
      inputs.push_back(*found);
    }
    CountOne();
    Decide(proto, &inputs);
    const std::vector<Expr> outputs = OutputsOf(proto, inputs);
    AddExtents(proto, outputs);
    for (int i = 0; i < proto.output_size(); ++i) {
      if (proto.output(i).empty()) continue;
      if (static_cast<std::size_t>(i) >= outputs.size())
        throw Unimplemented(StrCat("output ", i, " is not supported"));
      if (!scopes_.back()
               .values.emplace(proto.output(i), outputs[static_cast<std::size_t>(i)])
               .second)
        throw InvalidArgument(StrCat("the value ", proto.output(i), " is made twice"));
    }
  } catch (const Error& error) {
    std::vector<std::string> notes;
    if (std::string origins = OriginsOf(inputs); !origins.empty())
      notes.push_back(std::move(origins));
    ThrowWithPlace(error, what, notes);
  }
}

}  // namespace tenon::onnx_import
