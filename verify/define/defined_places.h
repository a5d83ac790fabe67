// Places of elements in arrays, by their coordinates. Only verify/define_*.cc include this header.
//
//   for (const Shape& at : AllPlaces(shape)) made.Add(ElementOf(x, at), 0);
#ifndef TENON_VERIFY_DEFINE_DEFINED_PLACES_H_
#define TENON_VERIFY_DEFINE_DEFINED_PLACES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tenon/verify/define/definition.h"

namespace tenon::verify {

// The coordinates of all elements, in row-major order.
inline std::vector<Shape> AllPlaces(const Shape& shape) {
  std::vector<Shape> places;
  Shape at(shape.size(), 0);
  for (std::int64_t left = NumElements(shape); left > 0; --left) {
    places.push_back(at);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
  return places;
}

// Throws std::out_of_range for coordinates that are not in the array.
Number ElementOf(const NDArray& array, const Shape& at);
// Of an integer; the same.
Whole WholeOf(const NDArray& array, const Shape& at);
std::int64_t PlaceOf(const Shape& at, const Shape& shape);

// An axis that may count from the end.
inline std::size_t AxisOf(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

// The place in an operand that is broadcast to the shape in which `at` is.
Shape BroadcastPlace(const Shape& operand, const Shape& at);
// The places begin, begin + stride, ... before `end`, of which negative ones count from the end of
// the axis; those beyond it are left out. None for a stride of 0.
std::vector<std::int64_t> SlicePlaces(Whole begin, Whole end, Whole stride, std::int64_t extent);

inline Shape Part(const Shape& of, std::size_t from, std::size_t to) {
  return {of.begin() + static_cast<std::ptrdiff_t>(from),
          of.begin() + static_cast<std::ptrdiff_t>(to)};
}
inline void Append(const Shape& part, Shape* to) {
  to->insert(to->end(), part.begin(), part.end());
}

// A result of this shape, each element of which is the element of an argument at another place.
using PlaceBefore = std::function<Shape(const Shape& at)>;
Definition MovedTo(const Shape& result, const NDArray& from, const PlaceBefore& before);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DEFINE_DEFINED_PLACES_H_
