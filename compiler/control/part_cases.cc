// Counts that values decide may be 0 or 1. Some kernels of a variable are not right for 0, and for
// 1 other operands are broadcast; the conditions of a plan say so. Variables of inputs are at least
// 1, and a plan that refuses 1 refuses such inputs.
#include "tenon/compiler/control/part_cases.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tenon/compiler/control/program_outline.h"
#include "tenon/compiler/plan/build_plan.h"
#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/compiler/symbolic/prepared_arrays.h"
#include "tenon/compiler/symbolic/symbolic_kernels.h"
#include "tenon/compiler/symbolic/symbolic_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

// If there are more, not all combinations are lowered.
constexpr std::size_t kMaxCombined = 3;

std::vector<std::string> CountsOf(const std::set<std::string>& symbols) {
  std::vector<std::string> counts;
  for (const std::string& symbol : symbols) {
    if (Dim::Symbol(symbol).LowerBound() == 0) counts.push_back(symbol);
  }
  return counts;
}

// All ways to give some of `names` a value of `value`, fewer names first; none is the first way.
std::vector<Dim::Values> WaysToGive(const std::vector<std::string>& names, std::int64_t value) {
  std::vector<Dim::Values> ways;
  if (names.size() <= kMaxCombined) {
    for (std::size_t bits = 0; bits < std::size_t{1} << names.size(); ++bits) {
      Dim::Values& way = ways.emplace_back();
      for (std::size_t i = 0; i < names.size(); ++i) {
        if ((bits >> i & 1) != 0) way.emplace(names[i], value);
      }
    }
    std::ranges::stable_sort(ways, {}, &Dim::Values::size);
    return ways;
  }
  ways.emplace_back();
  Dim::Values all;
  for (const std::string& name : names) {
    ways.push_back({{name, value}});
    all.emplace(name, value);
  }
  ways.push_back(std::move(all));
  return ways;
}

// Whether one of the conditions is about these variables and may be broken with such values.
bool MayRefuse(const std::vector<ExtentCondition>& conditions, const Dim::Values& values) {
  const std::map<std::string, Dim> numbers = AsDims(values);
  return std::ranges::any_of(conditions, [&](const ExtentCondition& condition) {
    const Dim a = condition.a.Substitute(numbers), b = condition.b.Substitute(numbers);
    if (a == condition.a && b == condition.b) return false;
    if (condition.kind == ExtentCondition::Kind::kEqual) return !(a == b);
    const std::optional<std::int64_t> room = (b - a).LowerBound();
    return !room || *room < 0;
  });
}

// Those of `names` that the conditions may refuse where they have this value.
std::vector<std::string> RefusedWhere(const std::vector<ExtentCondition>& conditions,
                                      std::vector<std::string> names, std::int64_t value) {
  std::erase_if(names, [&](const std::string& name) {
    return !MayRefuse(conditions, {{name, value}});
  });
  return names;
}

struct Made {
  Lowered lowered;
  // What kernels need of the variables. Other kernels may need less. What operators need is needed
  // whatever the kernels.
  std::vector<ExtentCondition> of_kernels;
};

// Lowers a module that may have variables.
Made LowerForAll(const ir::Module& module, const strategies::StrategyOptions& strategy,
                 const jit::CompileOptions& code) {
  SymbolicKernels kernels = LowerSymbolicKernels(module, strategy);
  const PreparedArrays prepared(module, kernels, code);
  Made made{PlanForAll({.module = module, .functions = {}}, {}, kernels, prepared), {}};
  for (const ExtentCondition& condition : made.lowered.plan.conditions) {
    if (std::ranges::find(kernels.conditions, condition) == kernels.conditions.end())
      made.of_kernels.push_back(condition);
  }
  made.lowered.kernels = std::move(kernels.list);
  return made;
}

void Substitute(const std::map<std::string, Dim>& dims, Made* made) {
  const auto all = [&](std::vector<Dim>* expressions) {
    for (Dim& dim : *expressions) dim = dim.Substitute(dims);
  };
  runtime::Plan& plan = made->lowered.plan;
  for (runtime::Node& node : plan.nodes) {
    for (runtime::Entry& output : node.outputs) all(&output.extents);
    all(&node.begins);
    all(&node.arguments);
  }
  for (std::vector<ExtentCondition>* conditions : {&plan.conditions, &made->of_kernels}) {
    for (ExtentCondition& condition : *conditions) {
      condition.a = condition.a.Substitute(dims);
      condition.b = condition.b.Substitute(dims);
    }
  }
}

// Makes the part with numbers for some variables and the others as they are.
class CaseMaker {
 public:
  CaseMaker(const ir::Module& part, const std::set<std::string>& symbols,
            const strategies::StrategyOptions& strategy, const jit::CompileOptions& code)
      : part_(part), symbols_(symbols), strategy_(strategy), code_(code) {}

  // Nothing if it cannot be lowered.
  std::optional<Made> TryMake(const Dim::Values& known) const {
    try {
      return Make(known);
    } catch (const Error& error) {
      if (error.code() == absl::StatusCode::kInternal) throw;
      return std::nullopt;
    }
  }

 private:
  Made Make(const Dim::Values& known) const {
    // If one variable is 1, types depend on the others, which are at least 1: max(1, k) is k.
    // Meanwhile the others have names that say so.
    std::map<std::string, Dim> dims = AsDims(known), back;
    const bool has_one = std::ranges::any_of(known, [](const auto& v) { return v.second == 1; });
    for (const std::string& symbol : symbols_) {
      const std::string positive = StrCat("_", symbol);
      if (!has_one || known.contains(symbol)) continue;
      dims.emplace(symbol, Dim::Symbol(positive));
      back.emplace(positive, Dim::Symbol(symbol));
    }
    const ir::Module module = WithExtents(part_, dims).module;
    try {
      Made made = LowerForAll(module, strategy_, code_);
      Substitute(back, &made);
      std::vector<std::string>& symbols = made.lowered.plan.symbols;
      for (std::string& symbol : symbols) {
        if (const auto old = back.find(symbol); old != back.end()) symbol = *old->second.symbol();
      }
      std::ranges::sort(symbols);
      return made;
    } catch (const Error& error) {
      // Something needs numbers, and all variables may have one.
      if (known.size() < symbols_.size() || error.code() != absl::StatusCode::kUnimplemented) throw;
    }
    return {BuildPlan(module, strategy_, code_, false), {}};
  }

  const ir::Module& part_;
  const std::set<std::string>& symbols_;
  const strategies::StrategyOptions& strategy_;
  const jit::CompileOptions& code_;
};

std::vector<std::string> Without(std::vector<std::string> names, const Dim::Values& known) {
  std::erase_if(names, [&](const std::string& name) { return known.contains(name); });
  return names;
}

}  // namespace

std::vector<LoweredCase> LowerCases(const ir::Expr& part,
                                    const strategies::StrategyOptions& strategy,
                                    const jit::CompileOptions& code) {
  const ir::Module module = ir::Module().With("main", part);
  const std::set<std::string> symbols = SymbolsOfPart(part);
  std::vector<LoweredCase> cases;
  if (symbols.empty()) {
    cases.push_back({{}, BuildPlan(module, strategy, code, false)});
    return cases;
  }
  const std::vector<std::string> counts = CountsOf(symbols);
  const CaseMaker maker(module, symbols, strategy, code);
  std::vector<std::vector<ExtentCondition>> of_kernels;  // by case
  const auto add = [&](const Dim::Values& known, std::optional<Made> made) {
    if (!made) return;
    cases.push_back({known, std::move(made->lowered)});
    of_kernels.push_back(std::move(made->of_kernels));
  };
  const auto try_add = [&](const Dim::Values& known) {
    if (std::ranges::find(cases, known, &LoweredCase::known) == cases.end())
      add(known, maker.TryMake(known));
  };
  add({}, LowerForAll(module, strategy, code));
  for (const Dim::Values& zeros : WaysToGive(RefusedWhere(of_kernels[0], counts, 0), 0))
    try_add(zeros);
  for (std::size_t i = 0, end = cases.size(); i < end; ++i) {
    const Dim::Values zeros = cases[i].known;
    const std::vector<std::string> others = Without(counts, zeros);
    for (const Dim::Values& ones : WaysToGive(RefusedWhere(of_kernels[i], others, 1), 1)) {
      if (ones.empty()) continue;
      // A plan for some ones takes the others to be at least 1.
      for (Dim::Values known : WaysToGive(Without(others, ones), 0)) {
        known.insert(zeros.begin(), zeros.end());
        known.insert(ones.begin(), ones.end());
        try_add(known);
      }
    }
  }
  return cases;
}

}  // namespace tenon::compiler
