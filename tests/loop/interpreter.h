// What int64 expressions and statements mean, one lane at a time: the yardstick for passes that
// must keep meanings. Division by 0 gives 0, as in kernels. Reads and writes outside a buffer
// throw.
#ifndef TENON_TESTS_LOOP_INTERPRETER_H_
#define TENON_TESTS_LOOP_INTERPRETER_H_

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "tenon/loop/print.h"
#include "tenon/loop/stmt.h"

namespace tenon::loop {

class Interpreter {
 public:
  using Lanes = std::vector<std::int64_t>;

  void Set(const Expr& var, std::int64_t value) { vars_[var] = {value}; }
  void Set(const Buffer& buffer, std::vector<std::int64_t> elements) {
    memory_[buffer.get()] = std::move(elements);
  }
  const std::vector<std::int64_t>& Of(const Buffer& buffer) { return memory_[buffer.get()]; }

  std::int64_t Value(const Expr& e) { return Eval(e).at(0); }

  Lanes Eval(const Expr& e) {
    const auto lanes = static_cast<std::size_t>(e.dtype().lanes());
    switch (e.kind()) {
      case ExprKind::kIntImm:
        return {e.As<IntImmNode>()->value};
      case ExprKind::kVar:
        return vars_.at(e);
      case ExprKind::kCast:
        return Eval(e.As<CastNode>()->value);
      case ExprKind::kBinary: {
        const auto& n = *e.As<BinaryNode>();
        const Lanes a = Eval(n.a), b = Eval(n.b);
        Lanes result;
        for (std::size_t i = 0; i < a.size(); ++i) result.push_back(Apply(n.op, a[i], b[i]));
        return result;
      }
      case ExprKind::kNot: {
        Lanes result = Eval(e.As<NotNode>()->a);
        for (std::int64_t& value : result) value = value == 0;
        return result;
      }
      case ExprKind::kSelect: {
        const auto& n = *e.As<SelectNode>();
        const Lanes condition = Eval(n.condition);
        if (n.lazy && condition.size() == 1)
          return Eval(condition[0] != 0 ? n.on_true : n.on_false);
        const Lanes a = Eval(n.on_true), b = Eval(n.on_false);
        Lanes result;
        for (std::size_t i = 0; i < lanes; ++i)
          result.push_back(condition[condition.size() == 1 ? 0 : i] != 0 ? a[i] : b[i]);
        return result;
      }
      case ExprKind::kLoad: {
        const auto& n = *e.As<LoadNode>();
        const Lanes active = n.predicate.defined() ? Eval(n.predicate) : Lanes(lanes, 1);
        const auto offsets = Offsets(n.buffer, n.indices, active);
        Lanes result;
        for (std::size_t i = 0; i < lanes; ++i)
          result.push_back(active[i] != 0 ? memory_.at(n.buffer.get()).at(offsets[i]) : 0);
        return result;
      }
      case ExprKind::kRamp: {
        const std::int64_t base = Value(e.As<RampNode>()->base),
                           stride = Value(e.As<RampNode>()->stride);
        Lanes result;
        for (std::size_t i = 0; i < lanes; ++i)
          result.push_back(base + stride * static_cast<std::int64_t>(i));
        return result;
      }
      case ExprKind::kBroadcast:
        return Lanes(lanes, Value(e.As<BroadcastNode>()->value));
      case ExprKind::kShuffle: {
        const auto& n = *e.As<ShuffleNode>();
        Lanes both = Eval(n.a), result;
        const Lanes second = Eval(n.b);
        both.insert(both.end(), second.begin(), second.end());
        for (const int lane : n.lanes) result.push_back(both.at(static_cast<std::size_t>(lane)));
        return result;
      }
      case ExprKind::kLet:
        Set(e.As<LetNode>()->var, Value(e.As<LetNode>()->value));
        return Eval(e.As<LetNode>()->body);
      case ExprKind::kCall:
        if (IsPrefetch(e.As<CallNode>()->intrinsic)) return {0};  // of places that may not exist
        if (e.As<CallNode>()->intrinsic == Intrinsic::kOpaque)
          return Eval(e.As<CallNode>()->args[0]);
        break;
      case ExprKind::kFloatImm:
      case ExprKind::kExternCall:
      case ExprKind::kAddress:
        break;
    }
    throw std::invalid_argument("the interpreter does not know " + Print(e));
  }

  void Execute(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::kFor: {
        const auto& n = *stmt.As<ForNode>();
        const std::int64_t min = Value(n.min), extent = Value(n.extent);
        for (std::int64_t i = 0; i < extent; ++i) {
          Set(n.var, min + i);
          Execute(n.body);
        }
        return;
      }
      case StmtKind::kStore: {
        const auto& n = *stmt.As<StoreNode>();
        const Lanes values = Eval(n.value);
        const Lanes active = n.predicate.defined() ? Eval(n.predicate) : Lanes(values.size(), 1);
        const auto offsets = Offsets(n.buffer, n.indices, active);
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (active[i] != 0) memory_.at(n.buffer.get()).at(offsets[i]) = values[i];
        }
        return;
      }
      case StmtKind::kSeq:
        for (const Stmt& part : stmt.As<SeqNode>()->stmts) Execute(part);
        return;
      case StmtKind::kIf: {
        const auto& n = *stmt.As<IfNode>();
        if (Value(n.condition) != 0) {
          Execute(n.then_case);
        } else if (n.else_case) {
          Execute(n.else_case);
        }
        return;
      }
      case StmtKind::kAllocate: {
        const auto& n = *stmt.As<AllocateNode>();
        std::int64_t size = 1;
        for (const Expr& extent : n.buffer->shape) size *= Value(extent);
        Set(n.buffer, std::vector<std::int64_t>(static_cast<std::size_t>(size), -777));
        Execute(n.body);
        return;
      }
      case StmtKind::kLet:
        vars_[stmt.As<LetStmtNode>()->var] = Eval(stmt.As<LetStmtNode>()->value);
        Execute(stmt.As<LetStmtNode>()->body);
        return;
      case StmtKind::kEvaluate:
        Eval(stmt.As<EvaluateNode>()->value);
        return;
    }
  }

 private:
  static std::int64_t FloorDivide(std::int64_t a, std::int64_t b) {
    return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
  }

  static std::int64_t Apply(BinaryOp op, std::int64_t a, std::int64_t b) {
    switch (op) {
      case BinaryOp::kAdd:
        return a + b;
      case BinaryOp::kSub:
        return a - b;
      case BinaryOp::kMul:
        return a * b;
      case BinaryOp::kDiv:
        return b == 0 ? 0 : a / b;
      case BinaryOp::kMod:
        return b == 0 ? 0 : a % b;
      case BinaryOp::kFloorDiv:
        return b == 0 ? 0 : FloorDivide(a, b);
      case BinaryOp::kFloorMod:
        return b == 0 ? 0 : a - FloorDivide(a, b) * b;
      case BinaryOp::kMin:
        return std::min(a, b);
      case BinaryOp::kMax:
        return std::max(a, b);
      case BinaryOp::kEQ:
        return a == b;
      case BinaryOp::kNE:
        return a != b;
      case BinaryOp::kLT:
        return a < b;
      case BinaryOp::kLE:
        return a <= b;
      case BinaryOp::kGT:
        return a > b;
      case BinaryOp::kGE:
        return a >= b;
      case BinaryOp::kAnd:
      case BinaryOp::kBitAnd:
        return a & b;
      case BinaryOp::kOr:
      case BinaryOp::kBitOr:
        return a | b;
      case BinaryOp::kBitXor:
        return a ^ b;
      case BinaryOp::kShl:
        return a << (b & 63);
      case BinaryOp::kShr:
        return a >> (b & 63);
    }
    throw std::invalid_argument("the switch over binary operations is exhaustive");
  }

  // Of the lanes that are active.
  std::vector<std::size_t> Offsets(const Buffer& buffer, const std::vector<Expr>& indices,
                                   const Lanes& active) {
    const std::size_t lanes = active.size();
    std::vector<std::size_t> offsets(lanes, 0);
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const std::int64_t extent = indices.size() == buffer->shape.size()
                                      ? Value(buffer->shape[d])
                                      : static_cast<std::int64_t>(memory_.at(buffer.get()).size());
      const Lanes index = Eval(indices[d]);
      for (std::size_t i = 0; i < lanes; ++i) {
        if (active[i] == 0) continue;
        const std::int64_t at = index[index.size() == 1 ? 0 : i];
        if (at < 0 || (indices.size() > 1 && at >= extent))
          throw std::out_of_range(buffer->name + " has no such element");
        offsets[i] = offsets[i] * static_cast<std::size_t>(indices.size() > 1 ? extent : 1) +
                     static_cast<std::size_t>(at);
      }
    }
    return offsets;
  }

  std::unordered_map<Expr, Lanes, ExprHash, ExprSame> vars_;
  std::unordered_map<const BufferNode*, std::vector<std::int64_t>> memory_;
};

}  // namespace tenon::loop

#endif  // TENON_TESTS_LOOP_INTERPRETER_H_
