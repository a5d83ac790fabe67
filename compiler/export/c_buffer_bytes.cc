// Sums and products wrap, so that no extent is undefined behaviour. What wraps fits no array.
#include "tenon/compiler/export/c_buffer_bytes.h"

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using loop::Expr;

class Writer {
 public:
  explicit Writer(const loop::Function& function) : function_(function) {}

  std::string Of(const Expr& e) const {
    if (const auto* number = e.As<loop::IntImmNode>())
      return StrCat("INT64_C(", number->value, ")");
    if (const auto* cast = e.As<loop::CastNode>()) return Of(cast->value);
    if (e.kind() == loop::ExprKind::kVar) return OfVariable(e);
    const auto* binary = e.As<loop::BinaryNode>();
    if (binary == nullptr) Refuse();
    const std::string a = Of(binary->a), b = Of(binary->b);
    switch (binary->op) {
      case loop::BinaryOp::kAdd:
        return Wrapping(a, "+", b);
      case loop::BinaryOp::kSub:
        return Wrapping(a, "-", b);
      case loop::BinaryOp::kMul:
        return Wrapping(a, "*", b);
      case loop::BinaryOp::kFloorDiv:
        return StrCat("(", a, " / ", b, " - (", a, " % ", b, " < 0))");
      case loop::BinaryOp::kMin:
        return StrCat("(", a, " < ", b, " ? ", a, " : ", b, ")");
      case loop::BinaryOp::kMax:
        return StrCat("(", a, " > ", b, " ? ", a, " : ", b, ")");
      default:
        Refuse();
    }
  }

 private:
  static std::string Wrapping(const std::string& a, const char* operation, const std::string& b) {
    return StrCat("(int64_t)((uint64_t)", a, " ", operation, " (uint64_t)", b, ")");
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
};

}  // namespace

std::string CBufferBytes(const loop::Function& function, const std::string& name) {
  const Writer writer(function);
  std::string text = StrCat("static void ", name,
                            "(const int64_t* extents, int64_t* bytes) {\n  (void)extents;\n");
  for (std::size_t i = 0; i < function.buffers.size(); ++i) {
    const loop::Buffer& buffer = function.buffers[i];
    StrAppend(&text, "  bytes[", i, "] = ", buffer->dtype.bytes(), ";\n");
    for (const Expr& extent : buffer->shape)
      StrAppend(&text, "  bytes[", i, "] = (int64_t)((uint64_t)bytes[", i, "] * (uint64_t)",
                writer.Of(extent), ");\n");
  }
  return text + "}\n";
}

}  // namespace tenon::compiler
