// Loops of which only a run knows the count: a function that calls itself last.
//
//   def @loop(%i, %state, %around) { if (more) { @loop(next ...) } else { (%i, %state) } }
//
// The state may have extents that turns change: variables of the function, to which each call gives
// values. The results have others in their place.
#ifndef TENON_ONNX_CONVERT_LOOP_FUNCTION_H_
#define TENON_ONNX_CONVERT_LOOP_FUNCTION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

using ir::Expr;

// Loops of more turns become functions where they can. A turn of these costs about a microsecond,
// an unrolled one a kernel and the time to compile it.
inline constexpr std::int64_t kUnrolledTurns = 16;

// The functions that the import of a model makes, besides @main.
class LoopFunctions {
 public:
  // A name that no other function has: "loop_<hint>" in the letters that names may have.
  std::string Reserve(const std::string& hint);
  // A changed copy of a loop, for as long as the import goes on. Throws Unimplemented where copies
  // get large.
  const onnx::NodeProto& Keep(onnx::NodeProto loop);
  void Add(const std::string& name, const Expr& function) { all_.emplace_back(name, function); }
  const std::vector<std::pair<std::string, Expr>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, Expr>> all_;
  std::unordered_set<std::string> names_ = {"main"};
  std::deque<onnx::NodeProto> kept_;
  std::size_t kept_bytes_ = 0;
};

// The values of a loop, before a turn or after it.
using LoopState = std::vector<Expr>;

struct LoopParts {
  LoopState variables;  // the state that a turn begins with
  LoopState initial;    // typed as the variables
  LoopState next;       // over the variables: the state after a turn
  Expr goes_on;         // over the variables: whether a turn runs, a bool without axes
  // Variables of extents of `variables` that turns change.
  std::vector<std::string> open = {};
  // Values that are computed once before the loop, besides those that have names in the graphs.
  std::vector<Expr> around = {};

  // Adds a value to the state.
  void Carry(const Expr& variable, const Expr& value, const Expr& after);
  // Adds an array of `count` elements, of which a turn writes the one at `place`.
  void CarryBuffer(const Node& node, const Dim& count, const Expr& place, const Expr& element);
  // Adds an array of which each turn writes the element at `number`, that of the turn. It is made
  // larger where the turns are more than its elements.
  void CarryList(const Node& node, const Expr& number, const Expr& element);
};

struct MadeLoop {
  LoopState final_state;
  // Whether the loop reads nothing that a run gives.
  bool is_constant = false;
};

// A variable of the loop's state, typed as given or as its first value.
Expr LoopVariable(const Node& node, const ir::Type& type);
Expr LoopVariable(const Node& node, const Expr& value);
// How many elements an array has along an axis, and the place of the last: constants, or values
// that follow from its extents.
struct StepNumbers {
  StepNumbers(const Node& node, const Dim& steps, const Expr& array, std::int64_t axis);
  Expr count, last;
};
// Values around the loop become arguments, constants excepted. All parts are typed. Throws
// Unimplemented for a value whose type a turn changes, except in open extents, and for one whose
// extents are not known at import.
MadeLoop MakeLoop(const Node& node, const LoopParts& parts);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_LOOP_FUNCTION_H_
