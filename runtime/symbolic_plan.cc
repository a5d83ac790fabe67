#include "tenon/runtime/symbolic_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

using Results = std::vector<std::int64_t>;

std::int64_t Of(const Results& results, int operation) {
  return results[static_cast<std::size_t>(operation)];
}

std::string ToText(const Dim::Values& values) {
  return StrJoin(values, ", ", [](std::string* out, const auto& value) {
    StrAppend(out, value.first, " = ", value.second);
  });
}

}  // namespace

void RefuseValues(const ExtentCondition& broken, const Dim::Values& values,
                  const std::string& shown) {
  throw InvalidArgument(StrCat(shown, shown.empty() ? "" : ": ", "the model needs ",
                               broken.ToString(), "; here ", ToText(values)));
}

SymbolicPlan::SymbolicPlan(Plan plan) : plan_(std::move(plan)), program_(plan_.symbols) {
  const auto all = [&](const std::vector<Dim>& dims) {
    std::vector<int> operations;
    for (const Dim& dim : dims) operations.push_back(program_.Add(dim));
    return operations;
  };
  for (const Node& node : plan_.nodes) {
    std::vector<std::vector<int>>& shapes = shapes_.emplace_back();
    for (const Entry& output : node.outputs) shapes.push_back(all(output.extents));
    begins_.push_back(all(node.begins));
    arguments_.push_back(all(node.arguments));
  }
  for (const ExtentCondition& condition : plan_.conditions)
    conditions_.emplace_back(program_.Add(condition.a), program_.Add(condition.b));
}

Results SymbolicPlan::InOrder(const Dim::Values& values) const {
  Results symbols;
  for (const std::string& name : plan_.symbols) symbols.push_back(values.at(name));
  return symbols;
}

const ExtentCondition* SymbolicPlan::Broken(const Results& results) const {
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    const std::int64_t a = Of(results, conditions_[c].first),
                       b = Of(results, conditions_[c].second);
    const ExtentCondition& condition = plan_.conditions[c];
    if (condition.kind == ExtentCondition::Kind::kEqual ? a != b : a > b) return &condition;
  }
  return nullptr;
}

bool SymbolicPlan::Takes(const Dim::Values& values) const {
  const std::optional<Results> results = program_.Evaluate(InOrder(values));
  return results && Broken(*results) == nullptr;
}

PlanAtValues SymbolicPlan::At(const Dim::Values& values) const {
  const std::optional<Results> results = program_.Evaluate(InOrder(values));
  if (!results)
    throw InvalidArgument(StrCat("an extent does not fit 64 bits where ", ToText(values)));
  if (const ExtentCondition* broken = Broken(*results)) RefuseValues(*broken, values);
  PlanAtValues made{.plan = plan_, .kernels = {}};
  made.plan.symbols.clear();
  made.plan.conditions.clear();
  for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
    Node& node = made.plan.nodes[n];
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      Entry& output = node.outputs[o];
      output.extents.clear();
      for (std::size_t d = 0; d < shapes_[n][o].size(); ++d) {
        output.shape[d] = Of(*results, shapes_[n][o][d]);
        if (output.shape[d] < 0)
          throw InvalidArgument(
              StrCat("the extent ", plan_.nodes[n].outputs[o].extents[d].ToString(), " of ",
                     node.name, " is ", output.shape[d], " where ", ToText(values)));
      }
    }
    node.begins.clear();
    node.offsets.resize(std::max(node.offsets.size(), begins_[n].size()), 0);
    for (std::size_t o = 0; o < begins_[n].size(); ++o)
      node.offsets[o] = static_cast<std::size_t>(Of(*results, begins_[n][o]));
    node.arguments.clear();
    if (node.kind != NodeKind::kKernel) continue;
    KernelUse use{.kernel = node.kernel, .extents = {}};
    for (const int operation : arguments_[n]) use.extents.push_back(Of(*results, operation));
    node.kernel = static_cast<int>(made.kernels.size());
    made.kernels.push_back(std::move(use));
  }
  PlaceInStorage(&made.plan);
  return made;
}

}  // namespace tenon::runtime
