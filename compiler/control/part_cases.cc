// Counts that values decide may be 0, for which no kernel of a variable is made, and 1, where what
// is broadcast differs. Inputs' variables are at least 1, and a plan that refuses 1 refuses it.
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

namespace tenon::compiler {
namespace {

// With more, not all combinations are lowered.
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

// Whether one of the conditions is about the variables of `ones` and may be broken where they
// are 1.
bool MayRefuse(const std::vector<ExtentCondition>& conditions, const Dim::Values& ones) {
  const std::map<std::string, Dim> numbers = AsDims(ones);
  return std::ranges::any_of(conditions, [&](const ExtentCondition& condition) {
    const Dim a = condition.a.Substitute(numbers), b = condition.b.Substitute(numbers);
    if (a == condition.a && b == condition.b) return false;
    if (condition.kind == ExtentCondition::Kind::kEqual) return !(a == b);
    const std::optional<std::int64_t> room = (b - a).LowerBound();
    return !room || *room < 0;
  });
}

Lowered LowerCase(const ir::Module& part, const Dim::Values& known, bool has_variables,
                  const strategies::StrategyOptions& strategy, const jit::CompileOptions& code) {
  const ir::Module module = known.empty() ? part : WithExtents(part, known).module;
  try {
    SymbolicKernels kernels = LowerSymbolicKernels(module, strategy);
    const PreparedArrays prepared(module, kernels, code);
    Lowered lowered = PlanForAll({.module = module, .functions = {}}, {}, kernels, prepared);
    lowered.kernels = std::move(kernels.list);
    return lowered;
  } catch (const Error& error) {
    // What needs numbers may have all of them.
    if (has_variables || error.code() != absl::StatusCode::kUnimplemented) throw;
  }
  return BuildPlan(module, strategy, code, false);
}

// Nothing where it cannot be lowered.
std::optional<Lowered> TryCase(const ir::Module& part, const Dim::Values& known, bool has_variables,
                               const strategies::StrategyOptions& strategy,
                               const jit::CompileOptions& code) {
  try {
    return LowerCase(part, known, has_variables, strategy, code);
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kInternal) throw;
    return std::nullopt;
  }
}

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
  for (const Dim::Values& zeros : WaysToGive(counts, 0)) {
    const auto lower = [&](const Dim::Values& known) {
      return TryCase(module, known, known.size() < symbols.size(), strategy, code);
    };
    std::optional<Lowered> for_all =
        zeros.empty() ? LowerCase(module, {}, true, strategy, code) : lower(zeros);
    if (!for_all) continue;
    const std::vector<ExtentCondition> conditions = for_all->plan.conditions;
    cases.push_back({zeros, *std::move(for_all)});
    for (Dim::Values known : WaysToGive(Without(counts, zeros), 1)) {
      if (known.empty() || !MayRefuse(conditions, known)) continue;
      known.insert(zeros.begin(), zeros.end());
      if (std::optional<Lowered> lowered = lower(known))
        cases.push_back({std::move(known), *std::move(lowered)});
    }
  }
  return cases;
}

}  // namespace tenon::compiler
