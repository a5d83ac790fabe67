// Operators that take elements by indices: a result's element is the one at the place that its
// index names. An index is any integer, and is counted in 128 bits.
#include <algorithm>
#include <limits>
#include <utility>

#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/index/sequence_attrs.h"
#include "tenon/verify/define/defined_places.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

std::int64_t Clipped(Whole index, std::int64_t extent) {
  return static_cast<std::int64_t>(std::min<Whole>(std::max<Whole>(index, 0), extent - 1));
}
std::int64_t Wrapping(Whole index, std::int64_t extent) {
  return static_cast<std::int64_t>((index % extent + extent) % extent);
}
// A negative index counts from the end. One that is out of range even so is brought to the nearest
// element.
std::int64_t FromEnd(Whole index, std::int64_t extent) {
  return Clipped(index < 0 ? index + extent : index, extent);
}

Definitions Take(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::TakeAttrs>();
  const NDArray &x = call.args[0], &indices = call.args[1];
  const auto within = [&](Whole index, std::int64_t extent) {
    return attrs.mode == "wrap" ? Wrapping(index, extent) : Clipped(index, extent);
  };
  Definition made;
  if (!attrs.axis) {
    for (const Shape& at : AllPlaces(indices.shape()))
      made.Add(ElementAt(x, within(WholeOf(indices, at), x.size())), 0);
    return {made};
  }
  const std::size_t rank = x.shape().size(), axis = AxisOf(*attrs.axis, rank);
  const std::size_t batch = At(attrs.batch_dims), inner = indices.shape().size() - batch;
  Shape shape = Part(x.shape(), 0, axis);
  Append(Part(indices.shape(), batch, batch + inner), &shape);
  Append(Part(x.shape(), axis + 1, rank), &shape);
  return {MovedTo(shape, x, [&](const Shape& at) {
    Shape named = Part(at, 0, batch), from = Part(at, 0, axis);
    Append(Part(at, axis, axis + inner), &named);
    from.push_back(within(WholeOf(indices, named), x.shape()[axis]));
    Append(Part(at, axis + inner, at.size()), &from);
    return from;
  })};
}

Definitions Gather(const DefinedCall& call) {
  const NDArray& x = call.args[0];
  const std::size_t axis = AxisOf(call.call.attrs.As<ops::GatherAttrs>().axis, x.shape().size());
  return {MovedTo(call.shape(1), x, [&](Shape at) {
    at[axis] = FromEnd(WholeOf(call.args[1], at), x.shape()[axis]);
    return at;
  })};
}

Definitions GatherND(const DefinedCall& call) {
  const NDArray &x = call.args[0], &indices = call.args[1];
  const std::size_t batch = At(call.call.attrs.As<ops::GatherNDAttrs>().batch_dims);
  const std::size_t tuples = indices.shape().size() - 1;
  Shape shape = Part(indices.shape(), 1, tuples + 1);
  Append(Part(x.shape(), batch + At(indices.shape()[0]), x.shape().size()), &shape);
  return {MovedTo(shape, x, [&](const Shape& at) {
    Shape from = Part(at, 0, batch);
    for (std::int64_t k = 0; k < indices.shape()[0]; ++k) {
      Shape named = {k};
      Append(Part(at, 0, tuples), &named);
      from.push_back(FromEnd(WholeOf(indices, named), x.shape()[from.size()]));
    }
    Append(Part(at, tuples, at.size()), &from);
    return from;
  })};
}

Definitions AdvIndex(const DefinedCall& call) {
  const NDArray& x = call.args[0];
  const std::size_t used = call.args.size() - 1;
  const std::size_t inner = x.shape().size() - used;
  return {MovedTo(call.results[0].shape(), x, [&](const Shape& at) {
    const Shape place = Part(at, 0, at.size() - inner);
    const auto index = [&](std::size_t k) {
      const NDArray& indices = call.args[k + 1];
      return WholeOf(indices, BroadcastPlace(indices.shape(), place));
    };
    Shape from;
    for (std::size_t k = 0; k < used; ++k) from.push_back(FromEnd(index(k), x.shape()[k]));
    Append(Part(at, at.size() - inner, at.size()), &from);
    return from;
  })};
}

Definitions OneHot(const DefinedCall& call) {
  const NDArray& result = call.results[0];
  const std::size_t axis =
      AxisOf(call.call.attrs.As<ops::OneHotAttrs>().axis, result.shape().size());
  Definition made;
  for (const Shape& at : AllPlaces(result.shape())) {
    Shape named = at;
    named.erase(named.begin() + static_cast<std::ptrdiff_t>(axis));
    const NDArray& value = call.args[WholeOf(call.args[0], named) == at[axis] ? 1 : 2];
    made.Add(Converted(ElementAt(value, 0), value.dtype(), result.dtype()), 0);
  }
  return {made};
}

Definitions ReverseSequence(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ReverseSequenceAttrs>();
  const NDArray& x = call.args[0];
  const std::size_t along = AxisOf(attrs.seq_axis, x.shape().size()),
                    batch = AxisOf(attrs.batch_axis, x.shape().size());
  return {MovedTo(x.shape(), x, [&](Shape at) {
    const Whole length = std::min<Whole>(WholeOf(call.args[1], {at[batch]}), x.shape()[along]);
    if (at[along] < length) at[along] = static_cast<std::int64_t>(length) - 1 - at[along];
    return at;
  })};
}

Definitions SequenceMask(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::SequenceMaskAttrs>();
  const NDArray& x = call.args[0];
  const std::size_t time = At(attrs.axis);
  const Number mask = Converted({.real = attrs.mask_value}, Float64, x.dtype());
  Definition made;
  for (const Shape& at : AllPlaces(x.shape()))
    made.Add(at[time] < WholeOf(call.args[1], {at[1 - time]}) ? ElementOf(x, at) : mask, 0);
  return {made};
}

// The last axis counts fastest. Offsets beyond the shape, in either direction, wrap around.
Definitions UnravelIndex(const DefinedCall& call) {
  const NDArray &offsets = call.args[0], &extents = call.args[1];
  std::vector<std::vector<Whole>> coordinates(At(extents.size()));
  for (std::int64_t i = 0; i < offsets.size(); ++i) {
    Whole rest = ElementAt(offsets, i).whole;
    for (std::int64_t d = extents.size(); d-- > 0;) {
      // No axis is longer than int64 holds.
      const Whole extent = std::clamp<Whole>(ElementAt(extents, d).whole, 1,
                                             std::numeric_limits<std::int64_t>::max());
      const Whole coordinate = (rest % extent + extent) % extent;
      coordinates[At(d)].push_back(coordinate);
      rest = (rest - coordinate) / extent;
    }
  }
  Definition made;
  for (const std::vector<Whole>& of_axis : coordinates) {
    for (const Whole coordinate : of_axis) made.Add({.whole = coordinate}, 0);
  }
  return {made};
}

Definitions Where(const DefinedCall& call) {
  Definition made;
  const auto read = [&](const NDArray& array, const Shape& at) {
    return ElementOf(array, BroadcastPlace(array.shape(), at));
  };
  for (const Shape& at : AllPlaces(call.results[0].shape())) {
    const Number condition = read(call.args[0], at);
    const bool holds = condition.whole != 0 || condition.real != 0;
    made.Add(read(call.args[holds ? 1 : 2], at), 0);
  }
  return {made};
}

}  // namespace

void AddTakenDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["adv_index"] = AdvIndex;
  t["gather"] = Gather;
  t["gather_nd"] = GatherND;
  t["one_hot"] = OneHot;
  t["reverse_sequence"] = ReverseSequence;
  t["sequence_mask"] = SequenceMask;
  t["take"] = Take;
  t["unravel_index"] = UnravelIndex;
  t["where"] = Where;
}

}  // namespace tenon::verify
