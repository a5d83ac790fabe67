#include "tenon/verify/define/defined_places.h"

#include <algorithm>
#include <stdexcept>

namespace tenon::verify {

std::int64_t PlaceOf(const Shape& at, const Shape& shape) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (at.at(d) < 0 || at[d] >= shape[d]) throw std::out_of_range("a place outside of its array");
    place = place * shape[d] + at[d];
  }
  return place;
}

Number ElementOf(const NDArray& array, const Shape& at) {
  return ElementAt(array, PlaceOf(at, array.shape()));
}
Whole WholeOf(const NDArray& array, const Shape& at) { return ElementOf(array, at).whole; }

Shape BroadcastPlace(const Shape& operand, const Shape& at) {
  Shape place = Part(at, at.size() - operand.size(), at.size());
  for (std::size_t d = 0; d < operand.size(); ++d) place[d] = operand[d] == 1 ? 0 : place[d];
  return place;
}

std::vector<std::int64_t> SlicePlaces(Whole begin, Whole end, Whole stride, std::int64_t extent) {
  if (begin < 0) begin += extent;
  if (end < 0) end += extent;
  std::vector<std::int64_t> places;
  if (stride > 0) {
    end = std::min<Whole>(end, extent);
    for (Whole at = std::max<Whole>(begin, 0); at < end; at += stride)
      places.push_back(static_cast<std::int64_t>(at));
  } else if (stride < 0) {
    end = std::max<Whole>(end, -1);
    for (Whole at = std::min<Whole>(begin, extent - 1); at > end; at += stride)
      places.push_back(static_cast<std::int64_t>(at));
  }
  return places;
}

Definition MovedTo(const Shape& result, const NDArray& from, const PlaceBefore& before) {
  Definition made{.shape = result};
  for (const Shape& at : AllPlaces(result)) made.Add(ElementOf(from, before(at)), 0);
  return made;
}

}  // namespace tenon::verify
