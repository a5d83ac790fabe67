#include "tenon/verify/draw/graph_draft.h"

#include <algorithm>
#include <cmath>

#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"

namespace tenon::verify {

using loop::Expr;
using loop::Var;
using te::Tensor;

namespace {

bool AreSame(const Extent& a, const Extent& b) {
  return a.expr.same_as(b.expr) ||
         (loop::IsConstInt(a.expr, b.value) && loop::IsConstInt(b.expr, a.value));
}

// Symbolic extents may be 0.
Expr Guarded(const Extent& extent, std::vector<Expr>* conditions) {
  if (loop::IsConstInt(extent.expr, extent.value)) return extent.expr;
  conditions->push_back(Expr(0) < extent.expr);
  return loop::Max(extent.expr, 1);
}

}  // namespace

std::vector<Index> Axes(const std::vector<Var>& vars, const std::vector<Extent>& shape) {
  std::vector<Index> axes;
  for (std::size_t d = 0; d < vars.size(); ++d) axes.push_back({vars[d], shape[d]});
  return axes;
}

std::vector<Expr> ExprsOf(const std::vector<Extent>& shape) {
  std::vector<Expr> result;
  for (const Extent& extent : shape) result.push_back(extent.expr);
  return result;
}

std::int64_t ElementsOf(const std::vector<Extent>& shape) {
  std::int64_t elements = 1;
  for (const Extent& extent : shape) elements *= std::max<std::int64_t>(extent.value, 1);
  return elements;
}

const std::vector<DataType>& Types() {
  static const std::vector<DataType>& types =
      *new std::vector<DataType>{Float32, Float32, Float32, Float32, Int32,    Int32,   Int8,
                                 UInt8,   Int64,   Bool,    Float16, BFloat16, Float64, Float64};
  return types;
}

void GraphDraft::MakeExtents() {
  static const std::vector<std::int64_t>& sizes = *new std::vector<std::int64_t>{
      1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 23, 31, 32, 33, 63, 64, 65, 127};
  for (int i = 0; i < 4; ++i) {
    const std::int64_t size = random_.Chance(2) ? 0 : random_.Of(sizes);
    extents_.push_back({Expr(size), size});
  }
  if (!random_.Chance(20)) return;
  const Var n("n");
  const std::int64_t size = random_.Chance(5) ? 0 : random_.Of(sizes);
  graph_.sizes.emplace_back(n, size);
  extents_.push_back({n, size});
  if (random_.Chance(30)) extents_.push_back({n + 2, size + 2});
}

std::vector<Extent> GraphDraft::RandomShape(std::int64_t max_elements) {
  std::vector<Extent> shape;
  const std::int64_t rank = random_.Chance(5) ? 0 : 1 + random_.Below(3);
  std::int64_t elements = 1;
  for (std::int64_t d = 0; d < rank; ++d) {
    const Extent extent = random_.Of(extents_);
    if (elements * std::max<std::int64_t>(extent.value, 1) > max_elements) continue;
    elements *= std::max<std::int64_t>(extent.value, 1);
    shape.push_back(extent);
  }
  return shape;
}

void GraphDraft::AddInput() { AddInput(RandomShape(kMaxElements)); }

void GraphDraft::AddSymbolicInput() {
  for (const Extent& extent : extents_) {
    if (extent.expr.same_as(graph_.sizes[0].first)) return AddInput({extent});
  }
}

void GraphDraft::AddInput(std::vector<Extent> shape) {
  const DataType type = random_.Of(Types());
  Known input{te::Placeholder(ExprsOf(shape), type, StrCat("A", graph_.inputs.size())),
              std::move(shape)};
  // The bounds of RandomArray.
  input.bound = type.is_float() ? 2 : type.is_bool() ? 1 : 16;
  input.grain = type.is_float() ? 0.25 : 1;
  input.may_be_special = type.is_float() && random_.Chance(12);
  graph_.has_special_values.push_back(input.may_be_special);
  const bool has_tiny = type.is_float() && random_.Chance(12);
  graph_.has_tiny_values.push_back(has_tiny);
  if (has_tiny) {  // what is computed of them is flushed somewhere
    input.grain = 0;
    input.error = type == Float16 ? 0 : 1e-37;
  }
  graph_.inputs.push_back(input.tensor);
  known_.push_back(std::move(input));
}

Expr GraphDraft::IndexInto(const Extent& extent, const std::vector<Index>& axes,
                           std::vector<Expr>* conditions) {
  std::vector<const Index*> same;
  for (const Index& axis : axes) {
    if (AreSame(axis.extent, extent)) same.push_back(&axis);
  }
  const std::int64_t choice = random_.Below(10);
  if (!same.empty() && choice < 8) {
    const Index& axis = *random_.Of(same);
    if (choice < 6) return axis.expr;
    if (choice == 6) return extent.expr - 1 - axis.expr;
    return Shifted(axis.expr, extent, conditions);
  }
  if (loop::IsConstInt(extent.expr, 1)) return 0;
  if (axes.empty() || extent.value == 0 || choice == 9)
    return Shifted(random_.Below(3), extent, conditions);
  const Index& axis = random_.Of(axes);
  switch (random_.Below(5)) {
    case 0:
      return loop::FloorMod(axis.expr, Guarded(extent, conditions));
    case 1:
      return loop::Min(axis.expr, Guarded(extent, conditions) - 1);
    case 2:
      return Shifted(loop::FloorDiv(axis.expr, 2 + random_.Below(3)), extent, conditions);
    case 3: {  // element of a group
      const Expr group = 2 + random_.Below(4);
      return Shifted(random_.Chance(50) ? loop::FloorMod(axis.expr, group)
                                        : loop::FloorDiv(axis.expr, group) * group,
                     extent, conditions);
    }
    default:
      return Shifted(axis.expr * (1 + random_.Below(3)) - random_.Below(3), extent, conditions);
  }
}

Expr GraphDraft::Shifted(const Expr& index, const Extent& extent, std::vector<Expr>* conditions) {
  const Expr shifted = index + (random_.Below(5) - 2);
  conditions->push_back(Expr(0) <= shifted);
  conditions->push_back(shifted < extent.expr);
  return shifted;
}

Term GraphDraft::Read(const Known& source, const std::vector<Index>& axes) {
  std::vector<Expr> indices, conditions;
  for (const Extent& extent : source.shape) indices.push_back(IndexInto(extent, axes, &conditions));
  Term term{source.tensor[indices], source.bound, source.grain, source.error,
            source.may_be_special};
  if (conditions.empty()) return term;
  Expr inside = conditions[0];
  for (std::size_t i = 1; i < conditions.size(); ++i) inside = inside && conditions[i];
  return Chosen({inside, 1, 1, 0}, term, RandomConstant(source.tensor.dtype(), random_), true);
}

Term GraphDraft::Read(const std::vector<Index>& axes) {
  // Late stages read other stages rather than inputs.
  const auto last = static_cast<std::int64_t>(known_.size());
  const std::int64_t first =
      random_.Chance(60) ? std::max<std::int64_t>(0, last - 3) : std::int64_t{0};
  return Read(known_[static_cast<std::size_t>(first + random_.Below(last - first))], axes);
}

Term GraphDraft::RandomTerm(DataType type, const std::vector<Index>& axes, int depth) {
  const std::int64_t choice = random_.Below(10);
  if (depth == 0 || choice < 2) {
    if (random_.Chance(85)) return ConvertTo(type, Read(axes));
    if (axes.empty() || random_.Chance(60)) return RandomConstant(type, random_);
    const Index& axis = random_.Of(axes);
    return ConvertTo(type, {axis.expr, static_cast<double>(axis.extent.value + 1), 1, 0});
  }
  const Term a = RandomTerm(type, axes, depth - 1);
  if (choice < 5) return RandomUnary(a, random_);
  const Term b = RandomTerm(type, axes, depth - 1);
  if (choice < 9) return RandomBinary(a, b, random_);
  const DataType compared = random_.Chance(50) ? type : random_.Of(Types());
  const Term c = RandomTerm(compared, axes, 0), d = RandomTerm(compared, axes, 0);
  return Chosen(RandomCondition(c, d, random_), a, b, random_.Chance(30));
}

void GraphDraft::Remember(const std::vector<Tensor>& tensors, const std::vector<Extent>& shape,
                          const std::vector<Term>& terms) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    known_.push_back({tensors[i], shape, terms[i].bound, terms[i].grain, terms[i].error,
                      terms[i].may_be_special});
  last_ = tensors;
}

std::string GraphDraft::Name() const { return StrCat("T", known_.size()); }

void FixIntegers(std::vector<Term>* terms) {
  for (Term& term : *terms) {
    const DataType type = term.value.dtype();
    if (type.is_float()) continue;
    const double highest = std::ldexp(1, type.is_uint() ? type.bits() : type.bits() - 1);
    term = {term.value, term.grain == 0 ? highest : std::min(term.bound, highest), 1, 0, false};
  }
}

}  // namespace tenon::verify
