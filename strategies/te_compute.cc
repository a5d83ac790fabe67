#include "tenon/strategies/te_compute.h"

#include <algorithm>

#include "tenon/strategies/planned_extent.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

const ir::Type& FieldType(const ir::Type& type, std::size_t field) {
  const auto* tuple = type.As<ir::TupleTypeNode>();
  const std::size_t count = tuple == nullptr ? 1 : tuple->fields.size();
  if (field >= count)
    throw InvalidArgument(StrCat("field ", field, " of the result is asked for; it has ", count));
  return tuple == nullptr ? type : tuple->fields[field];
}

constexpr const char* kNeedsNumbers = "; this way to compute it needs extents that are numbers";

std::vector<te::Expr> ExtentsIn(const ir::Type& type, SymbolVars* symbols) {
  if (symbols != nullptr) return symbols->ExprsOf(type.As<ir::TensorTypeNode>()->shape);
  return ToExprs(ir::StaticShape(type, "the result"));
}

}  // namespace

const te::Tensor& TeCall::input(std::size_t i) const {
  if (i < inputs.size()) return inputs[i];
  throw InvalidArgument(
      StrCat("input ", i, " is asked for; the call has ", inputs.size(),
             inputs.size() == 1 ? " tensor" : " tensors, those of tuples counted one by one"));
}

Shape TeCall::shape(std::size_t field) const {
  const ir::Type type = FieldType(result, field);
  if (ir::IsStaticTensor(type)) return ir::StaticShape(type, "the result");
  throw Unimplemented(StrCat("the result has the type ", ir::ToString(type), kNeedsNumbers));
}
DataType TeCall::dtype(std::size_t field) const {
  return FieldType(result, field).As<ir::TensorTypeNode>()->dtype;
}
std::vector<te::Expr> TeCall::te_shape(std::size_t field) const {
  return ExtentsIn(FieldType(result, field), symbols);
}
Sizes TeCall::sizes() const {
  const std::vector<te::Expr> extents = te_shape();
  return {extents.begin(), extents.end()};
}
const std::vector<Dim>& TeCall::DimsOf(std::size_t i) const {
  return input_types.at(i).As<ir::TensorTypeNode>()->shape;
}
te::Expr TeCall::ExprOf(const Dim& dim) const {
  return dim.is_static() ? te::Expr(dim.value()) : symbols->ExprOf(dim);
}

std::vector<te::Expr> ToExprs(const std::vector<te::Var>& vars) {
  return {vars.begin(), vars.end()};
}
std::vector<te::Expr> ToExprs(const Shape& shape) { return {shape.begin(), shape.end()}; }

std::int64_t ExtentOf(const te::Tensor& tensor, std::size_t axis) {
  const auto* extent = tensor.shape().at(axis).As<loop::IntImmNode>();
  if (extent == nullptr)
    throw Unimplemented(
        StrCat("axis ", axis, " of ", tensor.name(), " has an extent of variables", kNeedsNumbers));
  return extent->value;
}

Shape ShapeOf(const te::Tensor& tensor) {
  Shape shape;
  for (std::size_t i = 0; i < tensor.ndim(); ++i) shape.push_back(ExtentOf(tensor, i));
  return shape;
}

bool IsOne(const te::Expr& extent) { return loop::IsConstInt(extent, 1); }

std::int64_t BytesOf(const te::Tensor& tensor) {
  Shape shape;
  for (const te::Expr& extent : tensor.shape()) shape.push_back(PlannedExtent(extent));
  return static_cast<std::int64_t>(NumBytes(shape, tensor.dtype()));
}

te::Expr ProductOf(const std::vector<te::Expr>& extents) {
  te::Expr product = 1;
  for (const te::Expr& extent : extents) product = product * extent;
  return product;
}

te::Expr CountOf(const std::vector<te::Expr>& extents, DataType type) {
  const te::Expr count = ProductOf(extents);
  const auto* number = count.As<loop::IntImmNode>();
  return number == nullptr ? loop::Cast(type, count)
                           : te::Cast(type, static_cast<double>(number->value));
}

std::vector<te::Expr> Unflatten(te::Expr flat, const std::vector<te::Expr>& shape) {
  std::vector<te::Expr> at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    // Nothing is read from a tensor of no elements, yet its expressions must make sense.
    const te::Expr extent = loop::IsConstInt(shape[d], 0) ? te::Expr(1) : shape[d];
    at[d] = d == 0 ? flat : loop::FloorMod(flat, extent);
    flat = loop::FloorDiv(flat, extent);
  }
  return at;
}

te::Expr Flatten(const std::vector<te::Expr>& at, const std::vector<te::Expr>& shape) {
  te::Expr flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + at[d];
  return flat;
}

std::vector<te::Expr> Unflatten(te::Expr flat, const Shape& shape) {
  return Unflatten(std::move(flat), ToExprs(shape));
}
te::Expr Flatten(const std::vector<te::Expr>& at, const Shape& shape) {
  return Flatten(at, ToExprs(shape));
}

te::Tensor AsType(const te::Tensor& x, DataType dtype, te::Label label) {
  if (x.dtype() == dtype) return x;
  return te::Compute(
      x.shape(), [&](const std::vector<te::Var>& i) { return loop::Cast(dtype, x[ToExprs(i)]); },
      "as", std::move(label));
}

te::Expr BroadcastRead(const te::Tensor& tensor, const std::vector<te::Var>& axes) {
  std::vector<te::Expr> indices;
  const std::size_t skipped = axes.size() - tensor.ndim();
  for (std::size_t i = 0; i < tensor.ndim(); ++i) {
    if (IsOne(tensor.shape()[i])) {
      indices.emplace_back(0);
    } else {
      indices.emplace_back(axes[skipped + i]);
    }
  }
  return tensor[indices];
}

std::vector<te::IterVar> TapAxes(const std::vector<std::int64_t>& extents) {
  constexpr const char* kNames[] = {"rz", "ry", "rx"};
  std::vector<te::IterVar> axes;
  for (std::size_t d = 0; d < extents.size(); ++d)
    axes.push_back(te::ReduceAxis(0, extents[d], kNames[3 - extents.size() + d]));
  return axes;
}

te::Tensor Zeros(const TeCall& call) { return Filled(call.te_shape(), te::Cast(call.dtype(), 0)); }

DataType SumType(DataType type) { return type.is_float() && type.bits() < 32 ? Float32 : type; }
DataType MeanType(DataType type, std::int64_t count, int bits) {
  if (type.is_float()) return SumType(type);
  // Nothing is wider than 64 bits, and sums of those wrap around.
  if (type.is_bool() || type.bits() > 32) return type;
  return count <= (std::int64_t{1} << std::max(31 - bits, 0)) ? Int32 : Int64;
}

te::Tensor Filled(const std::vector<te::Expr>& shape, const te::Expr& value) {
  return te::Compute(
      shape, [&](const std::vector<te::Var>&) { return value; }, "filled");
}

te::Expr ReadPadded(const te::Tensor& x, const std::vector<te::Expr>& from,
                    const std::vector<std::size_t>& at, const te::Expr& value) {
  te::Expr inside = loop::True();
  for (const std::size_t axis : at)
    inside = inside && from[axis] >= te::Expr(0) && from[axis] < x.shape()[axis];
  return te::IfThenElse(inside, x[from], value);
}

te::Tensor PadImage(const te::Tensor& x, const std::vector<std::size_t>& at,
                    const ops::Ints& before, const ops::Ints& after, te::Label label) {
  return PadImage(x, at, before, after, te::Cast(x.dtype(), 0), std::move(label));
}

te::Tensor PadImage(const te::Tensor& x, const std::vector<std::size_t>& at,
                    const ops::Ints& before, const ops::Ints& after, const te::Expr& value,
                    te::Label label) {
  const ops::Ints none(at.size(), 0);
  if (before == none && after == none) return x;
  std::vector<te::Expr> shape = x.shape();
  for (std::size_t d = 0; d < at.size(); ++d) shape[at[d]] = shape[at[d]] + (before[d] + after[d]);
  return te::Compute(
      shape,
      [&](const std::vector<te::Var>& i) {
        std::vector<te::Expr> from = ToExprs(i);
        for (std::size_t d = 0; d < at.size(); ++d) from[at[d]] = i[at[d]] - before[d];
        return ReadPadded(x, from, at, value);
      },
      "pad_image", std::move(label));
}

te::Tensor PadImage(const te::Tensor& x, std::size_t height, std::size_t width,
                    const std::array<std::int64_t, 4>& padding, te::Label label) {
  return PadImage(x, {height, width}, {padding[0], padding[1]}, {padding[2], padding[3]}, label);
}

}  // namespace tenon::strategies
