// The handles Expr, Var and Buffer, and a node class for each kind of expression. Nodes are
// immutable and made by the functions of loop/expr.h, which check types; include that header.
#ifndef TENON_LOOP_EXPR_NODES_H_
#define TENON_LOOP_EXPR_NODES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/loop/expr_kinds.h"
#include "tenon/loop/extern_function.h"
#include "tenon/support/data_type.h"
#include "tenon/support/ref.h"

namespace tenon::loop {

class ExprNode : public RefCounted {
 public:
  ExprNode(ExprKind k, DataType t) : kind(k), type(t) {}
  const ExprKind kind;
  const DataType type;
};

class Expr {
 public:
  Expr() = default;
  explicit Expr(Ref<const ExprNode> node) : node_(std::move(node)) {}
  Expr(int value);           // an int64 constant: indices are the common case
  Expr(std::int64_t value);  // likewise
  Expr(float value);         // float32
  Expr(double value);        // float64

  bool defined() const { return static_cast<bool>(node_); }
  ExprKind kind() const { return node_->kind; }
  DataType dtype() const { return node_->type; }
  const ExprNode* get() const { return node_.get(); }
  // The node if it is of class Node, else null.
  template <typename Node>
  const Node* As() const {
    return node_ && node_->kind == Node::kKind ? static_cast<const Node*>(node_.get()) : nullptr;
  }
  bool same_as(const Expr& other) const { return node_ == other.node_; }

 private:
  Ref<const ExprNode> node_;
};

// A variable; its identity is its node, the name is for people. Without a type it is an int64
// index.
class Var : public Expr {
 public:
  explicit Var(std::string name, DataType type = Int64);
  explicit Var(const Expr& expr);  // requires a variable
  const std::string& name() const;
};

// Where a buffer that a kernel allocates lives: on the stack, from where LLVM takes small ones into
// registers, or wherever its size suggests.
enum class Memory { kAutomatic, kStack };

// What a buffer is: a named region of memory with an element type and a shape of int64 extents.
// Loads and stores index it by as many indices as it has dimensions until FlattenBuffers makes them
// one element offset in row-major order.
class BufferNode : public RefCounted {
 public:
  BufferNode(std::string n, DataType t, std::vector<Expr> s, Memory m)
      : name(std::move(n)), dtype(t), shape(std::move(s)), memory(m) {}
  const std::string name;
  const DataType dtype;
  const std::vector<Expr> shape;
  const Memory memory;
};

// A handle to a buffer; its identity is the node.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Ref<const BufferNode> node) : node_(std::move(node)) {}
  static Buffer Make(std::string name, DataType dtype, std::vector<Expr> shape,
                     Memory memory = Memory::kAutomatic);
  const BufferNode* operator->() const { return node_.get(); }
  const BufferNode* get() const { return node_.get(); }
  bool defined() const { return static_cast<bool>(node_); }
  friend bool operator==(const Buffer& a, const Buffer& b) { return a.node_ == b.node_; }

 private:
  Ref<const BufferNode> node_;
};

struct IntImmNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kIntImm;
  IntImmNode(DataType t, std::int64_t v) : ExprNode(kKind, t), value(v) {}
  const std::int64_t value;  // of integers and bools
};
struct FloatImmNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kFloatImm;
  FloatImmNode(DataType t, double v) : ExprNode(kKind, t), value(v) {}
  const double value;
};
struct VarNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kVar;
  VarNode(DataType t, std::string n) : ExprNode(kKind, t), name(std::move(n)) {}
  const std::string name;
};
struct CastNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kCast;
  CastNode(DataType t, Expr v) : ExprNode(kKind, t), value(std::move(v)) {}
  const Expr value;
};
struct BinaryNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kBinary;
  BinaryNode(DataType t, BinaryOp o, Expr x, Expr y)
      : ExprNode(kKind, t), op(o), a(std::move(x)), b(std::move(y)) {}
  const BinaryOp op;
  const Expr a, b;
};
struct NotNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kNot;
  explicit NotNode(Expr x) : ExprNode(kKind, x.dtype()), a(std::move(x)) {}
  const Expr a;
};
struct SelectNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kSelect;
  SelectNode(Expr c, Expr t, Expr f, bool l)
      : ExprNode(kKind, t.dtype()),
        condition(std::move(c)),
        on_true(std::move(t)),
        on_false(std::move(f)),
        lazy(l) {}
  const Expr condition, on_true, on_false;
  const bool lazy;  // the side that is not taken is not evaluated; guards loads
};
struct LoadNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kLoad;
  LoadNode(DataType t, Buffer b, std::vector<Expr> i, Ref<const RefCounted> p, Expr m)
      : ExprNode(kKind, t),
        buffer(std::move(b)),
        indices(std::move(i)),
        producer(std::move(p)),
        predicate(std::move(m)) {}
  const Buffer buffer;
  const std::vector<Expr> indices;
  const Ref<const RefCounted>
      producer;  // the tensor expression that makes the buffer, for te/; null in lowered loops
  // One bool per lane: lanes where it is false touch no memory and read 0. Undefined: all lanes
  // load.
  const Expr predicate;
};
struct CallNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kCall;
  CallNode(DataType t, Intrinsic i, std::vector<Expr> a)
      : ExprNode(kKind, t), intrinsic(i), args(std::move(a)) {}
  const Intrinsic intrinsic;
  const std::vector<Expr> args;
};
struct ExternCallNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kExternCall;
  ExternCallNode(ExternFunction f, int lanes, std::vector<Expr> a)
      : ExprNode(kKind, f->result.is_void() ? f->result : f->result.WithLanes(lanes)),
        callee(std::move(f)),
        args(std::move(a)) {}
  const ExternFunction callee;
  const std::vector<Expr> args;  // of vectors: one call per lane
};
// The address of an element, for a C function, which may read and write the box of `extents`
// elements that starts there. FlattenBuffers drops the extents.
struct AddressNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kAddress;
  AddressNode(Buffer b, std::vector<Expr> i, std::vector<Expr> e)
      : ExprNode(kKind, Handle),
        buffer(std::move(b)),
        indices(std::move(i)),
        extents(std::move(e)) {}
  const Buffer buffer;
  const std::vector<Expr> indices, extents;
};
struct RampNode : ExprNode {  // base, base + stride, ...
  static constexpr ExprKind kKind = ExprKind::kRamp;
  RampNode(Expr b, Expr s, int l)
      : ExprNode(kKind, b.dtype().WithLanes(l)),
        base(std::move(b)),
        stride(std::move(s)),
        lanes(l) {}
  const Expr base, stride;
  const int lanes;
};
struct BroadcastNode : ExprNode {  // the lanes of value, again and again
  static constexpr ExprKind kKind = ExprKind::kBroadcast;
  BroadcastNode(Expr v, int l)
      : ExprNode(kKind, v.dtype().WithLanes(l)), value(std::move(v)), lanes(l) {}
  const Expr value;
  const int lanes;
};
struct ShuffleNode : ExprNode {  // lane i is lane lanes[i] of a followed by b
  static constexpr ExprKind kKind = ExprKind::kShuffle;
  ShuffleNode(Expr x, Expr y, std::vector<int> l)
      : ExprNode(kKind, x.dtype().WithLanes(static_cast<int>(l.size()))),
        a(std::move(x)),
        b(std::move(y)),
        lanes(std::move(l)) {}
  const Expr a, b;
  const std::vector<int> lanes;
};
struct LetNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kLet;
  LetNode(Var v, Expr x, Expr b)
      : ExprNode(kKind, b.dtype()), var(std::move(v)), value(std::move(x)), body(std::move(b)) {}
  const Var var;
  const Expr value, body;
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_EXPR_NODES_H_
