// Scalar and vector expressions: the values that loops compute.
//
// An Expr is a handle to an immutable, counted node; copies share it and comparison is by identity
// (StructuralEqual compares content). The static Make functions and operators check element types
// and fold constants; they throw InvalidArgument in words. Indices are int64.
//
//   Var i("i");
//   Expr e = (i + 1) * 2;
//   if (const auto* mul = e.As<BinaryNode>()) ...
#ifndef TENON_LOOP_EXPR_H_
#define TENON_LOOP_EXPR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/loop/extern_function.h"
#include "tenon/support/data_type.h"
#include "tenon/support/ref.h"

namespace tenon::loop {

enum class ExprKind {
  kIntImm,
  kFloatImm,
  kVar,
  kCast,
  kBinary,
  kNot,
  kSelect,
  kLoad,
  kCall,
  kExternCall,
  kAddress,
  kRamp,
  kBroadcast,
  kLet,
};

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
  // The node when it is of class Node, otherwise null.
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
// registers, or where its size suggests.
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

enum class BinaryOp {
  kAdd,
  kSub,
  kMul,
  kDiv,  // integers truncate toward zero
  kMod,  // the remainder of kDiv
  kFloorDiv,
  kFloorMod,
  kMin,
  kMax,  // NaN wins
  kEQ,
  kNE,
  kLT,
  kLE,
  kGT,
  kGE,
  kAnd,
  kOr,  // of bools; both sides are evaluated
  kBitAnd,
  kBitOr,
  kBitXor,
  kShl,
  kShr,
};

enum class Intrinsic {
  kExp,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSqrt,
  kRsqrt,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kSigmoid,
  kAbs,
  kFloor,
  kCeil,
  kRound,      // ties away from zero
  kNearbyint,  // ties to even
  kTrunc,
  kPow,
  kFmod,
  kAtan2,
  kPopcount,
  kIsNan,
  kIsInf,
  kIsFinite,
  kSign,
  kFma,
  // Dot products within lanes: lane l of the result is c[l] plus the sum over j of a[n * l + j] *
  // b[n * l + j], for an accumulator c of L lanes and operands of n * L lanes.
  kDotU8S8,   // n = 4, uint8 x int8, into int32, wrapping around
  kDotBF16,   // n = 2, bfloat16, into float32; j goes down, a rounding after each addition
  kPrefetch,  // of a load: asks for its address in the cache, and loads nothing
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
  LoadNode(DataType t, Buffer b, std::vector<Expr> i, Ref<const RefCounted> p)
      : ExprNode(kKind, t), buffer(std::move(b)), indices(std::move(i)), producer(std::move(p)) {}
  const Buffer buffer;
  const std::vector<Expr> indices;
  const Ref<const RefCounted>
      producer;  // the tensor expression that makes the buffer, for te/; null in lowered loops
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
  const std::vector<Expr> args;  // of vectors: one call a lane
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
struct LetNode : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kLet;
  LetNode(Var v, Expr x, Expr b)
      : ExprNode(kKind, b.dtype()), var(std::move(v)), value(std::move(x)), body(std::move(b)) {}
  const Var var;
  const Expr value, body;
};

Expr IntImm(DataType type, std::int64_t value);
Expr FloatImm(DataType type, double value);
// `value` as a constant of any scalar type.
Expr Constant(DataType type, double value);
Expr True();
Expr False();
Expr Cast(DataType type, const Expr& value);
Expr Binary(BinaryOp op, const Expr& a, const Expr& b);
Expr Not(const Expr& a);
Expr Select(const Expr& condition, const Expr& on_true, const Expr& on_false);
Expr IfThenElse(const Expr& condition, const Expr& on_true, const Expr& on_false);
Expr Load(const Buffer& buffer, std::vector<Expr> indices,
          Ref<const RefCounted> producer = nullptr);
Expr Call(Intrinsic intrinsic, std::vector<Expr> args);
// Throws InvalidArgument when the arguments do not fit the signature.
Expr ExternCall(const ExternFunction& callee, std::vector<Expr> args);
Expr ExternCall(DataType type, std::string symbol, std::vector<Expr> args);
Expr Address(const Buffer& buffer, std::vector<Expr> indices, std::vector<Expr> extents = {});
Expr Address(const Buffer& buffer);  // of the whole
Expr Ramp(const Expr& base, const Expr& stride, int lanes);
Expr Broadcast(const Expr& value, int lanes);
Expr Let(const Var& var, const Expr& value, const Expr& body);

bool IsConstInt(const Expr& expr, std::int64_t value);
// Text of an operation for messages: "+", "min".
const char* ToString(BinaryOp op);
const char* ToString(Intrinsic intrinsic);
bool IsComparison(BinaryOp op);

// An integer constant takes the type of the other side, a floating one only another floating type.
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator%(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, const Expr& b);
Expr operator>=(const Expr& a, const Expr& b);
Expr operator==(const Expr& a, const Expr& b);
Expr operator!=(const Expr& a, const Expr& b);
Expr operator&&(const Expr& a, const Expr& b);
Expr operator||(const Expr& a, const Expr& b);
Expr operator!(const Expr& a);
Expr FloorDiv(const Expr& a, const Expr& b);
Expr FloorMod(const Expr& a, const Expr& b);
Expr Min(const Expr& a, const Expr& b);
Expr Max(const Expr& a, const Expr& b);

// For containers keyed by identity.
struct ExprHash {
  std::size_t operator()(const Expr& e) const { return std::hash<const void*>()(e.get()); }
};
struct ExprSame {
  bool operator()(const Expr& a, const Expr& b) const { return a.get() == b.get(); }
};
struct BufferHash {
  std::size_t operator()(const Buffer& b) const { return std::hash<const void*>()(b.get()); }
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_EXPR_H_
