#include "tenon/strategies/author/check_compute.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/ir/flatten.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

using ops::OpPattern;
using te::OperationNode;
using te::Tensor;

bool HasShape(const Tensor& tensor, const std::vector<ir::Dim>& shape) {
  return std::equal(tensor.shape().begin(), tensor.shape().end(), shape.begin(), shape.end(),
                    [](const te::Expr& extent, const ir::Dim& dim) {
                      return !dim.is_static() || loop::IsConstInt(extent, dim.value());
                    });
}

std::string Describe(const Tensor& tensor) {
  return StrCat(tensor.dtype().ToString(), " (",
                StrJoin(tensor.shape(), ", ",
                        [](std::string* text, const te::Expr& extent) {
                          const auto* known = extent.As<loop::IntImmNode>();
                          StrAppend(text, known == nullptr ? "?" : StrCat(known->value));
                        }),
                ")");
}

// Whether each element is read at the place of the one that is computed.
bool ReadsInPlace(const OperationNode& op) {
  bool in_place = true;
  for (const te::Expr& value : op.body) {
    loop::VisitExpr(value, [&](const te::Expr& e) {
      const auto* load = e.As<loop::LoadNode>();
      if (load == nullptr) return;
      in_place =
          in_place && std::equal(load->indices.begin(), load->indices.end(), op.axes.begin(),
                                 op.axes.end(), [](const te::Expr& index, const te::IterVar& axis) {
                                   return axis.var.same_as(index);
                                 });
    });
  }
  return in_place;
}

}  // namespace

std::vector<const OperationNode*> OperationsBetween(const std::vector<Tensor>& inputs,
                                                    const std::vector<Tensor>& results) {
  std::unordered_set<const OperationNode*> known;
  for (const Tensor& input : inputs) known.insert(input.op().get());
  std::vector<const OperationNode*> found;
  std::vector<const OperationNode*> next;
  const auto add = [&](const Tensor& tensor) {
    if (known.insert(tensor.op().get()).second) next.push_back(tensor.op().get());
  };
  for (const Tensor& result : results) add(result);
  while (!next.empty()) {
    const OperationNode* op = next.back();
    next.pop_back();
    found.push_back(op);
    for (const Tensor& input : te::InputsOf(*op)) add(input);
  }
  return found;
}

void RequireResults(const std::string& op, const TeCall& call,
                    const std::vector<te::Tensor>& results) {
  const std::vector<ir::Type> types = ir::Flatten(call.result);
  if (results.size() != types.size())
    throw InvalidArgument(StrCat(op, ": the compute gives ", results.size(),
                                 results.size() == 1 ? " tensor" : " tensors",
                                 "; its type relation promises ", types.size()));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string which = types.size() == 1 ? "" : StrCat(" for field ", i);
    if (!results[i].op())
      throw InvalidArgument(StrCat(op, ": the compute gives a null tensor", which));
    const auto& type = *types[i].As<ir::TensorTypeNode>();
    if (results[i].dtype() == type.dtype && HasShape(results[i], type.shape)) continue;
    throw InvalidArgument(StrCat(op, ": the compute gives ", Describe(results[i]), which,
                                 "; its type relation promises ", ir::ToString(types[i])));
  }
}

void RequireInputsAlone(const std::string& op, const TeCall& call,
                        const std::vector<te::Tensor>& results) {
  const std::vector<const OperationNode*> operations = OperationsBetween(call.inputs, results);
  std::unordered_set<const OperationNode*> known;
  for (const OperationNode* operation : operations) {
    for (const Tensor& state : operation->state) known.insert(state.op().get());
  }
  if (call.preparer != nullptr) {
    for (const PreparedTensor& prepared : call.preparer->prepared())
      known.insert(prepared.placeholder.op().get());
  }
  for (const OperationNode* operation : operations) {
    if (operation->is_placeholder() && !known.contains(operation))
      throw InvalidArgument(StrCat(op, ": the compute reads the placeholder ", operation->name,
                                   ", which is none of the call's inputs"));
  }
}

std::optional<std::string> ContradictionOf(OpPattern pattern, const std::vector<Tensor>& inputs,
                                           const std::vector<Tensor>& results) {
  if (pattern >= OpPattern::kOutEWiseFusable) return std::nullopt;
  bool reduces = false;
  std::string reads_elsewhere;
  for (const OperationNode* op : OperationsBetween(inputs, results)) {
    if (!op->is_compute() && !op->is_placeholder())
      return StrCat(op->name, " is no compute but an external operation or a scan");
    reduces = reduces || op->is_reduction();
    if (op->is_reduction() && pattern != OpPattern::kCommReduce)
      return StrCat(op->name, " is a reduction");
    if (!ReadsInPlace(*op)) reads_elsewhere = op->name;
  }
  if (pattern == OpPattern::kElemWise && !reads_elsewhere.empty())
    return StrCat(reads_elsewhere, " reads elements of other places than the one that it computes");
  if (pattern == OpPattern::kCommReduce && !reduces) return "nothing in it is a reduction";
  return std::nullopt;
}

}  // namespace tenon::strategies
