// Operators that join tensors along an axis. Fields are read in place.
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// The element of the field whose range along `axis` holds the index. Fields are read in place.
// `slot` is the index within the field. Many fields are halved again and again, so that expressions
// are not as deep as there are fields.
Expr ReadJoined(const std::vector<Tensor>& fields, const Expr& index,
                const std::vector<Expr>& starts,
                const std::function<Expr(const Tensor& field, const Expr& slot)>& read) {
  constexpr std::size_t kMaxInARow = 64;
  const std::function<Expr(std::size_t, std::size_t)> range = [&](std::size_t begin,
                                                                  std::size_t end) -> Expr {
    if (end - begin > kMaxInARow) {
      const std::size_t middle = begin + (end - begin) / 2;
      return te::IfThenElse(index < starts[middle], range(begin, middle), range(middle, end));
    }
    Expr value = read(fields[end - 1], index - starts[end - 1]);
    for (std::size_t f = end - 1; f-- > begin;)
      value = te::IfThenElse(index < starts[f + 1], read(fields[f], index - starts[f]), value);
    return value;
  };
  return range(0, fields.size());
}

// The fields of one loop, whose compile time grows with the square of its branches. If there are
// more, parts of them are joined first and stored.
constexpr std::size_t kMaxFields = 256, kFieldsOfPart = 64;

using Join = std::function<Tensor(const std::vector<Tensor>& part)>;

std::vector<Tensor> JoinedInParts(const std::vector<Tensor>& fields, const Join& join) {
  std::vector<Tensor> parts;
  for (std::size_t begin = 0; begin < fields.size(); begin += kFieldsOfPart) {
    const std::size_t end = std::min(begin + kFieldsOfPart, fields.size());
    parts.push_back(join({fields.begin() + static_cast<std::ptrdiff_t>(begin),
                          fields.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  return parts;
}

// Where each field begins along `axis`, and where the last one ends.
std::vector<Expr> PlacesOf(const std::vector<Tensor>& fields, std::size_t axis) {
  std::vector<Expr> places = {Expr(std::int64_t{0})};
  for (const Tensor& field : fields) places.push_back(places.back() + field.shape()[axis]);
  return places;
}

Tensor Concatenated(std::vector<Tensor> fields, std::size_t axis, const std::vector<Expr>& shape,
                    const char* name, const te::Label& label = {}) {
  while (fields.size() > kMaxFields) {
    fields = JoinedInParts(fields, [&](const std::vector<Tensor>& part) {
      std::vector<Expr> shape_of_part = shape;
      shape_of_part[axis] = PlacesOf(part, axis).back();
      return Concatenated(part, axis, shape_of_part, "part", te::Stored{});
    });
  }
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        return ReadJoined(fields, i[axis], PlacesOf(fields, axis),
                          [&](const Tensor& field, const Expr& slot) {
                            std::vector<Expr> indices = ToExprs(i);
                            indices[axis] = slot;
                            return field[indices];
                          });
      },
      name, label);
}

std::vector<Tensor> Concatenate(const TeCall& call) {
  std::vector<Tensor> fields;
  const auto axis = static_cast<std::size_t>(
      ops::NormalAxis(call.attrs.As<ops::ConcatenateAttrs>().axis, call.input(0).ndim()));
  for (const Tensor& field : call.inputs) {
    // An empty field is never read, but one must stay when all are empty.
    if (loop::IsConstInt(field.shape()[axis], 0) &&
        !(fields.empty() && field == call.inputs.back()))
      continue;
    fields.push_back(field);
  }
  return {Concatenated(std::move(fields), axis, call.te_shape(), "concatenate")};
}

Tensor Stacked(const std::vector<Tensor>& fields, std::size_t axis, std::vector<Expr> shape,
               const char* name, const te::Label& label = {}) {
  if (fields.size() > kMaxFields) {
    std::vector<Tensor> parts = JoinedInParts(fields, [&](const std::vector<Tensor>& part) {
      return Stacked(part, axis, shape, "part", te::Stored{});
    });
    return Concatenated(std::move(parts), axis, shape, name, label);
  }
  shape[axis] = static_cast<std::int64_t>(fields.size());
  std::vector<Expr> starts;
  for (std::size_t f = 0; f < fields.size(); ++f) starts.emplace_back(static_cast<std::int64_t>(f));
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> indices = ToExprs(i);
        indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(axis));
        return ReadJoined(fields, i[axis], starts,
                          [&](const Tensor& field, const Expr&) { return field[indices]; });
      },
      name, label);
}

std::vector<Tensor> Stack(const TeCall& call) {
  const auto axis = static_cast<std::size_t>(
      ops::NormalAxis(call.attrs.As<ops::StackAttrs>().axis, call.input(0).ndim() + 1));
  return {Stacked(call.inputs, axis, call.te_shape(), "stack")};
}

}  // namespace

void AttachJoinComputes(ops::OpRegistry& registry) {
  registry.Definition("concatenate").SetColumn(TeCompute{Concatenate});
  registry.Definition("stack").SetColumn(TeCompute{Stack});
}

}  // namespace tenon::strategies
