// Strategies: the ways to make a kernel of a fused function, and the choice among them.
//
// A strategy is a row of a table: a name, a condition that refuses in words, maybe an estimate, and
// a function that builds. The heavy operator of a function - its anchor - brings its table: the
// forms of its tensor expression ("te.conv2d.row_tiled"; "te" where there is one), and
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
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/built.h"
#include "tenon/strategies/choice/candidate.h"
#include "tenon/strategies/choice/measured.h"
#include "tenon/strategies/config.h"
#include "tenon/strategies/lower_outputs.h"
#include "tenon/support/ndarray.h"

namespace tenon::strategies {

enum class LibraryChoice {
  kAuto,     // the best row
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

enum class Maker { kAuthor, kOneDnn, kOneDnnNarrow };

// Kernels are made on several threads, so its functions may be called by several at once.
struct Implementation {
  std::string name;
  Maker maker = Maker::kAuthor;
  int priority = 0;
  // Gives why it cannot build the group, or nothing.
  std::function<std::optional<std::string>(const Group& group)> refusal;
  // Estimates its time, in cycles of one core of the target, if it can be known. Not asked where
  // the library is asked for.
  std::function<double(const Group& group)> cycles = nullptr;
  // Gives why it cannot, where that shows only now. Then the next candidate is taken.
  std::function<BuildResult(const Group& group)> build;
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
  std::vector<Candidate> candidates;  // by priority, then as in their tables
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
