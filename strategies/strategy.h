// Strategies: the ways to make a kernel of a fused function, and the choice among them.
//
// A strategy is a row of a table: a name, a condition that refuses in words, a priority, maybe an
// estimate, and a function that builds. The heavy operator of a function - its anchor - brings its
// table: the forms of its tensor expression ("te.conv2d.row_tiled"; "te" where there is one), and
// implementations by libraries or by its author (column Strategy). Choose weighs all rows and takes
// the best one (candidate.h), which measurements of an earlier day may have found (measured.h).
//
//   Choice choice = Choose(group, {.library = LibraryChoice::kAuto});
//   std::puts(choice.Explanation().c_str());
#ifndef TENON_STRATEGIES_STRATEGY_H_
#define TENON_STRATEGIES_STRATEGY_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/jit/callable.h"
#include "tenon/loop/function.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/candidate.h"
#include "tenon/strategies/config.h"
#include "tenon/strategies/lower_outputs.h"
#include "tenon/strategies/measured.h"
#include "tenon/support/ndarray.h"

namespace tenon::strategies {

enum class LibraryChoice {
  kAuto,     // by priority
  kTe,       // generated code only
  kLibrary,  // a library wherever its condition holds
};

// A fused function and what is known of its arguments when it is compiled.
struct Group {
  const ir::FunctionNode* function;
  std::string name;
  std::vector<NDArray> constants;  // by parameter; undefined where the argument is computed
  LibraryChoice library = LibraryChoice::kAuto;
  bool keep_nan = false;
  LoweringOptions lowering;

  // The call of kOutEWiseFusable pattern; where there is none, the function's last call if its
  // operator has forms or implementations of its own, else null.
  const ir::CallNode* Anchor() const;
};

// A constant in the form that a kernel reads: what `function` makes of constant parameters.
struct PreparedConstant {
  loop::Function function;     // the parameters, then the result
  std::vector<int> arguments;  // which parameters
};

// Generated code before or after a library's kernel, for another order of axes or for operators
// that the library lacks. Its buffers are arguments, what lies between both kernels, and results.
struct Side {
  loop::Function function;
  std::size_t arguments = 0;
  std::size_t bytes = 0;  // of what lies between
};

// A kernel before code generation, or a finished one of a library. `arguments` are the parameters
// (tuples flattened) that it is called with, in order, before the `prepared` ones; others are
// already part of it or of what is prepared.
struct Built {
  std::variant<loop::Function, std::shared_ptr<const jit::Callable>> kernel;
  std::vector<int> arguments;
  std::vector<PreparedConstant> prepared;
  // What runs around a library's kernel. `before` makes the kernel's first argument from the first
  // of `arguments`. `after` makes the results from the last of `arguments` and the kernel's
  // result.
  std::optional<Side> before;
  std::optional<Side> after;
};

// Throws InvalidArgument, in words, for a kernel that cannot be called with the group's arguments
// and results: a missing kernel, parameters that the function does not have, or a number or type of
// buffers that differs from the arguments, the prepared constants and the results.
void RequireBuilt(const Group& group, const Built& built);

// The kernel, or the generated code before and after a library's.
std::vector<loop::Function> GeneratedFunctions(const Built& built);

enum class Maker { kAuthor, kOneDnn, kOneDnnNarrow };

// Kernels are made on several threads, so its functions may be called by several at once.
struct Implementation {
  std::string name;
  Maker maker = Maker::kAuthor;
  int priority = kGenerated;
  // Gives why it cannot build the group, or nothing.
  std::function<std::optional<std::string>(const Group& group)> refusal;
  // May throw Unimplemented. Then the next candidate is taken.
  std::function<Built(const Group& group)> build;
};

// The column of operators with implementations of their own.
struct Strategy {
  std::vector<Implementation> implementations;
};

// Who makes the kernels of functions with Composite="<name>.<anything>".
struct CompositeMaker {
  std::string name;
  // How the rows of operators are weighed for such a function, unless StrategyOptions say so.
  LibraryChoice library = LibraryChoice::kAuto;
  std::optional<Implementation> row = std::nullopt;  // beside those of operators
};

struct StrategyOptions {
  LibraryChoice library = LibraryChoice::kAuto;
  bool winograd = true;   // let convolutions be other than plain sums
  bool keep_nan = false;  // take no library that gives a number for NaN
  LoweringOptions lowering;
  std::vector<CompositeMaker> makers = {};
  MeasuredChoices measured = nullptr;  // what measurements say; null: nothing
};

struct Choice {
  Built built;
  std::string implementation;
  // What the choice was restricted to, and why a measurement was left aside; lines, or nothing.
  std::string remark;
  std::vector<Candidate> candidates;  // by priority
  std::size_t chosen = 0;             // of the candidates
  Config config = {};                 // the choices within it
  // The remark and a line for each candidate.
  std::string Explanation() const { return remark + ToText(candidates, chosen); }
};

// Chooses the row of the group. A composite function takes the row of its maker unless that refuses
// it. A measured row that cannot be built today is left aside, with a remark. Throws Unimplemented
// when no candidate can build the group.
Choice Choose(const Group& group, const StrategyOptions& options);

// Attaches computes and strategies to the built-in operators. Idempotent.
void RegisterStrategies(ops::OpRegistry& registry);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_STRATEGY_H_
