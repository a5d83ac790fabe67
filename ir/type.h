// Types of graph expressions: tensors, tuples, functions and references.
//
// A Type is a handle to an immutable node; null means "not known". A dimension is a number,
// an expression of variables ("n", "2*n + 1"), or "?", about which nothing is known.
//
//   Type t = TensorType({1, 64, 56, 56}, Float32);
//   if (const auto* tensor = t.As<TensorTypeNode>()) ...
#ifndef TENON_IR_TYPE_H_
#define TENON_IR_TYPE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tenon/support/data_type.h"
#include "tenon/support/dim.h"
#include "tenon/support/ndarray.h"
#include "tenon/support/ref.h"

namespace tenon::ir {

using tenon::Dim;

enum class TypeKind { kTensor, kTuple, kFunc, kRef };

class TypeNode : public RefCounted {
 public:
  explicit TypeNode(TypeKind k) : kind(k) {}
  const TypeKind kind;
};

class Type {
 public:
  Type() = default;
  explicit Type(Ref<const TypeNode> node) : node_(std::move(node)) {}
  explicit operator bool() const { return static_cast<bool>(node_); }
  const TypeNode* get() const { return node_.get(); }
  template <typename Node>
  const Node* As() const {
    return node_ && node_->kind == Node::kKind ? static_cast<const Node*>(node_.get()) : nullptr;
  }

 private:
  Ref<const TypeNode> node_;
};

struct TensorTypeNode : TypeNode {
  static constexpr TypeKind kKind = TypeKind::kTensor;
  TensorTypeNode(std::vector<Dim> s, DataType t) : TypeNode(kKind), shape(std::move(s)), dtype(t) {}
  const std::vector<Dim> shape;
  const DataType dtype;
};
struct TupleTypeNode : TypeNode {
  static constexpr TypeKind kKind = TypeKind::kTuple;
  explicit TupleTypeNode(std::vector<Type> f) : TypeNode(kKind), fields(std::move(f)) {}
  const std::vector<Type> fields;
};
struct FuncTypeNode : TypeNode {
  static constexpr TypeKind kKind = TypeKind::kFunc;
  FuncTypeNode(std::vector<Type> p, Type r)
      : TypeNode(kKind), params(std::move(p)), result(std::move(r)) {}
  const std::vector<Type> params;
  const Type result;
};
// A place whose value changes while a function runs.
struct RefTypeNode : TypeNode {
  static constexpr TypeKind kKind = TypeKind::kRef;
  explicit RefTypeNode(Type v) : TypeNode(kKind), value(std::move(v)) {}
  const Type value;
};

Type TensorType(std::vector<Dim> shape, DataType dtype);
Type TensorTypeOf(const Shape& shape, DataType dtype);
Type TupleType(std::vector<Type> fields);  // refuses types too deep or large to be walked
Type FuncType(std::vector<Type> params, Type result);  // likewise

Type RefType(Type value);  // likewise

// Whether both have the same content. An unknown type equals only another unknown type.
bool Equal(const Type& a, const Type& b);
// "Tensor[(1, 10), float32]"; "?" when unknown.
std::string ToString(const Type& type);
// The extents of a tensor type whose extents are all static. Throws InvalidArgument for any other
// type, starting with `what`.
Shape StaticShape(const Type& type, const std::string& what);
bool IsStaticTensor(const Type& type);

}  // namespace tenon::ir

#endif  // TENON_IR_TYPE_H_
