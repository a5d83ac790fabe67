#include "tenon/ir/type.h"

#include <algorithm>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

// Types are walked by recursion and as trees, so both depth and size are bounded. No real value
// needs more: inference gets there only with a value that contains itself, or one that doubles at
// each step.
constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxParts = 1'000'000;

void CheckSize(const Type& type, int depth, std::size_t* parts) {
  if (depth > kMaxDepth)
    throw InvalidArgument(StrCat("a type nests more than ", kMaxDepth,
                                 " deep; a value that contains itself has no type"));
  if (++*parts > kMaxParts)
    throw InvalidArgument(StrCat("a type has more than ", kMaxParts, " parts"));
  const auto check_all = [&](const std::vector<Type>& types) {
    for (const Type& part : types) CheckSize(part, depth + 1, parts);
  };
  if (const auto* tuple = type.As<TupleTypeNode>()) check_all(tuple->fields);
  if (const auto* function = type.As<FuncTypeNode>()) {
    check_all(function->params);
    CheckSize(function->result, depth + 1, parts);
  }
  if (const auto* reference = type.As<RefTypeNode>()) CheckSize(reference->value, depth + 1, parts);
}

Type Checked(const TypeNode* node) {
  Type type{Ref<const TypeNode>(node)};
  std::size_t parts = 0;
  CheckSize(type, 1, &parts);
  return type;
}

}  // namespace

Type TensorType(std::vector<Dim> shape, DataType dtype) {
  for (const Dim& dim : shape) {
    if (dim.is_static() && dim.value() < 0)
      throw InvalidArgument(StrCat("a tensor type has the negative extent ", dim.value()));
  }
  if (dtype.is_void() || dtype.is_vector())
    throw InvalidArgument(StrCat("a tensor type cannot have the element type ", dtype.ToString()));
  return Type(Ref<const TypeNode>(new TensorTypeNode(std::move(shape), dtype)));
}
Type TensorTypeOf(const Shape& shape, DataType dtype) {
  return TensorType(std::vector<Dim>(shape.begin(), shape.end()), dtype);
}
Type TupleType(std::vector<Type> fields) { return Checked(new TupleTypeNode(std::move(fields))); }
Type FuncType(std::vector<Type> params, Type result) {
  return Checked(new FuncTypeNode(std::move(params), std::move(result)));
}
Type RefType(Type value) { return Checked(new RefTypeNode(std::move(value))); }

bool Equal(const Type& a, const Type& b) {
  if (a.get() == b.get()) return true;
  if (!a || !b || a.get()->kind != b.get()->kind) return false;
  const auto all_equal = [](const std::vector<Type>& x, const std::vector<Type>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), Equal);
  };
  switch (a.get()->kind) {
    case TypeKind::kTensor:
      return a.As<TensorTypeNode>()->dtype == b.As<TensorTypeNode>()->dtype &&
             a.As<TensorTypeNode>()->shape == b.As<TensorTypeNode>()->shape;
    case TypeKind::kTuple:
      return all_equal(a.As<TupleTypeNode>()->fields, b.As<TupleTypeNode>()->fields);
    case TypeKind::kFunc:
      return all_equal(a.As<FuncTypeNode>()->params, b.As<FuncTypeNode>()->params) &&
             Equal(a.As<FuncTypeNode>()->result, b.As<FuncTypeNode>()->result);
    case TypeKind::kRef:
      return Equal(a.As<RefTypeNode>()->value, b.As<RefTypeNode>()->value);
  }
  return false;
}

std::string ToString(const Type& type) {
  if (!type) return "?";
  const auto list = [](const std::vector<Type>& types) {
    std::string text =
        StrJoin(types, ", ", [](std::string* out, const Type& t) { *out += ToString(t); });
    return types.size() == 1 ? text + "," : text;
  };
  switch (type.get()->kind) {
    case TypeKind::kTensor: {
      const auto& n = *type.As<TensorTypeNode>();
      std::string dims =
          StrJoin(n.shape, ", ", [](std::string* out, const Dim& d) { *out += d.ToString(); });
      if (n.shape.size() == 1) dims += ",";
      return n.shape.empty()
                 ? n.dtype.ToString()
                 : StrCat("Tensor[(", n.shape.size() == 1 ? n.shape[0].ToString() : dims, "), ",
                          n.dtype.ToString(), "]");
    }
    case TypeKind::kTuple:
      return StrCat("(", list(type.As<TupleTypeNode>()->fields), ")");
    case TypeKind::kFunc: {
      const auto& n = *type.As<FuncTypeNode>();
      return StrCat(
          "fn (",
          StrJoin(n.params, ", ", [](std::string* out, const Type& t) { *out += ToString(t); }),
          ") -> ", ToString(n.result));
    }
    case TypeKind::kRef:
      return StrCat("ref(", ToString(type.As<RefTypeNode>()->value), ")");
  }
  return "?";
}

bool IsStaticTensor(const Type& type) {
  const auto* tensor = type.As<TensorTypeNode>();
  return tensor != nullptr && std::all_of(tensor->shape.begin(), tensor->shape.end(),
                                          [](const Dim& d) { return d.is_static(); });
}

Shape StaticShape(const Type& type, const std::string& what) {
  if (!IsStaticTensor(type))
    throw InvalidArgument(
        StrCat(what, " has the type ", ToString(type), "; a tensor of known extents is needed"));
  Shape shape;
  for (const Dim& dim : type.As<TensorTypeNode>()->shape) shape.push_back(dim.value());
  return shape;
}

}  // namespace tenon::ir
