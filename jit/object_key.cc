// Writes the function as a sequence of bytes that can be read back unambiguously (every list and
// text after its length, every node after its kind) and hashes it with BLAKE3.
#include "tenon/jit/object_key.h"

#include <bit>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "tenon/jit/extern_symbols.h"
#include "tenon/support/error.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using loop::ExprKind;
using loop::Stmt;
using loop::StmtKind;

class KeyWriter {
 public:
  void Text(std::string_view text) {
    Int(static_cast<std::int64_t>(text.size()));
    bytes_.append(text);
  }

  void Function(const loop::Function& function) {
    Text(function.name);
    Int(static_cast<std::int64_t>(function.buffers.size()));
    for (const loop::Buffer& buffer : function.buffers) Buffer(buffer);
    List(std::vector<Expr>(function.scalars.begin(), function.scalars.end()));
    Statement(function.body);
  }

  void Options(const CodegenOptions& options) {
    const auto& [vector_bits, native_bfloat16, reassociate, byte_dots, bfloat_dots, narrow_dots] =
        options;
    Int(vector_bits);
    for (const bool flag : {native_bfloat16, reassociate, byte_dots, bfloat_dots, narrow_dots})
      Int(static_cast<std::int64_t>(flag));
  }

  std::string Hash() const {
    const auto hash = llvm::BLAKE3::hash(
        llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size()));
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : hash) {
      text += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    }
    return text;
  }

 private:
  void Int(std::int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <typename Enum>
  void Kind(Enum kind) {
    Int(static_cast<std::int64_t>(kind));
  }
  void Type(DataType type) {
    Kind(type.code());
    Int(type.bits());
    Int(type.lanes());
  }
  void List(const std::vector<Expr>& exprs) {
    Int(static_cast<std::int64_t>(exprs.size()));
    for (const Expr& e : exprs) Expression(e);
  }
  void Ints(const std::vector<int>& values) {
    Int(static_cast<std::int64_t>(values.size()));
    for (const int value : values) Int(value);
  }

  // Writes the number of a node; whether it is a new one, whose content must follow.
  bool IsNew(const void* node) {
    const auto [entry, is_new] = numbers_.emplace(node, static_cast<std::int64_t>(numbers_.size()));
    Int(entry->second);
    return is_new;
  }

  void Buffer(const loop::Buffer& buffer) {
    if (!IsNew(buffer.get())) return;
    Text(buffer->name);
    Type(buffer->dtype);
    Kind(buffer->memory);
    List(buffer->shape);
  }

  void Callee(const loop::ExternFunction& callee) {
    Text(LinkSymbol(callee));
    Kind(callee->effect);
    Type(callee->result);
    Int(static_cast<std::int64_t>(callee->parameters.size()));
    for (const auto& parameter : callee->parameters) {
      Type(parameter.type);
      Type(parameter.pointee);
    }
  }

  void Expression(const Expr& e) {
    if (!e.defined()) return Int(-1);
    if (!IsNew(e.get())) return;
    Kind(e.kind());
    Type(e.dtype());
    switch (e.kind()) {
      case ExprKind::kIntImm:
        return Int(e.As<loop::IntImmNode>()->value);
      case ExprKind::kFloatImm:
        return Int(std::bit_cast<std::int64_t>(e.As<loop::FloatImmNode>()->value));
      case ExprKind::kVar:
        return Text(e.As<loop::VarNode>()->name);
      case ExprKind::kCast:
        return Expression(e.As<loop::CastNode>()->value);
      case ExprKind::kBinary: {
        const auto& node = *e.As<loop::BinaryNode>();
        Kind(node.op);
        Expression(node.a);
        return Expression(node.b);
      }
      case ExprKind::kNot:
        return Expression(e.As<loop::NotNode>()->a);
      case ExprKind::kSelect: {
        const auto& node = *e.As<loop::SelectNode>();
        Int(static_cast<std::int64_t>(node.lazy));
        Expression(node.condition);
        Expression(node.on_true);
        return Expression(node.on_false);
      }
      case ExprKind::kLoad: {
        const auto& node = *e.As<loop::LoadNode>();
        Buffer(node.buffer);
        List(node.indices);
        return Expression(node.predicate);
      }
      case ExprKind::kCall: {
        const auto& node = *e.As<loop::CallNode>();
        Kind(node.intrinsic);
        return List(node.args);
      }
      case ExprKind::kExternCall: {
        const auto& node = *e.As<loop::ExternCallNode>();
        Callee(node.callee);
        return List(node.args);
      }
      case ExprKind::kAddress: {
        const auto& node = *e.As<loop::AddressNode>();
        Buffer(node.buffer);
        List(node.indices);
        return List(node.extents);
      }
      case ExprKind::kRamp: {
        const auto& node = *e.As<loop::RampNode>();
        Expression(node.base);
        return Expression(node.stride);
      }
      case ExprKind::kBroadcast:
        return Expression(e.As<loop::BroadcastNode>()->value);
      case ExprKind::kShuffle: {
        const auto& node = *e.As<loop::ShuffleNode>();
        Ints(node.lanes);
        Expression(node.a);
        return Expression(node.b);
      }
      case ExprKind::kLet: {
        const auto& node = *e.As<loop::LetNode>();
        Expression(node.var);
        Expression(node.value);
        return Expression(node.body);
      }
    }
    Unreachable("the switch over expression kinds is exhaustive");
  }

  void Statement(const Stmt& stmt) {
    if (!stmt) return Int(-1);
    Kind(stmt.kind());
    switch (stmt.kind()) {
      case StmtKind::kFor: {
        const auto& node = *stmt.As<loop::ForNode>();
        Kind(node.for_kind);
        Expression(node.var);
        Expression(node.min);
        Expression(node.extent);
        return Statement(node.body);
      }
      case StmtKind::kStore: {
        const auto& node = *stmt.As<loop::StoreNode>();
        Buffer(node.buffer);
        Expression(node.value);
        List(node.indices);
        Int(static_cast<std::int64_t>(node.store_kind));
        return Expression(node.predicate);
      }
      case StmtKind::kSeq: {
        const auto& node = *stmt.As<loop::SeqNode>();
        Int(static_cast<std::int64_t>(node.stmts.size()));
        for (const Stmt& part : node.stmts) Statement(part);
        return;
      }
      case StmtKind::kIf: {
        const auto& node = *stmt.As<loop::IfNode>();
        Expression(node.condition);
        Statement(node.then_case);
        return Statement(node.else_case);
      }
      case StmtKind::kAllocate:
        Buffer(stmt.As<loop::AllocateNode>()->buffer);
        return Statement(stmt.As<loop::AllocateNode>()->body);
      case StmtKind::kLet: {
        const auto& node = *stmt.As<loop::LetStmtNode>();
        Expression(node.var);
        Expression(node.value);
        return Statement(node.body);
      }
      case StmtKind::kEvaluate:
        return Expression(stmt.As<loop::EvaluateNode>()->value);
    }
    Unreachable("the switch over statement kinds is exhaustive");
  }

  std::string bytes_;
  std::unordered_map<const void*, std::int64_t> numbers_;
};

}  // namespace

const char* LlvmVersion() { return LLVM_VERSION_STRING; }

std::string ObjectKey(const loop::Function& function, const KeyContext& context) {
  KeyWriter writer;
  writer.Text(context.generator);
  writer.Text(context.llvm_version);
  writer.Text(context.cpu_features);
  writer.Options(context.codegen);
  writer.Function(function);
  return writer.Hash();
}

}  // namespace tenon::jit
