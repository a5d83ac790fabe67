// One pass over the statements. A vector store is a loop over the lanes; where its value reads the
// stored buffer elsewhere than it stores, all lanes are computed before the first is stored, as in
// a register. Allocations of constant size up to kStackBytes are arrays, others come from malloc; a
// function that gets no memory goes on without what needed it and returns 1.
#include "tenon/jit/c_function_codegen.h"

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
  // Parameters that nothing uses, such as an extent that only shapes have: no warning for them.
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
        CBlock inner;
        const Expr& value = stmt.As<loop::EvaluateNode>()->value;
        inner.Line(StrCat("(void)", exprs_.Value(value, inner), ";"));
        AppendScoped(inner, out);
        return;
      }
    }
    Unreachable("the switch over statement kinds is exhaustive");
  }

  // One line stands as it is, more get a scope of their own.
  static void AppendScoped(const CBlock& inner, CBlock& out) {
    if (inner.size() == 1) return out.Append(inner);
    out.Open("{");
    out.Append(inner);
    out.Close();
  }

  void AppendIf(const loop::IfNode& node, CBlock& out) {
    CBlock condition_block;
    const std::string condition = exprs_.Value(node.condition, condition_block);
    CBlock inner;
    inner.Append(condition_block);
    inner.Open(StrCat("if (", WithoutOuterParentheses(condition), ") {"));
    Append(node.then_case, inner);
    if (node.else_case) {
      inner.Else("} else {");
      Append(node.else_case, inner);
    }
    inner.Close();
    condition_block.empty() ? out.Append(inner) : AppendScoped(inner, out);
  }

  void AppendFor(const loop::ForNode& node, CBlock& out) {
    CheckInvariant(node.for_kind != loop::ForKind::kVectorized,
                   "vectorised loops are expanded before code generation");
    CBlock bounds;
    const std::string begin = WithoutOuterParentheses(exprs_.Value(node.min, bounds));
    const std::string end = WithoutOuterParentheses(exprs_.Value(node.min + node.extent, bounds));
    const std::string var = exprs_.Name(node.var);
    const std::string head =
        StrCat("for (int64_t ", var, " = ", begin, "; ", var, " < ", end, "; ++", var, ") {");
    CBlock loop;
    loop.Append(bounds);
    if (node.for_kind == loop::ForKind::kParallel) {
      AppendParallel(node, head, loop);
    } else {
      AppendLoop(node, head, loop);
    }
    bounds.empty() ? out.Append(loop) : AppendScoped(loop, out);
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
    CBlock inner;
    if (lanes == 1) {
      const std::string index = exprs_.Value(node.indices[0], inner);
      const std::string value = exprs_.Element(node.value, inner);
      AppendAssignment(target, index, value, inner);
      return AppendScoped(inner, out);
    }
    const std::string lane = names_.Unique("lane");
    if (!ReadsElsewhere(node.value, node.buffer, node.indices[0])) {
      inner.Open(LaneLoop(lane, lanes));
      const std::string index = exprs_.Value(node.indices[0], inner, lane);
      const std::string value = exprs_.Element(node.value, inner, lane);
      AppendAssignment(target, index, value, inner);
      inner.Close();
      return out.Append(inner);
    }
    const std::string values = names_.Unique("values");
    inner.Line(StrCat(CMemoryType(node.buffer->dtype), " ", values, "[", lanes, "];"));
    inner.Open(LaneLoop(lane, lanes));
    const std::string value = exprs_.Element(node.value, inner, lane);
    AppendAssignment(values, lane, value, inner);
    inner.Close();
    inner.Open(LaneLoop(lane, lanes));
    const std::string index = exprs_.Value(node.indices[0], inner, lane);
    AppendAssignment(target, index, StrCat(values, "[", lane, "]"), inner);
    inner.Close();
    AppendScoped(inner, out);
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
    out.Open("{");
    const int lanes = node.var.dtype().lanes();
    const std::string type = CRegisterType(node.var.dtype().element());
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
    out.Close();
  }

  void AppendAllocate(const loop::AllocateNode& node, CBlock& out) {
    const loop::Buffer& buffer = node.buffer;
    const std::string type = CMemoryType(buffer->dtype);
    const auto bytes = static_cast<std::int64_t>(buffer->dtype.bytes());
    std::int64_t count = 1;
    bool is_constant = true;
    Expr symbolic = 1;
    for (const Expr& extent : buffer->shape) {
      const auto* imm = extent.As<loop::IntImmNode>();
      is_constant =
          is_constant && imm != nullptr && !__builtin_mul_overflow(count, imm->value, &count);
      symbolic = symbolic * extent;
    }
    out.Open("{");
    if (is_constant && count <= kStackBytes / bytes) {
      out.Line(StrCat(type, " ", exprs_.Name(buffer), "[", std::max<std::int64_t>(count, 1),
                      "] TENON_ALIGNED;"));
      Append(node.body, out);
      return out.Close();
    }
    may_fail_ = true;
    const std::string elements = exprs_.Value(symbolic, out);
    const std::string name = exprs_.Name(buffer);
    // malloc(0) may give nothing.
    out.Line(StrCat(type, "* ", name, " = (", type, "*)malloc(((size_t)(", elements, ") + 1) * ",
                    bytes, ");"));
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
