#include "tenon/onnx/convert/graph_importer.h"

#include <map>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/registry.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// A loop of a few bytes could ask for any number of nodes.
constexpr std::size_t kMaxNodes = 200000;

constexpr const char* kCutThere =
    "such a value can only be a result of the model, as it is or transposed; end the model there, "
    "and compute the rest separately";

std::string TypedNameOf(const onnx::NodeProto& node) {
  return StrCat("the node ", NameOf(node), " (", node.op_type(), ")");
}

// The registered operator that a node of another domain names.
Expr CustomOp(const onnx::NodeProto& node) {
  if (IsDefaultDomain(node.domain())) return Expr();
  const ops::OpRegistry& registry = ops::OpRegistry::Global();
  if (const Expr op = registry.Find(StrCat(node.domain(), ".", node.op_type()))) return op;
  return registry.Find(node.op_type());
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

using MissingNodes = std::map<std::string, std::vector<std::string>>;

void CollectMissing(const onnx::GraphProto& graph, MissingNodes* missing) {
  for (const onnx::NodeProto& node : graph.node()) {
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) CollectMissing(attribute.g(), missing);
    if (FindConverter(node.domain(), node.op_type()) != nullptr || CustomOp(node)) continue;
    const std::string type = IsDefaultDomain(node.domain())
                                 ? node.op_type()
                                 : StrCat(node.domain(), ".", node.op_type());
    (*missing)[type].push_back(NameOf(node));
  }
}

}  // namespace

bool IsDefaultDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

void ReportMissing(const onnx::GraphProto& graph, const std::string& source) {
  MissingNodes missing;
  CollectMissing(graph, &missing);
  if (missing.empty()) return;
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
  throw Unimplemented(StrCat(source, " uses ", missing.size(),
                             missing.size() == 1 ? " operator" : " operators",
                             " that cannot be imported:", list));
}

const Expr* GraphImporter::Find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  }
  return nullptr;
}

std::vector<Expr> GraphImporter::Import(const onnx::GraphProto& graph, NamedValues values) {
  scopes_.push_back(std::move(values));
  for (const onnx::NodeProto& node : graph.node()) Convert(node);
  std::vector<Expr> outputs;
  for (const onnx::ValueInfoProto& output : graph.output()) {
    const Expr* found = Find(output.name());
    if (found == nullptr || !*found)
      throw InvalidArgument(StrCat("the output ", output.name(), " is made by no node"));
    outputs.push_back(*found);
  }
  scopes_.pop_back();
  return outputs;
}

const NamedValues& GraphImporter::InitializersOf(const onnx::GraphProto& graph) {
  const auto [found, is_new] = initializers_.try_emplace(&graph);
  if (!is_new) return found->second;
  for (const onnx::TensorProto& tensor : graph.initializer())
    found->second[tensor.name()] =
        ir::Constant::Make(ToNDArray(tensor, StrCat("the initializer ", tensor.name())));
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

void GraphImporter::CountOne() {
  if (++converted_ > kMaxNodes)
    throw Unimplemented(StrCat("the loops of the model run more than ", kMaxNodes, " nodes"));
}

std::string GraphImporter::OriginOf(const std::vector<Expr>& values) const {
  for (const Expr& value : values) {
    if (!value) continue;
    if (const auto found = run_time_.find(value); found != run_time_.end()) return found->second;
  }
  return "";
}

void GraphImporter::CheckRunTimeExtents(const onnx::NodeProto& proto,
                                        const std::vector<Expr>& inputs,
                                        const std::vector<Expr>& outputs) {
  const std::string origin = OriginOf(inputs);
  for (const Expr& output : outputs) {
    if (AsRunTimeCut(output) != nullptr) {
      run_time_.emplace(output, origin.empty() ? TypedNameOf(proto) : origin);
    } else if (!origin.empty()) {
      throw Unimplemented(StrCat("an input has extents that are known at run time only: ", origin,
                                 " finds them; ", kCutThere));
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
    Node node(proto, opset_, inputs, evaluate_, &budget_,
              [this](const onnx::GraphProto& graph, const std::vector<Expr>& values) {
                return Inline(graph, values);
              });
    const Converter* converter = FindConverter(proto.domain(), proto.op_type());
    const std::vector<Expr> outputs =
        converter != nullptr ? (*converter)(node) : ConvertCustom(CustomOp(proto), node);
    node.RequireAllHandled();
    CheckRunTimeExtents(proto, inputs, outputs);
    for (int i = 0; i < proto.output_size(); ++i) {
      if (proto.output(i).empty()) continue;
      if (static_cast<std::size_t>(i) >= outputs.size())
        throw Unimplemented(StrCat("output ", i, " is not supported"));
      if (!scopes_.back().emplace(proto.output(i), outputs[static_cast<std::size_t>(i)]).second)
        throw InvalidArgument(StrCat("the value ", proto.output(i), " is made twice"));
    }
  } catch (const Error& error) {
    Error named(error.code(), StrCat(what, ": ", error.message()));
    for (const std::string& note : error.notes()) named.AddNote(note);
    if (const std::string origin = OriginOf(inputs); !origin.empty() && error.notes().empty())
      named.AddNote(StrCat("the extents of an input are known at run time only: ", origin,
                           " finds them; ", kCutThere));
    throw named;
  }
}

}  // namespace tenon::onnx_import
