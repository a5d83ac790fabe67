#include "tenon/loop/content.h"

#include <bit>
#include <cmath>
#include <utility>

#include "tenon/loop/visit.h"
#include "tenon/support/error.h"

namespace tenon::loop {
namespace {

constexpr std::int64_t kMinLeftOut = 2;
// Code takes a number that it is given for an index, which is as small as memory is: sums and
// products with it do not wrap around (loop/index_arithmetic.h). Greater ones are data.
constexpr std::int64_t kMaxLeftOut = std::int64_t{1} << 40;

// LLVM unrolls innermost loops of fewer rounds.
bool IsExecutedAsLoop(const ForNode& loop) {
  constexpr std::int64_t kMinRounds = 16;
  const auto* extent = loop.extent.As<IntImmNode>();
  bool is_long = extent == nullptr || extent->value >= kMinRounds;
  VisitStmts(loop.body,
             [&](const Stmt& inside) { is_long = is_long || inside.kind() == StmtKind::kFor; });
  return loop.for_kind == ForKind::kParallel || (loop.for_kind == ForKind::kSerial && is_long);
}

bool MayBeLeftOut(const IntImmNode& number) {
  return number.type == Int64 && number.value >= kMinLeftOut && number.value <= kMaxLeftOut;
}
// Products and sums with these numbers are simplified.
bool MayBeLeftOut(const FloatImmNode& number) {
  return number.type == Float32 && number.value != 0 && std::abs(number.value) != 1;
}

}  // namespace

void ContentWriter::Int(std::int64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void ContentWriter::Text(std::string_view text) {
  Int(static_cast<std::int64_t>(text.size()));
  bytes_.append(text);
}

void ContentWriter::Type(DataType type) {
  Kind(type.code());
  Int(type.bits());
  Int(type.lanes());
}

void ContentWriter::Expressions(const std::vector<Expr>& exprs) {
  Int(static_cast<std::int64_t>(exprs.size()));
  for (const Expr& e : exprs) Expression(e);
}

void ContentWriter::Ints(const std::vector<int>& values) {
  Int(static_cast<std::int64_t>(values.size()));
  for (const int value : values) Int(value);
}

bool ContentWriter::IsNew(const void* node) {
  const auto [entry, is_new] = numbers_.emplace(node, static_cast<std::int64_t>(numbers_.size()));
  Int(entry->second);
  return is_new;
}

void ContentWriter::Buffer(const loop::Buffer& buffer) {
  if (!IsNew(buffer.get())) return;
  Text(buffer->name);
  Type(buffer->dtype);
  Kind(buffer->memory);
  Expressions(buffer->shape);
}

void ContentWriter::Callee(const ExternFunction& callee) {
  Text(callee->symbol);
  Int(callee->address == nullptr ? 0 : 1);
  Kind(callee->effect);
  Type(callee->result);
  Int(static_cast<std::int64_t>(callee->parameters.size()));
  for (const auto& parameter : callee->parameters) {
    Type(parameter.type);
    Type(parameter.pointee);
  }
}

void ContentWriter::Whole(const Expr& expr) {
  std::vector<Expr>* const left_out = std::exchange(left_out_, nullptr);
  if (const auto* number = expr.As<IntImmNode>()) Int(number->value);
  Expression(expr);
  left_out_ = left_out;
}

void ContentWriter::Expression(const Expr& e) {
  if (!e.defined()) return Int(-1);
  if (!IsNew(e.get())) return;
  Kind(e.kind());
  Type(e.dtype());
  switch (e.kind()) {
    case ExprKind::kIntImm:
      if (left_out_ != nullptr && MayBeLeftOut(*e.As<IntImmNode>())) {
        left_out_->push_back(e);
        return;
      }
      return Int(e.As<IntImmNode>()->value);
    case ExprKind::kFloatImm:
      if (left_out_ != nullptr && MayBeLeftOut(*e.As<FloatImmNode>())) {
        left_out_->push_back(e);
        return;
      }
      return Int(std::bit_cast<std::int64_t>(e.As<FloatImmNode>()->value));
    case ExprKind::kVar:
      return Text(e.As<VarNode>()->name);
    case ExprKind::kCast:
      return Expression(e.As<CastNode>()->value);
    case ExprKind::kBinary: {
      const auto& node = *e.As<BinaryNode>();
      Kind(node.op);
      Expression(node.a);
      return Expression(node.b);
    }
    case ExprKind::kNot:
      return Expression(e.As<NotNode>()->a);
    case ExprKind::kSelect: {
      const auto& node = *e.As<SelectNode>();
      Int(static_cast<std::int64_t>(node.lazy));
      Expression(node.condition);
      Expression(node.on_true);
      return Expression(node.on_false);
    }
    case ExprKind::kLoad: {
      const auto& node = *e.As<LoadNode>();
      Buffer(node.buffer);
      Expressions(node.indices);
      return Expression(node.predicate);
    }
    case ExprKind::kCall: {
      const auto& node = *e.As<CallNode>();
      Kind(node.intrinsic);
      return Expressions(node.args);
    }
    case ExprKind::kExternCall: {
      const auto& node = *e.As<ExternCallNode>();
      Callee(node.callee);
      return Expressions(node.args);
    }
    case ExprKind::kAddress: {
      const auto& node = *e.As<AddressNode>();
      Buffer(node.buffer);
      Expressions(node.indices);
      return Expressions(node.extents);
    }
    case ExprKind::kRamp: {
      const auto& node = *e.As<RampNode>();
      Expression(node.base);
      return Whole(node.stride);
    }
    case ExprKind::kBroadcast:
      return Expression(e.As<BroadcastNode>()->value);
    case ExprKind::kShuffle: {
      const auto& node = *e.As<ShuffleNode>();
      Ints(node.lanes);
      Expression(node.a);
      return Expression(node.b);
    }
    case ExprKind::kLet: {
      const auto& node = *e.As<LetNode>();
      Expression(node.var);
      Expression(node.value);
      return Expression(node.body);
    }
  }
  Unreachable("the switch over expression kinds is exhaustive");
}

void ContentWriter::Statement(const Stmt& stmt) {
  if (!stmt) return Int(-1);
  Kind(stmt.kind());
  switch (stmt.kind()) {
    case StmtKind::kFor: {
      const auto& node = *stmt.As<ForNode>();
      Kind(node.for_kind);
      Expression(node.var);
      const bool is_loop = IsExecutedAsLoop(node);
      is_loop ? Expression(node.min) : Whole(node.min);
      is_loop ? Expression(node.extent) : Whole(node.extent);
      return Statement(node.body);
    }
    case StmtKind::kStore: {
      const auto& node = *stmt.As<StoreNode>();
      Buffer(node.buffer);
      Expression(node.value);
      Expressions(node.indices);
      Int(static_cast<std::int64_t>(node.store_kind));
      return Expression(node.predicate);
    }
    case StmtKind::kSeq: {
      const auto& node = *stmt.As<SeqNode>();
      Int(static_cast<std::int64_t>(node.stmts.size()));
      for (const Stmt& part : node.stmts) Statement(part);
      return;
    }
    case StmtKind::kIf: {
      const auto& node = *stmt.As<IfNode>();
      Expression(node.condition);
      Statement(node.then_case);
      return Statement(node.else_case);
    }
    case StmtKind::kAllocate: {
      // Memory of constant size may be on the stack.
      const auto& node = *stmt.As<AllocateNode>();
      if (ConstantElements(node.buffer)) {
        for (const Expr& extent : node.buffer->shape) Whole(extent);
      }
      Buffer(node.buffer);
      return Statement(node.body);
    }
    case StmtKind::kLet: {
      const auto& node = *stmt.As<LetStmtNode>();
      Expression(node.var);
      Expression(node.value);
      return Statement(node.body);
    }
    case StmtKind::kEvaluate:
      return Expression(stmt.As<EvaluateNode>()->value);
  }
  Unreachable("the switch over statement kinds is exhaustive");
}

void ContentWriter::Signature(const Function& function) {
  Int(static_cast<std::int64_t>(function.buffers.size()));
  for (const loop::Buffer& buffer : function.buffers) Buffer(buffer);
  Expressions({function.scalars.begin(), function.scalars.end()});
}

void ContentWriter::Program(const Function& function) {
  Signature(function);
  Statement(function.body);
}

std::string ContentOf(const Function& function) {
  ContentWriter writer;
  writer.Program(function);
  return writer.bytes();
}

}  // namespace tenon::loop
