// Loop statements: what a kernel does.
//
// A Stmt is a handle to an immutable, counted node. Make functions check their parts. Passes
// rebuild what they change and return the same handle for what they do not (loop/visit.h).
//
//   Stmt body = Store(out, Load(in, {i}) + 1.0F, {i});
//   Stmt loop = For(i, 0, n, ForKind::kSerial, body);
#ifndef TENON_LOOP_STMT_H_
#define TENON_LOOP_STMT_H_

#include <utility>
#include <vector>

#include "tenon/loop/expr.h"

namespace tenon::loop {

enum class StmtKind { kFor, kStore, kSeq, kIf, kAllocate, kLet, kEvaluate };
enum class ForKind { kSerial, kParallel, kVectorized, kUnrolled };

class StmtNode : public RefCounted {
 public:
  explicit StmtNode(StmtKind k) : kind(k) {}
  const StmtKind kind;
};

class Stmt {
 public:
  Stmt() = default;
  explicit Stmt(Ref<const StmtNode> node) : node_(std::move(node)) {}
  StmtKind kind() const { return node_->kind; }
  const StmtNode* get() const { return node_.get(); }
  explicit operator bool() const { return static_cast<bool>(node_); }
  template <typename Node>
  const Node* As() const {
    return node_ && node_->kind == Node::kKind ? static_cast<const Node*>(node_.get()) : nullptr;
  }
  friend bool operator==(const Stmt& a, const Stmt& b) { return a.node_ == b.node_; }

 private:
  Ref<const StmtNode> node_;
};

struct ForNode : StmtNode {  // for var in [min, min + extent)
  static constexpr StmtKind kKind = StmtKind::kFor;
  ForNode(Var v, Expr m, Expr e, ForKind k, Stmt b)
      : StmtNode(kKind),
        var(std::move(v)),
        min(std::move(m)),
        extent(std::move(e)),
        for_kind(k),
        body(std::move(b)) {}
  const Var var;
  const Expr min, extent;
  const ForKind for_kind;
  const Stmt body;
};
enum class StoreKind {
  kPlain,
  kReassociated,  // an update of a reduction, which may go in another order
  kStreaming,     // non-temporal, where whole lines are stored: nobody reads them soon
};
struct StoreNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kStore;
  StoreNode(Buffer b, Expr v, std::vector<Expr> i, StoreKind k, Expr m)
      : StmtNode(kKind),
        buffer(std::move(b)),
        value(std::move(v)),
        indices(std::move(i)),
        store_kind(k),
        predicate(std::move(m)) {}
  const Buffer buffer;
  const Expr value;
  const std::vector<Expr> indices;
  const StoreKind store_kind;
  const Expr predicate;  // lanes where it is false store nothing; undefined: all lanes store
};
struct SeqNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kSeq;
  explicit SeqNode(std::vector<Stmt> s) : StmtNode(kKind), stmts(std::move(s)) {}
  const std::vector<Stmt> stmts;
};
struct IfNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kIf;
  IfNode(Expr c, Stmt t, Stmt e)
      : StmtNode(kKind),
        condition(std::move(c)),
        then_case(std::move(t)),
        else_case(std::move(e)) {}
  const Expr condition;
  const Stmt then_case, else_case;  // else_case may be null
};
struct AllocateNode : StmtNode {  // the buffer exists inside body
  static constexpr StmtKind kKind = StmtKind::kAllocate;
  AllocateNode(Buffer b, Stmt s) : StmtNode(kKind), buffer(std::move(b)), body(std::move(s)) {}
  const Buffer buffer;
  const Stmt body;
};
struct LetStmtNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kLet;
  LetStmtNode(Var v, Expr x, Stmt b)
      : StmtNode(kKind), var(std::move(v)), value(std::move(x)), body(std::move(b)) {}
  const Var var;
  const Expr value;
  const Stmt body;
};
struct EvaluateNode : StmtNode {  // for its effect
  static constexpr StmtKind kKind = StmtKind::kEvaluate;
  explicit EvaluateNode(Expr v) : StmtNode(kKind), value(std::move(v)) {}
  const Expr value;
};

inline bool MayReassociate(const StoreNode& store) {
  return store.store_kind == StoreKind::kReassociated;
}

Stmt For(const Var& var, const Expr& min, const Expr& extent, ForKind kind, const Stmt& body);
// The same loop around another body.
Stmt Around(const ForNode& loop, const Stmt& body);
Stmt Store(const Buffer& buffer, const Expr& value, std::vector<Expr> indices,
           StoreKind kind = StoreKind::kPlain, const Expr& predicate = Expr());
Stmt Seq(std::vector<Stmt> stmts);  // flattens; one statement stays itself
Stmt If(const Expr& condition, const Stmt& then_case, const Stmt& else_case = Stmt());
Stmt Allocate(const Buffer& buffer, const Stmt& body);
Stmt LetStmt(const Var& var, const Expr& value, const Stmt& body);
Stmt Evaluate(const Expr& value);

const char* ToString(ForKind kind);

}  // namespace tenon::loop

#endif  // TENON_LOOP_STMT_H_
