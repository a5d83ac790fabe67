#include "tenon/onnx/convert/unique_slices.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// The elements of each slice, one after the other.
template <typename T>
std::vector<std::vector<T>> SlicesOf(const NDArray& x, std::int64_t axis) {
  const Shape& shape = x.shape();
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    (static_cast<std::int64_t>(d) < axis ? outer : inner) *=
        static_cast<std::int64_t>(d) == axis ? 1 : shape[d];
  const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
  std::vector<std::vector<T>> slices(static_cast<std::size_t>(extent));
  const T* data = static_cast<const T*>(x.raw());
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < extent; ++i) {
      const T* from = data + (o * extent + i) * inner;
      auto& slice = slices[static_cast<std::size_t>(i)];
      slice.insert(slice.end(), from, from + inner);
    }
  }
  return slices;
}

template <typename T>
UniqueSlices Find(const NDArray& x, std::int64_t axis, bool sorted) {
  const std::vector<std::vector<T>> slices = SlicesOf<T>(x, axis);
  std::vector<std::size_t> order(slices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return slices[a] < slices[b]; });
  // Runs of equal slices; the first of a run occurs first.
  std::vector<std::vector<std::size_t>> runs;
  for (const std::size_t i : order) {
    if (runs.empty() || slices[runs.back()[0]] != slices[i]) runs.emplace_back();
    runs.back().push_back(i);
  }
  if (!sorted)
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a[0] < b[0]; });
  UniqueSlices found;
  found.inverse.resize(slices.size());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    found.first.push_back(static_cast<std::int64_t>(runs[run][0]));
    found.counts.push_back(static_cast<std::int64_t>(runs[run].size()));
    for (const std::size_t i : runs[run]) found.inverse[i] = static_cast<std::int64_t>(run);
  }
  return found;
}

constexpr std::pair<DataType, UniqueSlices (*)(const NDArray&, std::int64_t, bool)> kFinders[] = {
    {Float32, Find<float>},        {Float64, Find<double>},       {Float16, Find<_Float16>},
    {Int8, Find<std::int8_t>},     {Int16, Find<std::int16_t>},   {Int32, Find<std::int32_t>},
    {Int64, Find<std::int64_t>},   {UInt8, Find<std::uint8_t>},   {UInt16, Find<std::uint16_t>},
    {UInt32, Find<std::uint32_t>}, {UInt64, Find<std::uint64_t>}, {Bool, Find<std::uint8_t>}};

}  // namespace

UniqueSlices UniqueSlicesOf(const NDArray& x, std::int64_t axis, bool sorted) {
  for (const auto& [type, find] : kFinders) {
    if (type == x.dtype()) return find(x, axis, sorted);
  }
  throw Unimplemented(StrCat("slices of ", x.dtype().ToString(), " are not compared"));
}

}  // namespace tenon::onnx_import
