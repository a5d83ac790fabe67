// Operators that write elements at places which indices or bounds name: one update after the other,
// into a copy of the data.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tenon/ops/boxes/region_attrs.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/define/defined_places.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

void Insert(const Shape& part, Shape* to) { to->insert(to->end(), part.begin(), part.end()); }

// A copy of an array that is written element by element.
class Written {
 public:
  explicit Written(const NDArray& data)
      : type_(data.dtype()), unit_(static_cast<Real>(RoundingError(type_))) {
    made_.shape = data.shape();
    for (std::int64_t i = 0; i < data.size(); ++i) made_.Add(ElementAt(data, i), 0);
    magnitudes_.resize(made_.elements.size());
    for (std::size_t i = 0; i < magnitudes_.size(); ++i)
      magnitudes_[i] = std::abs(made_.elements[i].real);
  }

  void Set(std::int64_t place, const Number& value) { made_.elements.at(At(place)) = value; }
  void Join(const std::string& how, std::int64_t place, const Number& value) {
    Number& old = made_.elements.at(At(place));
    Real& magnitude = magnitudes_.at(At(place));
    Real& tolerance = made_.tolerances.at(At(place));
    if (how == "update") {
      old = value;
    } else if (how == "add") {
      old = {Wrapped(old.whole + value.whole, type_), old.real + value.real};
      magnitude += std::abs(value.real);
      tolerance += unit_ * magnitude;
    } else if (how == "mul") {
      const Number product = {Wrapped(old.whole * value.whole, type_), old.real * value.real};
      tolerance = tolerance * std::abs(value.real) + 2 * unit_ * std::abs(product.real);
      // What underflows or overflows on the way is lost.
      if (IsLost(product.real)) tolerance = HUGE_VALL;
      old = product;
    } else if (std::isnan(old.real) || std::isnan(value.real)) {
      old.real = std::numeric_limits<Real>::quiet_NaN();
    } else if (how == "min") {
      old = {std::min(old.whole, value.whole), std::min(old.real, value.real)};
    } else {
      old = {std::max(old.whole, value.whole), std::max(old.real, value.real)};
    }
  }
  Definitions Take() { return {std::move(made_)}; }

 private:
  bool IsLost(Real value) const {
    if (!type_.is_float() || value == 0) return false;
    return std::isinf(Rounded(value, type_)) ||
           std::abs(value) < static_cast<Real>(LeastNormal(type_));
  }

  const DataType type_;
  const Real unit_;
  Definition made_;
  std::vector<Real> magnitudes_;
};

// A negative index counts from the end; -1 for one that is out of range even so.
std::int64_t FromEnd(Whole index, std::int64_t extent) {
  const Whole at = index < 0 ? index + extent : index;
  return at >= 0 && at < extent ? static_cast<std::int64_t>(at) : -1;
}

Definitions ScatterElements(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ScatterElementsAttrs>();
  const Shape& shape = call.shape(0);
  const std::size_t axis = AxisOf(attrs.axis, shape.size());
  Written written(call.args[0]);
  for (const Shape& from : AllPlaces(call.shape(1))) {
    Shape at = from;
    at[axis] = FromEnd(WholeOf(call.args[1], from), shape[axis]);
    if (at[axis] < 0) continue;
    written.Join(attrs.reduction, PlaceOf(at, shape), ElementOf(call.args[2], from));
  }
  return written.Take();
}

Definitions ScatterND(const DefinedCall& call) {
  const std::string& mode = call.call.attrs.As<ops::ScatterNDAttrs>().mode;
  const Shape &shape = call.shape(0), &indices = call.shape(1);
  const auto length = static_cast<std::ptrdiff_t>(indices[0]);
  Written written(call.args[0]);
  for (const Shape& tuple : AllPlaces({indices.begin() + 1, indices.end()})) {
    Shape start;
    bool is_inside = true;
    for (std::int64_t k = 0; k < length; ++k) {
      Shape named = {k};
      Insert(tuple, &named);
      start.push_back(FromEnd(WholeOf(call.args[1], named), shape[At(k)]));
      is_inside = is_inside && start.back() >= 0;
    }
    if (!is_inside) continue;
    for (const Shape& inner : AllPlaces({shape.begin() + length, shape.end()})) {
      Shape from = tuple, to = start;
      Insert(inner, &from);
      Insert(inner, &to);
      written.Join(mode, PlaceOf(to, shape), ElementOf(call.args[2], from));
    }
  }
  return written.Take();
}

// Where no element points, 0; of several that point to one place, the last counts. Negative
// numbers point nowhere.
Definitions InvertPermutation(const DefinedCall& call) {
  const NDArray& p = call.args[0];
  Written written(NDArray::Zeros(p.shape(), p.dtype()));
  for (std::int64_t i = 0; i < p.size(); ++i) {
    const Whole at = ElementAt(p, i).whole;
    if (at >= 0 && at < p.size()) written.Set(static_cast<std::int64_t>(at), {.whole = i});
  }
  return written.Take();
}

Definitions StridedSet(const DefinedCall& call) {
  const Shape &shape = call.shape(0), &values = call.shape(1);
  std::vector<std::vector<std::int64_t>> places;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto of_axis = [&](std::size_t arg) {
      return ElementAt(call.args[arg], static_cast<std::int64_t>(d)).whole;
    };
    places.push_back(SlicePlaces(of_axis(2), of_axis(3), of_axis(4), shape[d]));
  }
  Written written(call.args[0]);
  for (const Shape& from : AllPlaces(values)) {
    Shape to;
    for (std::size_t d = 0; d < from.size() && At(from[d]) < places[d].size(); ++d)
      to.push_back(places[d][At(from[d])]);
    if (to.size() < from.size()) continue;
    written.Set(PlaceOf(to, shape), ElementOf(call.args[1], from));
  }
  return written.Take();
}

// Rows of values are those of diagonals, the highest first; a row is as long as the longest.
Definitions MatrixSetDiag(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::MatrixSetDiagAttrs>();
  const Shape& shape = call.shape(0);
  const std::size_t rank = shape.size();
  const std::int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  const std::int64_t low = std::min(attrs.k1, attrs.k2), high = std::max(attrs.k1, attrs.k2);
  const auto length = [&](std::int64_t k) {
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < rows; ++row) count += row + k >= 0 && row + k < columns;
    return count;
  };
  std::int64_t longest = 0;
  for (std::int64_t k = low; k <= high; ++k) longest = std::max(longest, length(k));
  Written written(call.args[0]);
  for (const Shape& batch : AllPlaces({shape.begin(), shape.end() - 2})) {
    for (std::int64_t k = low; k <= high; ++k) {
      const bool is_right = k >= 0 ? attrs.super_diag_right_align : attrs.sub_diag_right_align;
      std::int64_t next = is_right && low != high ? longest - length(k) : 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        if (row + k < 0 || row + k >= columns) continue;
        Shape to = batch, from = batch;
        Insert({row, row + k}, &to);
        if (low != high) from.push_back(high - k);
        from.push_back(next++);
        written.Set(PlaceOf(to, shape), ElementOf(call.args[1], from));
      }
    }
  }
  return written.Take();
}

Definitions Trilu(const DefinedCall& call) {
  const bool is_upper = call.call.attrs.As<ops::TriluAttrs>().upper;
  const Whole k = ElementAt(call.args[1], 0).whole;
  const Shape& shape = call.shape(0);
  Written written(call.args[0]);
  for (const Shape& at : AllPlaces(shape)) {
    const Whole above = at[at.size() - 1] - at[at.size() - 2];
    if (is_upper ? above < k : above > k) written.Set(PlaceOf(at, shape), {});
  }
  return written.Take();
}

// The last elements of the buffer and the data after it.
Definitions FifoBuffer(const DefinedCall& call) {
  const Shape &x = call.shape(0), &buffer = call.shape(1);
  const std::size_t axis = AxisOf(call.call.attrs.As<ops::FIFOBufferAttrs>().axis, buffer.size());
  Definition made{.shape = buffer};
  for (Shape at : AllPlaces(buffer)) {
    at[axis] += x[axis];
    const bool is_old = at[axis] < buffer[axis];
    if (!is_old) at[axis] -= buffer[axis];
    made.Add(ElementOf(call.args[is_old ? 1 : 0], at), 0);
  }
  return {made};
}

}  // namespace

void AddScatteredDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["invert_permutation"] = InvertPermutation;
  t["matrix_set_diag"] = MatrixSetDiag;
  t["nn.fifo_buffer"] = FifoBuffer;
  t["scatter_elements"] = ScatterElements;
  t["scatter_nd"] = ScatterND;
  t["strided_set"] = StridedSet;
  t["trilu"] = Trilu;
}

}  // namespace tenon::verify
