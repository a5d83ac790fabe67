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
#include <vector>

#include "tenon/loop/expr_nodes.h"

namespace tenon::loop {

Expr IntImm(DataType type, std::int64_t value);
Expr FloatImm(DataType type, double value);
// `value` as a constant of any scalar type; an integer has no fraction, and NaN gives 0. Throws
// InvalidArgument where an integer type does not hold it.
Expr Constant(DataType type, double value);
Expr True();
Expr False();
Expr Cast(DataType type, const Expr& value);
Expr Binary(BinaryOp op, const Expr& a, const Expr& b);
Expr Not(const Expr& a);
Expr Select(const Expr& condition, const Expr& on_true, const Expr& on_false);
Expr IfThenElse(const Expr& condition, const Expr& on_true, const Expr& on_false);
// `predicate`, if defined, has as many lanes as the indices, which are vectors.
Expr Load(const Buffer& buffer, std::vector<Expr> indices, Ref<const RefCounted> producer = nullptr,
          const Expr& predicate = Expr());
Expr Call(Intrinsic intrinsic, std::vector<Expr> args);
// The bits of `value` under another type of the same width, neither of them bool.
Expr Reinterpret(DataType type, const Expr& value);
// The same call with other arguments, which may have any number of lanes.
Expr WithArguments(const CallNode& call, std::vector<Expr> args);
// Throws InvalidArgument when the arguments do not fit the signature.
Expr ExternCall(const ExternFunction& callee, std::vector<Expr> args);
Expr ExternCall(DataType type, std::string symbol, std::vector<Expr> args);
Expr Address(const Buffer& buffer, std::vector<Expr> indices, std::vector<Expr> extents = {});
Expr Address(const Buffer& buffer);  // of the whole
// The row-major place of an element, in elements.
Expr OffsetOf(const Buffer& buffer, const std::vector<Expr>& indices);
Expr Ramp(const Expr& base, const Expr& stride, int lanes);
Expr Broadcast(const Expr& value, int lanes);
// A choice of the lanes of `a` followed by those of `b`, in any order and number. Both vectors have
// one type.
Expr Shuffle(const Expr& a, const Expr& b, std::vector<int> lanes);
Expr Let(const Var& var, const Expr& value, const Expr& body);

bool IsConstInt(const Expr& expr, std::int64_t value);
// Whether `predicate` is true in every lane as it stands. An undefined one is.
bool IsAllTrue(const Expr& predicate);

// An integer constant takes the type of the other side; a floating constant takes only another
// floating type. The operators throw InvalidArgument for an integer that the other side's type does
// not hold.
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
