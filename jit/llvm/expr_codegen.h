// Scalar and vector expressions of loop/ to LLVM values. Only files inside jit/ include this
// header.
//
// An ExprCodegen emits at its builder's insertion point and knows the variables and buffers in
// scope. A node that occurs many times in one expression is emitted once, and so are indices,
// addresses and loads that occur in several (jit/llvm/reused_values.h), unless a store may come
// between them.
#ifndef TENON_JIT_LLVM_EXPR_CODEGEN_H_
#define TENON_JIT_LLVM_EXPR_CODEGEN_H_

#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "tenon/jit/llvm/codegen_options.h"
#include "tenon/jit/llvm/insertion_map.h"
#include "tenon/jit/llvm/reused_values.h"
#include "tenon/loop/index_arithmetic.h"
#include "tenon/loop/simplify/lanes.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"

namespace tenon::jit {

class ExprCodegen {
 public:
  // The options must outlive it; library functions are called at the width of their registers.
  ExprCodegen(llvm::Module& module, llvm::IRBuilder<>& builder, const CodegenOptions& options);

  llvm::Value* Emit(const loop::Expr& expr);
  void EmitStore(const loop::StoreNode& node, bool reassociate);

  void Define(const loop::Expr& var, llvm::Value* value) { vars_[var] = value; }
  void Define(const loop::Buffer& buffer, llvm::Value* address) { buffers_[buffer] = address; }
  // Says which values a loop's variable takes from here on.
  void Bound(const loop::Var& var, loop::Interval values) {
    bounds_.Bind(var, values);
    index_.Forget();
  }
  // Says what a variable stands for that is not a loop's.
  void StandsFor(const loop::Var& var, const loop::Expr& value) { index_.Define(var, value); }
  const loop::Bounds& bounds() const { return bounds_; }
  // From here on these buffers start with a line of memory, so that stores which StoresWholeLines
  // accepts are non-temporal.
  void StreamTo(std::vector<loop::Buffer> buffers) { streamed_ = std::move(buffers); }
  bool streams() const { return !streamed_.empty(); }

  // What was emitted in the function that is made now.
  ReusedValues& reused() { return reused_; }

  using Vars = InsertionMap<loop::Expr, llvm::Value*, loop::ExprHash, loop::ExprSame>;
  using Buffers = InsertionMap<loop::Buffer, llvm::Value*, loop::BufferHash>;
  Vars& vars() { return vars_; }
  Buffers& buffers() { return buffers_; }

  // LLVM's type of a value in a register and of an element in memory (bool is a byte there).
  llvm::Type* RegisterType(DataType type) const;
  llvm::Type* MemoryType(DataType type) const;

 private:
  using Emitted = std::unordered_map<loop::Expr, llvm::Value*, loop::ExprHash, loop::ExprSame>;

  llvm::Value* EmitShared(const loop::Expr& expr);
  llvm::Value* EmitNew(const loop::Expr& expr);
  llvm::Value* EmitBinary(const loop::BinaryNode& node);
  llvm::Value* EmitLanesByCount(const loop::BinaryNode& node);
  llvm::Value* EmitFusedSum(const loop::BinaryNode& node);
  llvm::Value* EmitFloatBinary(loop::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitIntBinary(const loop::BinaryNode& node, llvm::Value* a, llvm::Value* b);
  struct IntRules {
    bool is_signed, no_wrap, is_index_division;
  };
  llvm::Value* EmitIntOperation(loop::BinaryOp op, const IntRules& rules, llvm::Value* a,
                                llvm::Value* b);
  bool IsIndexDivision(const loop::BinaryNode& node);
  llvm::Value* EmitIntDivision(loop::BinaryOp op, bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitMinMax(bool is_min, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitCast(const loop::CastNode& node);
  llvm::Value* EmitRoundingCast(const loop::CastNode& node);
  llvm::Value* EmitLet(const loop::LetNode& node);
  bool IsZeroOutside(const loop::SelectNode& node);
  llvm::Value* EmitLazySelect(const loop::SelectNode& node);
  llvm::Value* EmitLoad(const loop::LoadNode& node);
  llvm::Value* EmitMaskedLoad(const loop::LoadNode& node, DataType type);
  llvm::Value* EmitUnderMask(const loop::Buffer& buffer, llvm::Value* base, DataType type,
                             llvm::Value* mask);
  llvm::Value* EmitGather(const loop::LoadNode& node, llvm::Value* index, llvm::Value* mask,
                          DataType type);  // mask null: all lanes
  llvm::Value* FirstLanes(int lanes);
  // Null where a gather is better; mask null: all lanes.
  llvm::Value* EmitNear(const loop::LoadNode& node, llvm::Value* mask, DataType type);
  llvm::Value* EmitRow(const loop::LoadNode& node, loop::LaneOffsets near, llvm::Value* mask,
                       DataType type);
  llvm::Value* EmitCall(const loop::CallNode& node);
  llvm::Value* EmitExponential(DataType type, llvm::Value* x);
  // Null if the target has no tables or the function has none.
  llvm::Value* EmitByTable(loop::Intrinsic intrinsic, DataType type, llvm::Value* x);
  llvm::Value* EmitPrefetch(const loop::CallNode& node);
  llvm::Value* EmitLibraryCall(std::string_view name, DataType type,
                               const std::vector<llvm::Value*>& args);
  llvm::Value* EmitExternCall(const loop::ExternCallNode& node);
  llvm::Value* EmitDot(const loop::CallNode& node);
  llvm::Value* EmitDotsOfWords(int lanes, const std::vector<llvm::Value*>& args);
  llvm::Value* EmitDotInstructions(bool bytes, int lanes, const std::vector<llvm::Value*>& args);
  llvm::Value* ElementAddress(const loop::Buffer& buffer, llvm::Value* index);
  // A load at an address without a mask.
  llvm::Value* LoadAt(const loop::Buffer& buffer, llvm::Value* address, int lanes);
  llvm::Value* Splat(llvm::Value* value, int lanes);
  void Annotate(llvm::Instruction* access, const loop::Buffer& buffer);
  // Convert between a 16-bit floating type and float32, in which its arithmetic runs.
  llvm::Value* Widen(llvm::Value* half, DataType type);
  llvm::Value* Narrow(llvm::Value* value, DataType type);
  struct FloatRange {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
  };
  // The range of the value of `e`, unless that is NaN. Looks `depth` operations deep.
  static FloatRange RangeOf(const loop::Expr& e, int depth);
  // Converts a vector of floats to integers of `type`, whose bounds the float type holds. Elements
  // are in the range or NaN. Saturates, and NaN becomes 0. Fractions are cut off, or rounded half
  // to even if `round`.
  llvm::Value* SaturateToInt(llvm::Value* value, DataType type, const FloatRange& range,
                             bool round);
  // The same from float32 to int32, cutting off fractions.
  llvm::Value* SaturateToInt32(llvm::Value* value, DataType type);
  llvm::Value* EmitConstant(DataType type, double value);
  llvm::Value* ToRegister(llvm::Value* loaded, DataType type);
  llvm::Value* ToMemory(llvm::Value* value, DataType type);

  llvm::Module& module_;
  llvm::IRBuilder<>& builder_;
  const CodegenOptions& options_;
  const loop::ExprNode* joining_ = nullptr;  // adds a term to a sum, in any order
  Vars vars_;
  Buffers buffers_;
  std::vector<loop::Buffer> streamed_;
  llvm::MDNode* alias_domain_;
  InsertionMap<loop::Buffer, llvm::MDNode*, loop::BufferHash> alias_scopes_;
  loop::Bounds bounds_;
  loop::IndexArithmetic index_{bounds_};
  std::vector<Emitted> emitted_;  // innermost branch last
  ReusedValues reused_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_EXPR_CODEGEN_H_
