// One pass over the statements. Names are unique in the whole function, so declarations need no
// scopes of their own. A vector store is a loop over the lanes. If its value reads the stored
// buffer at a place where it does not store, all lanes are computed before the first is stored, as
// in a register. Allocations of constant size up to kStackBytes are arrays, others come from
// malloc. A function that gets no memory goes on without what needed it and returns 1.
#include "tenon/jit/c/c_function_codegen.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

constexpr std::int64_t kStackBytes = 64 * 1024;
constexpr std::int64_t kFrameBytes = 256 * 1024;  // of all in a frame

std::unordered_set<const loop::BufferNode*> StoredBuffers(const Stmt& body) {
  std::unordered_set<const loop::BufferNode*> stored;
  loop::VisitStmts(body, [&](const Stmt& s) {
    if (const auto* store = s.As<loop::StoreNode>()) stored.insert(store->buffer.get());
  });
  return stored;
}

bool ReadsElsewhere(const Expr& value, const loop::Buffer& buffer, const Expr& index) {
  bool found = false;
  loop::VisitExpr(value, [&](const Expr& e) {
    const auto* load = e.As<loop::LoadNode>();
    found = found || (load != nullptr && load->buffer == buffer &&
                      !loop::StructuralEqual(load->indices[0], index));
  });
  return found;
}

bool IsRead(const loop::Buffer& buffer, const loop::Stmt& body) {
  bool is_read = false;
  loop::VisitExprs(body, [&](const Expr& e) {
    const loop::Buffer* read = loop::BufferOf(e);
    is_read = is_read || (read != nullptr && *read == buffer);
  });
  return is_read;
}

class FunctionWriter {
 public:
  FunctionWriter(const loop::Function& function, CHelpers& helpers, CPrototypes& externs)
      : function_(function), helpers_(helpers), exprs_(names_, helpers, externs) {}

  std::vector<CParameter> Parameters() {
    const auto stored = StoredBuffers(function_.body);
    std::vector<CParameter> parameters;
    for (const loop::Buffer& buffer : function_.buffers)
      parameters.push_back(
          {StrCat(stored.contains(buffer.get()) ? "" : "const ", CMemoryType(buffer->dtype), "*"),
           exprs_.Name(buffer)});
    for (const loop::Var& scalar : function_.scalars)
      parameters.push_back({"int64_t", exprs_.Name(scalar)});
    return parameters;
  }

  CFunctionText Write() {
    CFunctionText text{.parameters = Parameters(), .body = {}};
    status_ = names_.Unique("status");
    CBlock body;
    Append(function_.body, body);
    CBlock whole;
    AppendUnused(whole);
    if (may_fail_) whole.Line(StrCat("int32_t ", status_, " = 0;"));
    whole.Append(body);
    whole.Line(may_fail_ ? StrCat("return ", status_, ";") : "return 0;");
    CBlock indented;
    indented.Open("{");
    indented.Append(whole);
    indented.Close();
    text.body = indented.Text();
    return text;
  }

 private:
  // Avoids warnings about parameters that nothing uses, such as an extent that only shapes have.
  void AppendUnused(CBlock& out) {
    std::unordered_set<const void*> used;
    loop::VisitExprs(function_.body, [&](const Expr& e) {
      const auto* load = e.As<loop::LoadNode>();
      used.insert(load != nullptr ? static_cast<const void*>(load->buffer.get()) : e.get());
    });
    for (const loop::BufferNode* stored : StoredBuffers(function_.body)) used.insert(stored);
    for (const loop::Buffer& buffer : function_.buffers) {
      if (!used.contains(buffer.get())) out.Line(StrCat("(void)", exprs_.Name(buffer), ";"));
    }
    for (const loop::Var& scalar : function_.scalars) {
      if (!used.contains(scalar.get())) out.Line(StrCat("(void)", exprs_.Name(scalar), ";"));
    }
  }

  void Append(const Stmt& stmt, CBlock& out) {
    switch (stmt.kind()) {
      case StmtKind::kFor:
        AppendFor(*stmt.As<loop::ForNode>(), out);
        return;
      case StmtKind::kStore:
        AppendStore(*stmt.As<loop::StoreNode>(), out);
        return;
      case StmtKind::kSeq:
        for (const Stmt& part : stmt.As<loop::SeqNode>()->stmts) Append(part, out);
        return;
      case StmtKind::kIf:
        AppendIf(*stmt.As<loop::IfNode>(), out);
        return;
      case StmtKind::kAllocate:
        AppendAllocate(*stmt.As<loop::AllocateNode>(), out);
        return;
      case StmtKind::kLet:
        AppendLet(*stmt.As<loop::LetStmtNode>(), out);
        return;
      case StmtKind::kEvaluate: {
        const std::string value = exprs_.Value(stmt.As<loop::EvaluateNode>()->value, out);
        out.Line(StrCat("(void)", value, ";"));
        return;
      }
    }
    Unreachable("the switch over statement kinds is exhaustive");
  }

  void AppendIf(const loop::IfNode& node, CBlock& out) {
    const std::string condition = exprs_.Value(node.condition, out);
    out.Open(StrCat("if (", WithoutOuterParentheses(condition), ") {"));
    Append(node.then_case, out);
    if (node.else_case) {
      out.Else("} else {");
      Append(node.else_case, out);
    }
    out.Close();
  }

  void AppendFor(const loop::ForNode& node, CBlock& out) {
    CheckInvariant(node.for_kind != loop::ForKind::kVectorized,
                   "vectorised loops are expanded before code generation");
    const std::string begin = WithoutOuterParentheses(exprs_.Value(node.min, out));
    const std::string end = WithoutOuterParentheses(exprs_.Value(node.min + node.extent, out));
    const std::string var = exprs_.Name(node.var);
    const std::string head =
        StrCat("for (int64_t ", var, " = ", begin, "; ", var, " < ", end, "; ++", var, ") {");
    node.for_kind == loop::ForKind::kParallel ? AppendParallel(node, head, out)
                                              : AppendLoop(node, head, out);
  }

  void AppendLoop(const loop::ForNode& node, const std::string& head, CBlock& out) {
    out.Open(head);
    Append(node.body, out);
    out.Close();
  }

  // Threads of the pool flush denormals like the thread that calls the kernel.
  void AppendParallel(const loop::ForNode& node, const std::string& head, CBlock& out) {
    const std::string state = names_.Unique("state");
    out.Line("TENON_OMP(omp parallel)");
    out.Open("{");
    out.Line(
        StrCat("const unsigned ", state, " = ", helpers_.Use(CHelper::kFlushDenormals), "();"));
    out.Line("TENON_OMP(omp for schedule(static))");
    AppendLoop(node, head, out);
    out.Line(StrCat(helpers_.Use(CHelper::kRestoreDenormals), "(", state, ");"));
    out.Close();
  }

  void AppendStore(const loop::StoreNode& node, CBlock& out) {
    const int lanes = node.indices[0].dtype().lanes();
    const std::string target = exprs_.Name(node.buffer);
    if (lanes == 1) {
      const std::string index = exprs_.Value(node.indices[0], out);
      AppendAssignment(target, index, exprs_.Element(node.value, out), out);
      return;
    }
    const std::string lane = names_.Unique("lane");
    if (!ReadsElsewhere(node.value, node.buffer, node.indices[0])) {
      out.Open(LaneLoop(lane, lanes));
      const std::string index = exprs_.Value(node.indices[0], out, lane);
      const std::string value = exprs_.Element(node.value, out, lane);
      AppendWhere(node.predicate, lane, target, index, value, out);
      out.Close();
      return;
    }
    const std::string values = names_.Unique("values");
    out.Line(StrCat(CMemoryType(node.buffer->dtype), " ", values, "[", lanes, "];"));
    out.Open(LaneLoop(lane, lanes));
    AppendAssignment(values, lane, exprs_.Element(node.value, out, lane), out);
    out.Close();
    out.Open(LaneLoop(lane, lanes));
    const std::string index = exprs_.Value(node.indices[0], out, lane);
    AppendWhere(node.predicate, lane, target, index, StrCat(values, "[", lane, "]"), out);
    out.Close();
  }

  // The assignment in the lanes where `predicate`, if there is one, holds.
  void AppendWhere(const Expr& predicate, const std::string& lane, const std::string& array,
                   const std::string& index, const std::string& value, CBlock& out) {
    if (!predicate.defined()) {
      AppendAssignment(array, index, value, out);
      return;
    }
    const std::string condition = exprs_.Value(predicate, out, lane);
    out.Open(StrCat("if (", WithoutOuterParentheses(condition), ") {"));
    AppendAssignment(array, index, value, out);
    out.Close();
  }

  static std::string LaneLoop(const std::string& lane, int lanes) {
    return StrCat("for (int64_t ", lane, " = 0; ", lane, " < ", lanes, "; ++", lane, ") {");
  }

  static void AppendAssignment(const std::string& array, const std::string& index,
                               const std::string& value, CBlock& out) {
    out.Line(StrCat(array, "[", WithoutOuterParentheses(index),
                    "] = ", WithoutOuterParentheses(value), ";"));
  }

  void AppendLet(const loop::LetStmtNode& node, CBlock& out) {
    const int lanes = node.var.dtype().lanes();
    const std::string type = CRegisterType(node.var.dtype().element());
    // Copies of an unrolled body share their variables, and a block of C has each name once.
    if (!declared_.insert(node.var.get()).second) exprs_.Rename(node.var);
    exprs_.StandsFor(node.var, node.value);
    if (lanes == 1) {
      const std::string value = exprs_.Value(node.value, out);
      out.Line(StrCat("const ", type, " ", exprs_.Name(node.var), " = ",
                      WithoutOuterParentheses(value), ";"));
    } else {
      const std::string lane = names_.Unique("lane");
      out.Line(StrCat(type, " ", exprs_.Name(node.var), "[", lanes, "];"));
      out.Open(LaneLoop(lane, lanes));
      const std::string value = exprs_.Value(node.value, out, lane);
      AppendAssignment(exprs_.Name(node.var), lane, value, out);
      out.Close();
    }
    Append(node.body, out);
  }

  void AppendAllocate(const loop::AllocateNode& node, CBlock& out) {
    const loop::Buffer& buffer = node.buffer;
    const std::string type = CMemoryType(buffer->dtype);
    const auto bytes = static_cast<std::int64_t>(buffer->dtype.bytes());
    std::int64_t count = 1;
    bool is_constant = true;
    for (const Expr& extent : buffer->shape) {
      const auto* imm = extent.As<loop::IntImmNode>();
      is_constant =
          is_constant && imm != nullptr && !__builtin_mul_overflow(count, imm->value, &count);
    }
    out.Open("{");
    if (is_constant && count <= kStackBytes / bytes &&
        frame_bytes_ + count * bytes <= kFrameBytes) {
      frame_bytes_ += count * bytes;
      out.Line(StrCat(type, " ", exprs_.Name(buffer), "[", std::max<std::int64_t>(count, 1),
                      "] TENON_ALIGNED;"));
      // Loops over nothing are gone, and compilers warn of what nobody reads.
      if (!IsRead(buffer, node.body)) out.Line(StrCat("(void)", exprs_.Name(buffer), ";"));
      Append(node.body, out);
      frame_bytes_ -= count * bytes;
      return out.Close();
    }
    may_fail_ = true;
    const std::string name = exprs_.Name(buffer);
    // Sizes are computed as doubles, which do not wrap. malloc(0) may give nothing.
    std::string size = StrCat(bytes, ".0"), elements = "(size_t)1";
    for (const Expr& extent : buffer->shape) {
      const std::string value = exprs_.Value(extent, out);
      StrAppend(&size, " * (double)(", value, ")");
      StrAppend(&elements, " * (size_t)(", value, ")");
    }
    out.Line(StrCat(type, "* ", name, " = ", size, " < 9e18 ? (", type, "*)malloc((", elements,
                    " + 1) * ", bytes, ") : NULL;"));
    out.Open(StrCat("if (", name, " != NULL) {"));
    Append(node.body, out);
    out.Line(StrCat("free(", name, ");"));
    out.Else("} else {");
    out.Line("TENON_OMP(omp atomic write)");
    out.Line(StrCat(status_, " = 1;"));
    out.Close();
    out.Close();
  }

  const loop::Function& function_;
  CHelpers& helpers_;
  CNames names_;
  CExprCodegen exprs_;
  std::string status_;
  bool may_fail_ = false;
  std::unordered_set<const void*> declared_;  // variables of lets
  std::int64_t frame_bytes_ = 0;              // of the arrays around
};

}  // namespace

CFunctionText GenerateC(const loop::Function& function, CHelpers& helpers, CPrototypes& externs) {
  return FunctionWriter(function, helpers, externs).Write();
}

std::vector<CParameter> CParameters(const loop::Function& function) {
  CHelpers helpers;
  CPrototypes externs;
  return FunctionWriter(function, helpers, externs).Parameters();
}

}  // namespace tenon::jit
