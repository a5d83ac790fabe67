#include "tenon/ops/type_relation.h"

#include <algorithm>

#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ops {

using ir::Dim;
using ir::TensorTypeNode;
using ir::TupleTypeNode;
using ir::Type;

std::size_t TypeCall::Checked(std::size_t i) const {
  if (i >= inputs_.size())
    Refuse(StrCat("the type relation asks for argument ", i, " of ", inputs_.size()));
  return i;
}

const TensorTypeNode* TypeCall::tensor(std::size_t i) const {
  const Type& type = input(i);
  if (!type) return nullptr;
  const auto* tensor = type.As<TensorTypeNode>();
  if (tensor == nullptr)
    Refuse(StrCat("argument ", i, " must be a tensor, not ", ir::ToString(type)));
  return tensor;
}

std::optional<std::vector<const TensorTypeNode*>> TypeCall::tensors(std::size_t i) const {
  const Type& type = input(i);
  if (!type) return std::nullopt;
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr)
    Refuse(StrCat("argument ", i, " must be a tuple of tensors, not ", ir::ToString(type)));
  std::vector<const TensorTypeNode*> fields;
  for (const Type& field : tuple->fields) {
    if (!field) return std::nullopt;
    fields.push_back(field.As<TensorTypeNode>());
    if (fields.back() == nullptr)
      Refuse(StrCat("field ", fields.size() - 1, " of argument ", i, " must be a tensor, not ",
                    ir::ToString(field)));
  }
  return fields;
}

bool TypeCall::Differ(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any() || a == b) return false;
  if (a.is_static() && b.is_static()) return true;
  const Dim difference = a - b;
  if (difference.is_static()) return true;
  conditions_.push_back({a, ExtentCondition::Kind::kEqual, b, op_});
  return false;
}

bool TypeCall::Differ(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  if (a.size() != b.size()) return true;
  bool differ = false;
  for (std::size_t i = 0; i < a.size(); ++i) differ = Differ(a[i], b[i]) || differ;
  return differ;
}

bool TypeCall::Exceeds(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return false;
  if (a.is_static() && b.is_static()) return a.value() > b.value();
  const Dim room = b - a;
  if (room.is_static()) return room.value() < 0;
  const std::optional<std::int64_t> least = room.LowerBound();
  if (!least || *least < 0) conditions_.push_back({a, ExtentCondition::Kind::kAtMost, b, op_});
  return false;
}

bool TypeCall::HasRest(const Dim& extent, std::int64_t divisor) {
  return Differ(extent, FloorDiv(extent, divisor) * divisor);
}

void TypeCall::AddNeedsOf(const TypeCall& part) {
  assumed_equal_.insert(assumed_equal_.end(), part.assumed_equal_.begin(),
                        part.assumed_equal_.end());
  conditions_.insert(conditions_.end(), part.conditions_.begin(), part.conditions_.end());
}

void TypeCall::Refuse(const std::string& rule) const {
  throw InvalidArgument(StrCat(op_, ": ", rule))
      .AddNote(StrCat("input types: ", StrJoin(inputs_, ", ", [](std::string* out, const Type& t) {
                        *out += ir::ToString(t);
                      })));
}

namespace {

Dim UnifyDim(const Dim& a, const Dim& b) {
  if (a == b || b.is_any()) return a;
  if (a.is_any()) return b;
  if (a.is_static() != b.is_static()) return a.is_static() ? a : b;
  throw InvalidArgument(StrCat("extent ", a.ToString(), " is not ", b.ToString()));
}

[[noreturn]] void Contradict(const Type& a, const Type& b) {
  throw InvalidArgument(StrCat("the type ", ir::ToString(a), " is not ", ir::ToString(b)));
}

std::vector<Type> UnifyAll(const std::vector<Type>& a, const std::vector<Type>& b) {
  std::vector<Type> fields;
  for (std::size_t i = 0; i < a.size(); ++i) fields.push_back(Unify(a[i], b[i]));
  return fields;
}

}  // namespace

Type Unify(const Type& a, const Type& b) {
  if (!a || !b) return a ? a : b;
  if (ir::Equal(a, b)) return a;
  if (a.get()->kind != b.get()->kind) Contradict(a, b);
  switch (a.get()->kind) {
    case ir::TypeKind::kTensor: {
      const auto& x = *a.As<TensorTypeNode>();
      const auto& y = *b.As<TensorTypeNode>();
      if (x.dtype != y.dtype || x.shape.size() != y.shape.size()) Contradict(a, b);
      std::vector<Dim> shape;
      try {
        for (std::size_t i = 0; i < x.shape.size(); ++i)
          shape.push_back(UnifyDim(x.shape[i], y.shape[i]));
      } catch (const Error&) {
        Contradict(a, b);
      }
      return ir::TensorType(std::move(shape), x.dtype);
    }
    case ir::TypeKind::kTuple: {
      const auto& x = a.As<TupleTypeNode>()->fields;
      const auto& y = b.As<TupleTypeNode>()->fields;
      if (x.size() != y.size()) Contradict(a, b);
      return ir::TupleType(UnifyAll(x, y));
    }
    case ir::TypeKind::kFunc: {
      const auto& x = *a.As<ir::FuncTypeNode>();
      const auto& y = *b.As<ir::FuncTypeNode>();
      if (x.params.size() != y.params.size()) Contradict(a, b);
      return ir::FuncType(UnifyAll(x.params, y.params), Unify(x.result, y.result));
    }
    case ir::TypeKind::kRef:
      return ir::RefType(Unify(a.As<ir::RefTypeNode>()->value, b.As<ir::RefTypeNode>()->value));
  }
  return a;
}

void Identity(TypeCall& call) {
  if (call.tensor(0) != nullptr) call.LearnResult(call.input(0));
  if (call.result()) call.LearnInput(0, call.result());
}

void IdentityToBool(TypeCall& call) {
  if (const auto* x = call.tensor(0)) call.LearnResult(ir::TensorType(x->shape, Bool));
}

std::optional<Dim> BroadcastDim(const Dim& a, const Dim& b) {
  if (a == b && !a.is_any()) return a;
  if (a.is_static() && a.value() == 1) return b;
  if (b.is_static() && b.value() == 1) return a;
  if (a.is_static() && b.is_static()) return std::nullopt;
  // An expression may be 1 or equal the number, and kernels read differently for each.
  if (a.is_symbolic() || b.is_symbolic()) return Dim();
  // An unknown extent must be 1 or equal the known one.
  if (a.is_static()) return a;
  if (b.is_static()) return b;
  return Dim();
}

std::vector<Dim> BroadcastShapes(TypeCall& call, const std::vector<Dim>& a,
                                 const std::vector<Dim>& b) {
  const auto is_one = [](const Dim& dim) { return dim.is_static() && dim.value() == 1; };
  const std::size_t rank = std::max(a.size(), b.size());
  std::vector<Dim> shape(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim x = i < a.size() ? a[a.size() - 1 - i] : Dim(1);
    const Dim y = i < b.size() ? b[b.size() - 1 - i] : Dim(1);
    const bool has_variables = (x.is_symbolic() && !y.is_any()) || (y.is_symbolic() && !x.is_any());
    if (has_variables && !(x == y) && !is_one(x) && !is_one(y)) {
      call.AssumeEqual(x, y);
      shape[rank - 1 - i] = x.is_static() ? x : y.is_static() ? y : Max(x, y);
      continue;
    }
    const auto dim = BroadcastDim(x, y);
    if (!dim)
      call.Refuse(StrCat("the shapes do not broadcast: extent ", x.ToString(), " against ",
                         y.ToString(), " in dimension ", rank - 1 - i,
                         "; extents must be equal or one of them 1"));
    shape[rank - 1 - i] = *dim;
  }
  return shape;
}

namespace {

void BroadcastAs(TypeCall& call, std::optional<DataType> result) {
  const auto* a = call.tensor(0);
  const auto* b = call.tensor(1);
  if (a == nullptr || b == nullptr) return;
  if (a->dtype != b->dtype)
    call.Refuse(StrCat("the element types differ: ", a->dtype.ToString(), " and ",
                       b->dtype.ToString(), "; cast one of them"));
  call.LearnResult(
      ir::TensorType(BroadcastShapes(call, a->shape, b->shape), result.value_or(a->dtype)));
}

}  // namespace

void Broadcast(TypeCall& call) { BroadcastAs(call, std::nullopt); }
void BroadcastToBool(TypeCall& call) { BroadcastAs(call, Bool); }

int NormalizeAxis(const TypeCall& call, std::int64_t axis, std::size_t rank,
                  const char* attribute) {
  try {
    return NormalAxis(axis, rank, attribute);
  } catch (const Error& error) {
    call.Refuse(error.message());
  }
}

std::vector<int> NormalizeAxes(const TypeCall& call, const std::vector<std::int64_t>& axes,
                               std::size_t rank, const char* attribute) {
  std::vector<int> result;
  for (const std::int64_t axis : axes) {
    const int normal = NormalizeAxis(call, axis, rank, attribute);
    if (std::find(result.begin(), result.end(), normal) != result.end())
      call.Refuse(StrCat(attribute, " names the axis ", axis, " twice"));
    result.push_back(normal);
  }
  return result;
}

void RequireIntegers(const TypeCall& call, const TensorTypeNode& indices) {
  if (!indices.dtype.is_integral())
    call.Refuse(StrCat("indices must be integers, not ", indices.dtype.ToString()));
}

void RequireElements(TypeCall& call, const Dim& extent, std::string_view axis,
                     const std::vector<Dim>& result) {
  const std::optional<std::int64_t> least = extent.LowerBound();
  if (extent.is_any() || (least && *least > 0)) return;
  // Not above 0 where the result has no elements. A variable of it may be 0, too, with which an
  // axis of 0 elements is taken.
  Dim needed = 1;
  for (const Dim& dim : result)
    needed = extent.is_static() && dim.is_symbolic() ? needed * dim : Min(needed, dim);
  if (call.Exceeds(needed, extent))
    call.Refuse(StrCat(axis, " of the data has no elements, so that none can be taken"));
}

Dim SpanOf(TypeCall& call, const Dim& count, std::int64_t step) {
  if (count.is_static()) return WindowSpan(count.value(), step);
  if (step != 1) call.Exceeds(1, count);
  return (count - 1) * step + 1;
}

void RequireRegions(TypeCall& call, const TensorTypeNode& data, const TensorTypeNode& regions) {
  if (data.shape.size() != 4) call.Refuse("the data must have rank 4");
  if (regions.shape.size() != 2 || call.Differ(regions.shape[1], Dim(5)))
    call.Refuse("the regions must have the shape (count, 5): batch index, x1, y1, x2, y2");
  if (!data.dtype.is_float() || data.dtype != regions.dtype)
    call.Refuse("data and regions must have one floating-point type");
  if (data.dtype == Float64)
    call.Refuse("data and regions must not be float64: they are pooled in float32");
}

Dim Product(const std::vector<Dim>& dims) {
  Dim product = 1;
  for (const Dim& dim : dims) {
    std::int64_t value = 0;
    const bool fits = !product.is_static() || !dim.is_static() ||
                      !__builtin_mul_overflow(product.value(), dim.value(), &value);
    if (!fits) throw InvalidArgument("the product of the extents does not fit 64 bits");
    product = product * dim;
  }
  return product;
}

bool AreBytesIntoInt32(DataType a, DataType b, DataType out) {
  const auto is_byte = [](DataType t) { return t == Int8 || t == UInt8; };
  return is_byte(a) && is_byte(b) && out == Int32;
}

}  // namespace tenon::ops
