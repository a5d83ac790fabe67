#include "tenon/loop/print.h"

#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// An expression that shares its parts may have a text far longer than itself.
constexpr int kMaxNodes = 20000;
// The text of a deep expression says little, and printing it takes much of the stack.
constexpr int kMaxDepth = 500;

class Printer {
 public:
  std::string Text(const Expr& e) {
    if (depth_ == 0) left_ = kMaxNodes;
    if (left_ == 0 || depth_ == kMaxDepth) return "...";
    --left_;
    ++depth_;
    std::string text = WholeText(e);
    --depth_;
    return text;
  }

  std::string WholeText(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kIntImm: {
        const std::int64_t value = e.As<IntImmNode>()->value;
        if (e.dtype().is_bool()) return value != 0 ? "true" : "false";
        return e.dtype() == Int64 ? StrCat(value)
                                  : StrCat(value, e.dtype().is_int() ? "i" : "u", e.dtype().bits());
      }
      case ExprKind::kFloatImm: {
        const double value = e.As<FloatImmNode>()->value;
        if (e.dtype() == Float32) return StrCat(FormatShortest(static_cast<float>(value)), "f");
        return StrCat(FormatShortest(value), e.dtype() == Float64   ? ""
                                             : e.dtype() == Float16 ? "h"
                                                                    : "bf");
      }
      case ExprKind::kVar:
        return Name(e.get(), e.As<VarNode>()->name);
      case ExprKind::kCast:
        return InOrder({e.dtype().ToString(), "(", Text(e.As<CastNode>()->value), ")"});
      case ExprKind::kBinary: {
        const auto& n = *e.As<BinaryNode>();
        const std::string op = ToString(n.op);
        const bool is_word = op[0] >= 'a' && op[0] <= 'z';
        if (is_word) return InOrder({op, "(", Text(n.a), ", ", Text(n.b), ")"});
        return InOrder({"(", Text(n.a), " ", op, " ", Text(n.b), ")"});
      }
      case ExprKind::kNot:
        return StrCat("!", Text(e.As<NotNode>()->a));
      case ExprKind::kSelect: {
        const auto& n = *e.As<SelectNode>();
        return InOrder({n.lazy ? "if_then_else(" : "select(", Text(n.condition), ", ",
                        Text(n.on_true), ", ", Text(n.on_false), ")"});
      }
      case ExprKind::kLoad:
        return InOrder({Name(e.As<LoadNode>()->buffer), "[", List(e.As<LoadNode>()->indices),
                        Where(e.As<LoadNode>()->predicate), "]"});
      case ExprKind::kCall: {
        const auto& n = *e.As<CallNode>();
        const std::string type =
            n.intrinsic == Intrinsic::kReinterpret ? StrCat("<", n.type.ToString(), ">") : "";
        return StrCat(ToString(n.intrinsic), type, "(", List(n.args), ")");
      }
      case ExprKind::kExternCall:
        return StrCat("@", e.As<ExternCallNode>()->callee->symbol, "(",
                      List(e.As<ExternCallNode>()->args), ")");
      case ExprKind::kAddress:
        return InOrder(
            {"&", Name(e.As<AddressNode>()->buffer), "[", List(e.As<AddressNode>()->indices), "]"});
      case ExprKind::kRamp: {
        const auto& n = *e.As<RampNode>();
        return InOrder({"ramp(", Text(n.base), ", ", Text(n.stride), ", ", StrCat(n.lanes), ")"});
      }
      case ExprKind::kBroadcast:
        return StrCat("x", e.As<BroadcastNode>()->lanes, "(", Text(e.As<BroadcastNode>()->value),
                      ")");
      case ExprKind::kShuffle: {
        const auto& n = *e.As<ShuffleNode>();
        return InOrder(
            {"shuffle(", Text(n.a), ", ", Text(n.b), ", [", StrJoin(n.lanes, " "), "])"});
      }
      case ExprKind::kLet: {
        const auto& n = *e.As<LetNode>();
        return InOrder({"let ", Text(n.var), " = ", Text(n.value), " in ", Text(n.body)});
      }
    }
    return "?";
  }

  void Append(const Stmt& stmt, int depth) {
    const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
    switch (stmt.kind()) {
      case StmtKind::kFor: {
        const auto& n = *stmt.As<ForNode>();
        out_ += InOrder({indent, ToString(n.for_kind), " ", Text(n.var), " in [", Text(n.min), ", ",
                         Text(n.min + n.extent), ") {\n"});
        Append(n.body, depth + 1);
        StrAppend(&out_, indent, "}\n");
        return;
      }
      case StmtKind::kStore: {
        const auto& n = *stmt.As<StoreNode>();
        out_ += InOrder({indent, Name(n.buffer), "[", List(n.indices), "] = ", Text(n.value),
                         Where(n.predicate),
                         n.store_kind == StoreKind::kStreaming ? " non-temporal" : "", "\n"});
        return;
      }
      case StmtKind::kSeq:
        for (const Stmt& part : stmt.As<SeqNode>()->stmts) Append(part, depth);
        return;
      case StmtKind::kIf: {
        const auto& n = *stmt.As<IfNode>();
        StrAppend(&out_, indent, "if ", Text(n.condition), " {\n");
        Append(n.then_case, depth + 1);
        if (n.else_case) {
          StrAppend(&out_, indent, "} else {\n");
          Append(n.else_case, depth + 1);
        }
        StrAppend(&out_, indent, "}\n");
        return;
      }
      case StmtKind::kAllocate: {
        const auto& n = *stmt.As<AllocateNode>();
        StrAppend(&out_, indent, "allocate ", Declare(n.buffer),
                  n.buffer->memory == Memory::kStack ? " on the stack\n" : "\n");
        Append(n.body, depth);
        return;
      }
      case StmtKind::kLet: {
        const auto& n = *stmt.As<LetStmtNode>();
        out_ += InOrder({indent, "let ", Text(n.var), " = ", Text(n.value), "\n"});
        Append(n.body, depth);
        return;
      }
      case StmtKind::kEvaluate:
        StrAppend(&out_, indent, Text(stmt.As<EvaluateNode>()->value), "\n");
        return;
    }
  }

  std::string Declare(const Buffer& buffer) {
    return InOrder({Name(buffer), ": ", buffer->dtype.ToString(), "[", List(buffer->shape), "]"});
  }

  std::string out_;

 private:
  std::string Where(const Expr& predicate) {
    return predicate.defined() ? StrCat(" where ", Text(predicate)) : "";
  }

  std::string List(const std::vector<Expr>& exprs) {
    return StrJoin(exprs, ", ", [&](std::string* text, const Expr& e) { *text += Text(e); });
  }

  // Names are numbered as they are asked for. Unlike arguments, the elements of a braced list are
  // computed from left to right.
  static std::string InOrder(std::initializer_list<std::string> parts) {
    return StrJoin(parts, "", [](std::string* text, const std::string& part) { *text += part; });
  }

  const std::string& Name(const Buffer& buffer) { return Name(buffer.get(), buffer->name); }
  const std::string& Name(const void* node, const std::string& hint) {
    std::string& name = names_[node];
    if (name.empty()) {
      name = hint;
      for (int i = 1; !taken_.insert(name).second; ++i) name = StrCat(hint, "_", i);
    }
    return name;
  }

  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> taken_;
  int left_ = 0;   // nodes that the expression may still print
  int depth_ = 0;  // of nodes within each other
};

}  // namespace

std::string Print(const Expr& expr) { return Printer().Text(expr); }

std::string Print(const Stmt& stmt) {
  Printer printer;
  printer.Append(stmt, 0);
  return printer.out_;
}

std::string Print(const Function& function) {
  Printer printer;
  std::string parameters = StrJoin(function.buffers, ", ", [&](std::string* text, const Buffer& b) {
    *text += printer.Declare(b);
  });
  for (const Var& scalar : function.scalars)
    StrAppend(&parameters, ", ", printer.Text(scalar), ": int64");
  StrAppend(&printer.out_, "function ", function.name, "(", parameters, ") {\n");
  printer.Append(function.body, 1);
  return printer.out_ + "}\n";
}

}  // namespace tenon::loop
