// Extents come from a file that may lie. A sum or product that overflows is noted, and so is an
// extent of 0 where code takes there to be one element at least: it may read the first. Then the
// size of each buffer becomes -1, which no array has.
#include "tenon/compiler/export/c_buffer_bytes.h"

#include <unordered_map>

#include "tenon/loop/visit.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using loop::Expr;

// Each operation becomes a variable of its own, once. Expressions may share parts at every level,
// and written out as trees they would grow beyond all bounds.
class Writer {
 public:
  explicit Writer(const loop::Function& function) : function_(function) {}

  // The name of the value, whose operations Definitions() has from then on.
  std::string Of(const Expr& e) {
    if (const auto known = names_.find(e); known != names_.end()) return known->second;
    return names_[e] = NewNameOf(e);
  }
  const std::string& Definitions() const { return definitions_; }

 private:
  std::string NewNameOf(const Expr& e) {
    if (const auto* number = e.As<loop::IntImmNode>())
      return StrCat("INT64_C(", number->value, ")");
    if (const auto* cast = e.As<loop::CastNode>()) return Of(cast->value);
    if (e.kind() == loop::ExprKind::kVar) return OfVariable(e);
    const auto* binary = e.As<loop::BinaryNode>();
    if (binary == nullptr) Refuse();
    const std::string a = Of(binary->a), b = Of(binary->b);
    switch (binary->op) {
      case loop::BinaryOp::kAdd:
        return Checked("add", a, b);
      case loop::BinaryOp::kSub:
        return Checked("sub", a, b);
      case loop::BinaryOp::kMul:
        return Checked("mul", a, b);
      case loop::BinaryOp::kFloorDiv:
        return Variable(StrCat(a, " / ", b, " - (", a, " % ", b, " < 0)"));
      case loop::BinaryOp::kMin:
        return Variable(StrCat(a, " < ", b, " ? ", a, " : ", b));
      case loop::BinaryOp::kMax:
        return Variable(StrCat(a, " > ", b, " ? ", a, " : ", b));
      default:
        Refuse();
    }
  }
  // Equal operations are one variable.
  std::string Variable(const std::string& value) {
    const auto [found, is_new] = variables_.try_emplace(value, StrCat("v", variables_.size()));
    if (is_new) StrAppend(&definitions_, "  const int64_t ", found->second, " = ", value, ";\n");
    return found->second;
  }
  std::string Checked(const char* operation, const std::string& a, const std::string& b) {
    const std::string call = StrCat("__builtin_", operation, "_overflow(", a, ", ", b, ", &");
    const auto [found, is_new] = variables_.try_emplace(call, StrCat("v", variables_.size()));
    if (is_new)
      StrAppend(&definitions_, "  int64_t ", found->second, ";\n  overflows |= ", call,
                found->second, ");\n");
    return found->second;
  }
  std::string OfVariable(const Expr& e) const {
    for (std::size_t i = 0; i < function_.scalars.size(); ++i) {
      if (function_.scalars[i].get() == e.get()) return StrCat("extents[", i, "]");
    }
    Refuse();
  }
  [[noreturn]] void Refuse() const {
    throw Unimplemented(StrCat("an extent of the kernel ", function_.name,
                               " is no sum, product, quotient, minimum or maximum"));
  }

  const loop::Function& function_;
  std::unordered_map<Expr, std::string, loop::ExprHash, loop::ExprSame> names_;
  std::unordered_map<std::string, std::string> variables_;
  std::string definitions_;
};

}  // namespace

std::string CBufferBytes(const loop::Function& function, const std::string& name) {
  Writer writer(function);
  std::string text;
  for (std::size_t i = 0; i < function.scalars.size(); ++i) {
    if (!strategies::MayBeZero(function.scalars[i].name()))
      StrAppend(&text, "  overflows |= extents[", i, "] < 1;\n");
  }
  for (std::size_t i = 0; i < function.buffers.size(); ++i) {
    const loop::Buffer& buffer = function.buffers[i];
    StrAppend(&text, "  bytes[", i, "] = ", buffer->dtype.bytes(), ";\n");
    for (const Expr& extent : buffer->shape)
      StrAppend(&text, "  overflows |= __builtin_mul_overflow(bytes[", i, "], ", writer.Of(extent),
                ", &bytes[", i, "]);\n");
  }
  return StrCat("static void ", name,
                "(const int64_t* extents, int64_t* bytes) {\n  (void)extents;\n"
                "  int overflows = 0;\n",
                writer.Definitions(), text, "  for (int i = 0; overflows && i < ",
                function.buffers.size(), "; ++i) bytes[i] = -1;\n}\n");
}

}  // namespace tenon::compiler
