// Values in other layouts, each made once. Only files inside passes/layout/ include this header.
//
//   Expr blocked = moves.Transform(value, "NCHW", "NCHW16c");
#ifndef TENON_PASSES_LAYOUT_LAYOUT_MOVES_H_
#define TENON_PASSES_LAYOUT_LAYOUT_MOVES_H_

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/passes/layout/placements.h"

namespace tenon::passes {

// A tensor that a call reads: its old value and type, and its new value.
struct Operand {
  ir::Type type;
  ir::Expr value;
  Placement placement;
};

class LayoutMoves {
 public:
  ir::Expr Transform(const ir::Expr& value, const std::string& from, const std::string& to);
  ir::Expr ToOld(const Operand& operand);
  // The operand, whose axes had the names `old`, in the wanted layout; nothing when it cannot be
  // cut that way.
  std::optional<ir::Expr> ToLayout(const Operand& operand, const std::string& old,
                                   const std::string& wanted);

 private:
  ir::Expr WithLeadingAxes(const ir::Expr& value, std::size_t count);

  struct Made {
    std::string from, to;
    ir::Expr value;
  };
  std::unordered_map<ir::Expr, std::vector<Made>, ir::ExprHash> made_;
  std::unordered_map<ir::Expr, std::unordered_map<std::size_t, ir::Expr>, ir::ExprHash> expanded_;
};

}  // namespace tenon::passes

#endif  // TENON_PASSES_LAYOUT_LAYOUT_MOVES_H_
