// The graph is walked once, children first. Each expression is known by the names of its values.
#include "tenon/onnx/export.h"

#include <algorithm>
#include <map>
#include <set>

#include "tenon/ir/result_names.h"
#include "tenon/ir/visit.h"
#include "tenon/onnx/tensor.h"
#include "tenon/onnx/user_conversions.h"
#include "tenon/onnx/write/exporters.h"
#include "tenon/onnx/write/node_types.h"
#include "tenon/ops/registry.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_export {
namespace {

using ir::Expr;

constexpr int kOpset = 17;
// The version of the file format that came with the opset.
constexpr int kIrVersion = 8;
// The size limit of protobuf.
constexpr std::size_t kMaxFileBytes = (std::size_t{1} << 31) - 1;

const ExporterTable& Exporters() {
  static const auto& table = *[] {
    auto* made = new ExporterTable;
    AddConvExporters(made);
    AddElementwiseExporters(made);
    AddImageExporters(made);
    AddNnExporters(made);
    AddQuantizeExporters(made);
    AddRecurrentExporters(made);
    AddReduceExporters(made);
    AddShapeExporters(made);
    return made;
  }();
  return table;
}

DataType TensorDataType(const Expr& e) {
  const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
  CheckInvariant(tensor != nullptr, "an argument that is asked for its element type is a tensor");
  return tensor->dtype;
}

// Throws Unimplemented, listing the operators without a counterpart.
void ReportMissing(const Expr& body) {
  std::map<std::string, int> missing;
  ir::VisitPostOrder(body, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr && !Exporters().contains(call->callee) &&
        FindUserExporter(call->op()->name) == nullptr)
      ++missing[call->op()->name];
  });
  if (missing.empty()) return;
  throw Unimplemented(StrCat(
      missing.size(), missing.size() == 1 ? " operator" : " operators",
      " cannot be written as ONNX: ", StrJoin(missing, ", ", [](std::string* text, const auto& op) {
        StrAppend(text, op.first, " (", op.second, op.second == 1 ? " call)" : " calls)");
      })));
}

class Writer {
 public:
  Writer(const ir::FunctionNode& main, onnx::GraphProto* graph)
      : main_(main), graph_(graph), readers_(ir::CountReaders(main.body)) {}

  void Write(const std::vector<std::string>& result_names) {
    for (const Expr& param : main_.params)
      values_[param] = {graph_.AddInput(ir::Var(param).name(), param.checked_type())};
    // A value inside that has the name of a result would leave it to another one.
    graph_.Reserve(result_names);
    ir::VisitPostOrder(main_.body, [&](const Expr& e) {
      if (e.kind() != ir::ExprKind::kOp && !values_.contains(e)) values_[e] = NamesOf(e);
    });
    const Names& results = values_.at(main_.body);
    std::set<std::string> written;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const ir::Type& type = main_.body.checked_type();
      const auto* tuple = type.As<ir::TupleTypeNode>();
      RequireThere(results[i], main_.body, i);
      // An output must not be an input, a constant or another output.
      const std::string name = written.insert(results[i]).second && graph_.IsMade(results[i])
                                   ? results[i]
                                   : graph_.AddNode("Identity", {results[i]});
      graph_.AddOutput(name, tuple == nullptr ? type : tuple->fields[i]);
    }
    graph_.NameOutputs(result_names);
  }

  // Those of users that nodes are of.
  const std::set<std::string>& domains() const { return graph_.domains(); }

 private:
  Names NamesOf(const Expr& e) {
    switch (e.kind()) {
      case ir::ExprKind::kConstant:
        return {graph_.AddConstant(e.As<ir::ConstantNode>()->data)};
      case ir::ExprKind::kTuple: {
        Names names;
        for (const Expr& field : e.As<ir::TupleNode>()->fields) names.push_back(OneName(field));
        return names;
      }
      case ir::ExprKind::kTupleGetItem: {
        const auto* item = e.As<ir::TupleGetItemNode>();
        const auto index = static_cast<std::size_t>(item->index);
        const std::string& name = values_.at(item->tuple).at(index);
        RequireThere(name, item->tuple, index);
        return {name};
      }
      case ir::ExprKind::kCall:
        return WriteCall(e);
      case ir::ExprKind::kVar:
      case ir::ExprKind::kGlobalVar:
      case ir::ExprKind::kOp:
      case ir::ExprKind::kLet:
      case ir::ExprKind::kFunction:
      case ir::ExprKind::kIf:
        break;
    }
    throw InvalidArgument(
        "only calls of operators can be written as ONNX, not let, if or calls of functions")
        .At(e.span());
  }

  Names WriteCall(const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    std::vector<Names> inputs;
    for (const Expr& arg : call->args) inputs.push_back(values_.at(arg));
    const bool only_reader = !call->args.empty() && IsMadeForOne(call->args[0]);
    CallToWrite to_write(*call, std::move(inputs), only_reader, &graph_);
    try {
      if (const OnnxExporter* exporter = FindUserExporter(call->op()->name))
        return graph_.AddNode((*exporter)(*call), to_write.AllInputs(), to_write.num_results());
      const int first = graph_.num_nodes();
      Names made = Exporters().at(call->callee)(to_write);
      RequireTypes(to_write, first);
      return made;
    } catch (Error& error) {
      if (!error.span().known()) error.At(e.span());
      throw;
    }
  }

  // That the nodes from `first` on take what the call gives them.
  void RequireTypes(const CallToWrite& call, int first) const {
    for (int i = first; i < graph_.num_nodes(); ++i) {
      const onnx::NodeProto& node = graph_.node(i);
      for (std::size_t a = 0; a < call.num_args() && node.input_size() > 0; ++a) {
        if (call.arg(a).checked_type().As<ir::TensorTypeNode>() == nullptr ||
            call.input(a) != node.input(0))
          continue;
        call.Require(TakesType(node.op_type(), call.dtype(a)),
                     StrCat("an operand of ", call.dtype(a).ToString(), ", which ", node.op_type(),
                            " does not take in opset ", kOpset, ","));
      }
    }
  }

  // Whether the nodes of a call make its value, and one call alone reads that. Calls that only pass
  // on the name of an operand, and fields of tuples, share it with other readers.
  bool IsMadeForOne(const Expr& e) const {
    const auto* call = e.As<ir::CallNode>();
    if (call == nullptr || readers_.at(e) != 1) return false;
    const std::string& name = values_.at(e).at(0);
    return std::ranges::none_of(
        call->args, [&](const Expr& arg) { return std::ranges::count(values_.at(arg), name) > 0; });
  }

  const std::string& OneName(const Expr& field) const {
    if (field.checked_type().As<ir::TensorTypeNode>() == nullptr)
      throw Unimplemented("tuples inside of tuples cannot be written as ONNX").At(field.span());
    return values_.at(field)[0];
  }

  static void RequireThere(const std::string& name, const Expr& tuple, std::size_t index) {
    if (!name.empty()) return;
    const auto* call = tuple.As<ir::CallNode>();
    throw Unimplemented(StrCat(call == nullptr ? "a tuple" : call->op()->name, ": result ", index,
                               " has no ONNX counterpart"))
        .At(tuple.span());
  }

  const ir::FunctionNode& main_;
  GraphWriter graph_;
  const ir::ReaderCounts readers_;
  std::unordered_map<Expr, Names, ir::ExprHash> values_;
};

}  // namespace

DataType CallToWrite::dtype(std::size_t i) const { return TensorDataType(arg(i)); }

DataType CallToWrite::result_dtype() const {
  return call_.checked_type.As<ir::TensorTypeNode>()->dtype;
}

Names CallToWrite::AllInputs() const {
  Names all;
  for (const Names& names : inputs_) all.insert(all.end(), names.begin(), names.end());
  return all;
}

std::size_t CallToWrite::num_results() const {
  const auto* tuple = call_.checked_type.As<ir::TupleTypeNode>();
  return tuple == nullptr ? 1 : tuple->fields.size();
}

std::int64_t CallToWrite::Axis(std::int64_t axis) const { return ops::NormalAxis(axis, rank(0)); }

void CallToWrite::Refuse(const std::string& what) const {
  throw Unimplemented(StrCat(op(), ": ", what, " cannot be written as ONNX"));
}

void CallToWrite::Require(bool condition, const std::string& what) const {
  if (!condition) Refuse(what);
}

absl::StatusOr<std::string> ExportOnnx(const ir::Module& module) {
  return CatchErrors([&] {
    const ir::Module typed = passes::InferType(module);
    ReportMissing(typed.Main().body);
    onnx::ModelProto model;
    model.set_ir_version(kIrVersion);
    model.set_producer_name("tenon");
    model.add_opset_import()->set_version(kOpset);
    model.mutable_graph()->set_name("main");
    Writer writer(typed.Main(), model.mutable_graph());
    writer.Write(ir::ResultNamesOf(module));
    for (const std::string& domain : writer.domains()) {
      auto* opset = model.add_opset_import();
      opset->set_domain(domain);
      opset->set_version(1);
    }
    if (model.ByteSizeLong() > kMaxFileBytes)
      throw Unimplemented(StrCat("the model takes ", model.ByteSizeLong(),
                                 " bytes; an ONNX file holds ", kMaxFileBytes, " at most"));
    return model.SerializeAsString();
  });
}

bool IsExportable(const std::string& op) {
  const Expr callee = ops::OpRegistry::Global().Find(op);
  return callee && (Exporters().contains(callee) || FindUserExporter(op) != nullptr);
}

std::vector<std::string> ExportableOps() {
  std::vector<std::string> names;
  for (const auto& [callee, unused] : Exporters()) names.push_back(callee.As<ir::OpNode>()->name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tenon::onnx_export
