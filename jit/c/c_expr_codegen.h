// Scalar and vector expressions of loop/ to C expressions. Only files inside jit/ include this
// header.
//
// A vector is written one lane at a time. Its text is inside a loop over the lanes, whose counter
// is the `lane` given. What an expression needs first - values that it uses more than once, sides
// of a lazy selection - becomes declarations in `block`.
#ifndef TENON_JIT_C_C_EXPR_CODEGEN_H_
#define TENON_JIT_C_C_EXPR_CODEGEN_H_

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/jit/c/c_helpers.h"
#include "tenon/jit/c/c_text.h"
#include "tenon/loop/index_arithmetic.h"
#include "tenon/loop/visit.h"

namespace tenon::jit {

// Prototypes of external functions, by name.
using CPrototypes = std::map<std::string, std::string>;

class CExprCodegen {
 public:
  CExprCodegen(CNames& names, CHelpers& helpers, CPrototypes& externs)
      : names_(names), helpers_(helpers), externs_(externs) {}

  // `expr` as a value of CRegisterType.
  std::string Value(const loop::Expr& expr, CBlock& block, const std::string& lane = "");
  // `expr` as an element of memory: CMemoryType.
  std::string Element(const loop::Expr& expr, CBlock& block, const std::string& lane = "");

  // Gives a variable or a buffer a name of its own. A vector variable is an array of its lanes.
  std::string Name(const loop::Expr& var);
  std::string Name(const loop::Buffer& buffer);
  // Gives a variable that is declared again another name.
  void Rename(const loop::Var& var) { known_names_.erase(var.get()); }
  // Says what a variable stands for that is not a loop's.
  void StandsFor(const loop::Var& var, const loop::Expr& value) { index_.Define(var, value); }

 private:
  using Emitted = std::unordered_map<loop::Expr, std::string, loop::ExprHash, loop::ExprSame>;

  void Begin(const loop::Expr& expr, CBlock& block, const std::string& lane);
  // The rounded value, from a temporary when it is needed again.
  std::string Shared(const loop::Expr& expr);
  // The value before it is rounded to a 16-bit float.
  std::string Unrounded(const loop::Expr& expr);
  bool NeedsRounding(const loop::Expr& expr) const;
  // Whether the text of an int64 may be an int of C.
  bool MayBeInt(const loop::Expr& expr) const;
  std::string Rounded(const loop::Expr& expr, const std::string& text);
  std::string Binary(const loop::BinaryNode& node);
  std::string FloatBinary(const loop::BinaryNode& node, const std::string& a, const std::string& b);
  std::string IntBinary(const loop::BinaryNode& node, const std::string& a, const std::string& b);
  std::string BoolBinary(loop::BinaryOp op, const std::string& a, const std::string& b);
  std::string Cast(const loop::CastNode& node);
  std::string Ramp(const loop::Expr& ramp);
  std::string Let(const loop::LetNode& node);
  std::string Select(const loop::SelectNode& node);
  std::string Load(const loop::LoadNode& node);
  std::string Shuffle(const loop::ShuffleNode& node);
  // The name of an array with all lanes of a vector.
  std::string LaneArray(const loop::Expr& vector);
  std::string Call(const loop::CallNode& node);
  // `expr` in a lane other than the one that is being written.
  std::string AtLane(const loop::Expr& expr, const std::string& lane);
  std::string Dot(const loop::CallNode& node);
  std::string Reinterpret(DataType from, DataType to, const std::string& value);
  std::string ExternCall(const loop::ExternCallNode& node);

  CNames& names_;
  CHelpers& helpers_;
  CPrototypes& externs_;
  std::unordered_map<const void*, std::string> known_names_;
  loop::Bounds bounds_;  // of no variable: C needs no more than that indices are
  loop::IndexArithmetic index_{bounds_};
  // For the expression that is being written:
  CBlock* block_ = nullptr;
  std::string lane_;
  std::unordered_map<loop::Expr, int, loop::ExprHash, loop::ExprSame> uses_;
  std::vector<Emitted> emitted_;  // innermost branch last
};

}  // namespace tenon::jit

#endif  // TENON_JIT_C_C_EXPR_CODEGEN_H_
