// Matching patterns against graph expressions.
//
// The stack grows only with the pattern, never with the graph. Alternatives, commuted arguments and
// the two sides of Optional are tried in order until the whole pattern fits.
//
//   Matcher matcher(function.body);  // where uses are counted, for Dominates
//   if (auto bindings = matcher.Match(relu, expr)) Use(bindings->At(conv));
#ifndef TENON_PASSES_PATTERN_PATTERN_MATCH_H_
#define TENON_PASSES_PATTERN_PATTERN_MATCH_H_

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/passes/pattern/pattern.h"

namespace tenon::passes {

// Which expression each part of a pattern stands for.
class Bindings {
 public:
  // Null when the part was not used in the match (an alternative that was not taken).
  ir::Expr Find(const Pattern& pattern) const;
  // Throws NotFound in that case.
  ir::Expr At(const Pattern& pattern) const;
  // What a rewrite replaces: the calls, tuples and projections for which patterns of these kinds
  // stand, and everything between the ends of a Dominates. Expressions for which a wildcard stands
  // are not included.
  const std::vector<ir::Expr>& matched() const { return matched_; }

 private:
  friend class Matcher;
  std::unordered_map<const PatternNode*, ir::Expr> by_pattern_;
  std::vector<ir::Expr> matched_;
};

// Users of each expression inside another, functions included.
using UseMap = std::unordered_map<ir::Expr, std::vector<ir::Expr>, ir::ExprHash>;
UseMap UsesInside(const ir::Expr& scope);

class Matcher {
 public:
  // `scope` is the expression that holds everything to be matched.
  explicit Matcher(ir::Expr scope) : scope_(std::move(scope)) {}

  std::optional<Bindings> Match(const Pattern& pattern, const ir::Expr& expr);

 private:
  struct Goals;
  struct KindSolver;
  struct Undo;
  bool Solve(const Goals* goals);
  bool SolveCall(const CallPattern& pattern, const ir::Expr& expr, const Goals* rest);
  bool SolveAll(const std::vector<Pattern>& patterns, const std::vector<ir::Expr>& exprs,
                const Goals* rest);
  bool SolveUsedBy(const UsedByPattern& pattern, const ir::Expr& expr, const Goals* rest);
  bool SolveDominates(const DominatesPattern& pattern, const ir::Expr& expr, const Goals* rest);
  // Matches without leaving bindings.
  bool MatchesAlone(const Pattern& pattern, const ir::Expr& expr);
  std::optional<std::vector<ir::Expr>> WalkToParent(const DominatesPattern& pattern,
                                                    const ir::Expr& child);
  void Bind(const PatternNode* pattern, const ir::Expr& expr, bool is_matched);
  void Rewind(std::size_t bound, std::size_t matched);
  const UseMap& uses();
  // Whether what matched has the shapes that SameShapeAs asks for.
  bool ShapesAgree() const;

  ir::Expr scope_;
  std::optional<UseMap> uses_;
  Bindings bindings_;
  std::vector<const PatternNode*> trail_;
  // Comparisons that wait for the end of the match, and the first one of the match in progress.
  struct ShapeComparison {
    ir::Expr expr;
    Pattern other;
  };
  std::vector<ShapeComparison> comparisons_;
  std::size_t first_comparison_ = 0;
};

}  // namespace tenon::passes

#endif  // TENON_PASSES_PATTERN_PATTERN_MATCH_H_
