// Sparse operators. Entry k of a matrix in compressed rows stands in the row r with
// starts[r] <= k < starts[r + 1]; starts below those before them count as the greatest of these.
#include <algorithm>

#include "tenon/ops/index/sparse_attrs.h"
#include "tenon/ops/ints.h"
#include "tenon/verify/define/defined_sums.h"
#include "tenon/verify/define/definition.h"
#include "tenon/verify/define/places_by_layout.h"

namespace tenon::verify {
namespace {

using ops::Ints;

// The row of each entry, by blocks; -1 where no row has it or its column is none of `columns`.
Ints RowsOf(const NDArray& indices, const NDArray& starts, std::int64_t columns) {
  const std::int64_t count = indices.size();
  Ints rows(static_cast<std::size_t>(count), -1);
  std::int64_t begin = std::clamp<std::int64_t>(IndexAt(starts, 0), 0, count);
  for (std::int64_t r = 0; r + 1 < starts.size(); ++r) {
    const std::int64_t end =
        std::max(begin, std::clamp<std::int64_t>(IndexAt(starts, r + 1), 0, count));
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t column = IndexAt(indices, k);
      if (column >= 0 && column < columns) rows[static_cast<std::size_t>(k)] = r;
    }
    begin = end;
  }
  return rows;
}

// Calls `use` for each element that is stored, with its row, its column and its value; the matrix
// is three arguments from 1 on.
template <typename Use>
void ForEachStored(const DefinedCall& call, std::int64_t columns, const Use& use) {
  const NDArray& data = call.args[1];
  const bool has_blocks = data.shape().size() == 3;
  const std::int64_t height = has_blocks ? data.shape()[1] : 1,
                     width = has_blocks ? data.shape()[2] : 1;
  const Ints rows = RowsOf(call.args[2], call.args[3], columns / width);
  for (std::int64_t k = 0; k < call.args[2].size(); ++k) {
    const std::int64_t row = rows[static_cast<std::size_t>(k)];
    if (row < 0) continue;
    for (std::int64_t i = 0; i < height; ++i) {
      for (std::int64_t j = 0; j < width; ++j)
        use(row * height + i, IndexAt(call.args[2], k) * width + j,
            ElementAt(data, (k * height + i) * width + j));
    }
  }
}

std::vector<Definition> SparseDense(const DefinedCall& call) {
  const bool is_left = call.call.attrs.As<ops::SparseDenseAttrs>().sparse_lhs;
  const std::int64_t count = call.shape(0)[0], depth = call.shape(0)[1];
  const Shape& to = call.results[0].shape();
  DefinedSums sums(call.results[0]);
  ForEachStored(call, depth, [&](std::int64_t row, std::int64_t column, const Number& value) {
    for (std::int64_t n = 0; n < count; ++n)
      sums.Add(is_left ? row * to[1] + n : n * to[1] + row,
               Product(value, ElementAt(call.args[0], n * depth + column)));
  });
  return sums.Take();
}

std::vector<Definition> SparseAdd(const DefinedCall& call) {
  const std::int64_t columns = call.shape(0)[1];
  DefinedSums sums(call.results[0]);
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) sums.Add(i, ElementAt(call.args[0], i));
  ForEachStored(call, columns, [&](std::int64_t row, std::int64_t column, const Number& value) {
    sums.Add(row * columns + column, value);
  });
  return sums.Take();
}

// By rows of the result, in each of which entries keep their order.
std::vector<Definition> SparseTranspose(const DefinedCall& call) {
  const std::int64_t count = call.args[1].size(), rows = call.args[2].size() - 1;
  const Ints row = RowsOf(call.args[1], call.args[2], rows);
  std::vector<Definition> made(3);
  made[2].Add({}, 0);
  for (std::int64_t column = 0; column < rows; ++column) {
    for (std::int64_t k = 0; k < count; ++k) {
      if (row[static_cast<std::size_t>(k)] < 0 || IndexAt(call.args[1], k) != column) continue;
      made[0].Add(ElementAt(call.args[0], k), 0);
      made[1].Add({.whole = row[static_cast<std::size_t>(k)]}, 0);
    }
    made[2].Add({.whole = static_cast<Whole>(made[0].elements.size())}, 0);
  }
  while (static_cast<std::int64_t>(made[0].elements.size()) < count) {
    made[0].Add({}, 0);
    made[1].Add({}, 0);
  }
  return made;
}

// Columns of the weight: height, width and channel of a tap for NHWC, channel first for NCHW.
std::vector<Definition> SparseConv2D(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::SparseConv2DAttrs>();
  const bool channels_last = attrs.layout == "NHWC";
  const PlacesByLayout from(call.shape(0), attrs.layout), to(call.results[0].shape(), attrs.layout);
  const std::int64_t channels = from.Extent('C'), height = from.Extent('H'),
                     width = from.Extent('W'), kernel = attrs.kernel_size[0];
  DefinedSums sums(call.results[0]);
  ForEachStored(
      call, kernel * kernel * channels,
      [&](std::int64_t row, std::int64_t column, const Number& value) {
        const std::int64_t tap = channels_last ? column / channels : column % (kernel * kernel);
        const std::int64_t channel = channels_last ? column % channels : column / (kernel * kernel);
        for (std::int64_t n = 0; n < from.Extent('N'); ++n)
          for (std::int64_t h = 0; h < height; ++h)
            for (std::int64_t w = 0; w < width; ++w) {
              const std::int64_t y = h + tap / kernel - kernel / 2,
                                 x = w + tap % kernel - kernel / 2;
              if (y < 0 || x < 0 || y >= height || x >= width) continue;
              sums.Add(
                  to.At("NCHW", {n, row, h, w}),
                  Product(value, ElementAt(call.args[0], from.At("NCHW", {n, channel, y, x}))));
            }
      });
  return sums.Take();
}

std::vector<Definition> SparseToDense(const DefinedCall& call) {
  const NDArray &indices = call.args[0], &values = call.args[1], &result = call.results[0];
  const auto rank = static_cast<std::int64_t>(result.shape().size());
  Definition made;
  for (std::int64_t i = 0; i < result.size(); ++i) made.Add(ElementAt(call.args[2], 0), 0);
  for (std::int64_t k = 0; k < indices.size() / rank; ++k) {
    std::int64_t place = 0;
    bool is_inside = true;
    for (std::int64_t d = 0; d < rank; ++d) {
      const std::int64_t at = IndexAt(indices, k * rank + d),
                         extent = result.shape()[static_cast<std::size_t>(d)];
      is_inside &= at >= 0 && at < extent;
      place = place * extent + at;
    }
    if (is_inside)
      made.elements[static_cast<std::size_t>(place)] =
          ElementAt(values, values.shape().empty() ? 0 : k);
  }
  return {made};
}

// By a positive divisor.
Whole FloorDiv(Whole a, Whole b) { return a / b - (a % b < 0 ? 1 : 0); }

// Where the shapes do not have as many elements, the first coordinate takes what is left, and
// extents below 1 count as 1.
std::vector<Definition> SparseReshape(const DefinedCall& call) {
  const NDArray &indices = call.args[0], &before = call.args[1], &after = call.args[2];
  const std::int64_t from = before.size(), rank = after.size();
  const auto at_least_one = [](Whole extent) { return std::max<Whole>(extent, 1); };
  const auto product = [](Whole a, Whole b) { return Wrapped(a * b, Int64); };
  Whole elements = 1, known = 1;
  for (std::int64_t d = 0; d < from; ++d) elements = product(elements, IndexAt(before, d));
  for (std::int64_t d = 0; d < rank; ++d) {
    if (IndexAt(after, d) != -1) known = product(known, IndexAt(after, d));
  }
  std::vector<Whole> shape, steps(static_cast<std::size_t>(rank), 1);
  for (std::int64_t d = 0; d < rank; ++d)
    shape.push_back(IndexAt(after, d) == -1 ? FloorDiv(elements, at_least_one(known))
                                            : IndexAt(after, d));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    for (std::size_t later = d + 1; later < shape.size(); ++later)
      steps[d] = product(steps[d], shape[later]);
  }
  std::vector<Definition> made(2);
  for (std::int64_t k = 0; k < indices.shape()[0]; ++k) {
    Whole flat = 0;
    for (std::int64_t d = 0; d < from; ++d)
      flat = Wrapped(product(flat, IndexAt(before, d)) + IndexAt(indices, k * from + d), Int64);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Whole at = FloorDiv(flat, at_least_one(steps[d])), extent = at_least_one(shape[d]);
      made[0].Add(
          {.whole = Wrapped(d == 0 ? at : at - FloorDiv(at, extent) * extent, indices.dtype())}, 0);
    }
  }
  for (const Whole extent : shape) made[1].Add({.whole = Wrapped(extent, after.dtype())}, 0);
  return made;
}

}  // namespace

void AddSparseDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["nn.sparse_add"] = SparseAdd;
  t["nn.sparse_conv2d"] = SparseConv2D;
  t["nn.sparse_dense"] = SparseDense;
  t["nn.sparse_transpose"] = SparseTranspose;
  t["sparse_reshape"] = SparseReshape;
  t["sparse_to_dense"] = SparseToDense;
}

}  // namespace tenon::verify
