// Parts are lowered one by one. Their kernels and constants are then numbered together, and equal
// ones are kept once.
#include "tenon/compiler/control/lower_program.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tenon/compiler/control/part_cases.h"
#include "tenon/compiler/control/program_outline.h"
#include "tenon/compiler/plan/build_plan.h"
#include "tenon/compiler/plan/model_inputs.h"
#include "tenon/compiler/plan/unique_names.h"
#include "tenon/compiler/symbolic/symbolic_kernels.h"
#include "tenon/loop/content.h"
#include "tenon/runtime/input_symbols.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/support/hash.h"

namespace tenon::compiler {
namespace {

using runtime::Node;
using runtime::NodeKind;
using runtime::Plan;

// Gathers kernels and constants of plans.
class Gatherer {
 public:
  // The plan with its kernels and constants counted among all that are gathered.
  Plan Add(Lowered lowered) {
    std::unordered_map<int, int> kernels, constants;
    Plan plan = std::move(lowered.plan);
    for (Node& node : plan.nodes) {
      if (node.kind == NodeKind::kKernel) {
        const auto [known, is_new] = kernels.try_emplace(node.kernel, 0);
        if (is_new)
          known->second =
              AddKernel(std::move(lowered.kernels[static_cast<std::size_t>(node.kernel)]));
        node.kernel = known->second;
      } else if (node.kind == NodeKind::kConstant) {
        const auto [known, is_new] = constants.try_emplace(node.constant, 0);
        if (is_new)
          known->second = static_cast<int>(
              AddConstant(lowered.constants[static_cast<std::size_t>(node.constant)]));
        node.constant = known->second;
      }
    }
    return plan;
  }

  std::size_t AddConstant(const NDArray& constant) {
    const std::string_view bytes(static_cast<const char*>(constant.raw()), constant.bytes());
    std::vector<std::size_t>& alike = constants_by_hash_[HashBytes(bytes)];
    for (const std::size_t known : alike) {
      const NDArray& other = constants_[known];
      if (other.bytes() == bytes.size() &&
          (bytes.empty() || std::memcmp(other.raw(), bytes.data(), bytes.size()) == 0))
        return known;
    }
    alike.push_back(constants_.size());
    constants_.push_back(constant);
    return alike.back();
  }

  void MoveTo(Lowered* whole) {
    whole->kernels = std::move(kernels_);
    whole->constants = std::move(constants_);
  }

 private:
  int AddKernel(LoweredKernel kernel) {
    const auto next = static_cast<int>(kernels_.size());
    if (const auto* function = std::get_if<loop::Function>(&kernel.choice.built.kernel)) {
      const auto [known, is_new] =
          kernels_by_content_.try_emplace(loop::ContentOf(*function), next);
      if (!is_new) return known->second;
    }
    kernel.name = names_.Unique(kernel.name, "_");
    kernels_.push_back(std::move(kernel));
    return next;
  }

  std::vector<LoweredKernel> kernels_;
  std::vector<NDArray> constants_;
  std::unordered_map<std::string, int> kernels_by_content_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> constants_by_hash_;
  UniqueNames names_;
};

// A plan that has only the inputs.
Plan PlanOfInputs(const std::vector<runtime::InputInfo>& inputs) {
  const runtime::InputSymbols symbols(inputs);
  Plan plan;
  plan.symbols.assign(symbols.names().begin(), symbols.names().end());
  Dim::Values example;
  for (const std::string& name : plan.symbols) example.emplace(name, strategies::kPlannedExtent);
  for (const runtime::InputInfo& input : inputs) {
    runtime::Entry entry{.dtype = input.dtype};
    for (const Dim& dim : input.extents) {
      if (!dim.is_static()) entry.extents = input.extents;
      entry.shape.push_back(std::max<std::int64_t>(dim.Evaluate(example).value_or(1), 0));
    }
    plan.nodes.push_back(
        {.kind = NodeKind::kInput, .name = input.name, .inputs = {}, .outputs = {entry}});
  }
  AssignStorage(&plan);
  return plan;
}

}  // namespace

LoweredProgram LowerParts(const ir::Module& fused, const strategies::StrategyOptions& strategy,
                          const jit::CompileOptions& code,
                          const std::vector<runtime::RunTimeExtent>& extents,
                          const std::vector<ExtentCondition>& needs) {
  ProgramOutline outline = OutlineProgram(fused);
  LoweredProgram made;
  Gatherer gatherer;
  for (const ir::Expr& part : outline.parts) {
    const std::set<std::string> symbols = SymbolsOfPart(part);
    runtime::PlannedPart& planned =
        made.program.parts.emplace_back(runtime::PlannedPart{{symbols.begin(), symbols.end()}, {}});
    for (LoweredCase& of_part : LowerCases(part, strategy, code))
      planned.cases.push_back({std::move(of_part.known), gatherer.Add(std::move(of_part.lowered))});
  }
  for (const NDArray& constant : outline.constants)
    made.program.constants.push_back(
        {.type = {.shape = constant.shape(), .dtype = constant.dtype()},
         .constant = gatherer.AddConstant(constant)});
  made.program.functions = std::move(outline.functions);
  made.program.extents = extents;
  made.whole.module = ir::Module().WithAttrs(fused.attrs());
  made.whole.plan = PlanOfInputs(InputsOf(fused.Main()));
  made.whole.plan.conditions = needs;
  gatherer.MoveTo(&made.whole);
  return made;
}

Lowered LowerKernelsOfParts(const ir::Module& fused, const strategies::StrategyOptions& strategy,
                            const jit::CompileOptions& code,
                            const std::vector<ExtentCondition>& needs) {
  Lowered whole;
  Gatherer gatherer;
  for (const ir::Expr& part : OutlineProgram(fused).parts) {
    const ir::Module module = ir::Module().With("main", part);
    Plan plan = gatherer.Add(SymbolsOfPart(part).empty()
                                 ? BuildPlan(module, strategy, code, /*keeps_module=*/false)
                                 : ListedKernels(LowerSymbolicKernels(module, strategy)));
    std::ranges::copy_if(plan.nodes, std::back_inserter(whole.plan.nodes),
                         [](const Node& node) { return node.kind == NodeKind::kKernel; });
  }
  gatherer.MoveTo(&whole);
  whole.constants.clear();
  whole.module = fused;
  whole.plan.conditions = needs;
  return whole;
}

}  // namespace tenon::compiler
