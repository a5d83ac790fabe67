// Sparse matrices in compressed rows, whose entries may be blocks, and lists of coordinates. A few
// name places that are not there, which the operators leave out.
#include <algorithm>
#include <string>

#include "tenon/ops/ints.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

using attrs::Value;
using ops::Ints;
using Types = std::vector<DataType>;

const Types kValues = {Float32, Float32, Float32, Float64, Float16, Int32, Int8, UInt8, Int64};
const Types kIndices = {Int32, Int32, Int64, Int64, Int16, Int8, UInt8, UInt32};

NDArray VectorOf(const Ints& values, DataType type) {
  return ArrayOf({static_cast<std::int64_t>(values.size())}, type, [&](std::int64_t i) {
    return static_cast<double>(values[static_cast<std::size_t>(i)]);
  });
}

// From 0 to n - 1; a few beyond, where the type has such numbers.
NDArray Places(std::int64_t count, std::int64_t n, DataType type, Random& random) {
  const bool is_beyond = random.Chance(20);
  return ArrayOf({count}, type, [&](std::int64_t) {
    if (is_beyond && random.Chance(20))
      return static_cast<double>(type.is_int() && random.Chance(50) ? -1 - random.Below(3)
                                                                    : n + random.Below(3));
    return static_cast<double>(random.Below(std::max<std::int64_t>(n, 1)));
  });
}

// Where rows begin, and where the last one ends: mostly in order, with all entries in rows.
NDArray Starts(std::int64_t rows, std::int64_t count, DataType type, Random& random) {
  Ints starts = {0};
  for (std::int64_t r = 1; r < rows; ++r) starts.push_back(random.Below(count + 1));
  if (rows > 0) starts.push_back(random.Chance(80) ? count : random.Below(count + 1));
  if (random.Chance(85)) std::sort(starts.begin(), starts.end());
  if (random.Chance(10)) starts.back() = count + 2;
  if (type.is_int() && random.Chance(10)) starts.front() = -1;
  return VectorOf(starts, type);
}

struct Matrix {
  std::int64_t rows = 0, columns = 0;  // of elements
  NDArray data, indices, starts;
};

// With entries, of which some are 0 and some stand in one place, or with blocks.
Matrix AnyMatrix(std::int64_t columns, bool may_have_blocks, DataType type, Random& random) {
  Matrix made{.columns = columns};
  const std::int64_t rows = random.Of(Ints{1, 2, 3, 5, 8, 0}),
                     count = random.Of(Ints{0, 1, 2, 4, 9, 20});
  Shape shape = {count};
  std::int64_t width = 1;
  if (may_have_blocks && random.Chance(40)) {
    for (const std::int64_t w : {4, 3, 2, 1}) {
      if (width == 1 && columns % w == 0 && random.Chance(60)) width = w;
    }
    shape = {count, random.Of(Ints{1, 2, 3}), width};
  }
  made.rows = rows * (shape.size() == 1 ? 1 : shape[1]);
  made.data = RandomArray(shape, type, random);
  made.indices = Places(count, columns / width, random.Of(kIndices), random);
  made.starts = Starts(rows, count, random.Of(kIndices), random);
  return made;
}
void Add(const Matrix& matrix, Operands* to) {
  to->Add(matrix.data).Add(matrix.indices).Add(matrix.starts);
}

Operands SparseDense(Random& random) {
  const DataType type = random.Of(kValues);
  const std::int64_t depth = random.Of(Ints{1, 3, 4, 8, 12, 0});
  Operands operands;
  operands.Add(RandomArray({random.Of(Ints{1, 2, 5, 8, 17, 33, 0}), depth}, type, random));
  Add(AnyMatrix(depth, true, type, random), &operands);
  operands.attributes["sparse_lhs"] = Value(random.Chance(50));
  return operands;
}

Operands SparseAdd(Random& random) {
  const DataType type = random.Of(kValues);
  const Matrix matrix = AnyMatrix(random.Of(Ints{1, 3, 8, 17}), false, type, random);
  Operands operands;
  operands.Add(RandomArray({matrix.rows, matrix.columns}, type, random));
  Add(matrix, &operands);
  return operands;
}

// A square one; its columns are as many as the rows that follow from its starts.
Operands SparseTranspose(Random& random) {
  const DataType type = random.Of(kValues);
  Matrix matrix = AnyMatrix(1, false, type, random);
  matrix.indices = Places(matrix.data.size(), matrix.rows, matrix.indices.dtype(), random);
  Operands operands;
  Add(matrix, &operands);
  return operands;
}

Operands SparseConv2D(Random& random) {
  const DataType type = random.Of(kValues);
  const std::int64_t kernel = random.Of(Ints{1, 3}), channels = random.Of(Ints{1, 2, 4, 6});
  const std::int64_t height = random.Of(Ints{1, 3, 6}), width = random.Of(Ints{1, 4, 9});
  const bool channels_last = random.Chance(50);
  const std::int64_t images = random.Of(Ints{1, 2});
  Operands operands;
  operands.Add(RandomArray(channels_last ? Shape{images, height, width, channels}
                                         : Shape{images, channels, height, width},
                           type, random));
  Add(AnyMatrix(kernel * kernel * channels, true, type, random), &operands);
  operands.attributes = {{"layout", Value(std::string(channels_last ? "NHWC" : "NCHW"))},
                         {"kernel_size", ListOf({kernel, kernel})}};
  return operands;
}

Operands SparseToDense(Random& random) {
  Ints extents;
  for (std::int64_t rank = 1 + random.Below(3); rank > 0; --rank)
    extents.push_back(random.Of(Ints{1, 2, 3, 5, 8}));
  const DataType type = random.Of(kValues), index_type = random.Of(kIndices);
  const auto rank = static_cast<std::int64_t>(extents.size());
  const std::int64_t count = rank == 1 && random.Chance(30) ? 1 : random.Of(Ints{0, 1, 3, 8});
  const NDArray flat =
      Places(count * rank, *std::min_element(extents.begin(), extents.end()), index_type, random);
  const bool is_scalar = rank == 1 && count == 1 && random.Chance(50);
  Operands operands;
  operands.Add(flat.Reshape(is_scalar                        ? Shape{}
                            : rank == 1 && random.Chance(50) ? Shape{count}
                                                             : Shape{count, rank}));
  operands.Add(RandomArray(random.Chance(30) ? Shape{} : Shape{count}, type, random));
  operands.Add(RandomArray({}, type, random));
  operands.attributes["output_shape"] = ListOf(extents);
  return operands;
}

// A shape with the elements of `shape` in order; one of its extents may be -1.
Ints Regrouped(const Ints& shape, Random& random) {
  Ints made = {1};
  for (const std::int64_t extent : shape) {
    if (random.Chance(50)) made.push_back(1);
    made.back() *= extent;
  }
  if (random.Chance(50))
    made[static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(made.size())))] = -1;
  return made;
}

Operands SparseReshape(Random& random) {
  Ints before;
  for (std::int64_t rank = 1 + random.Below(4); rank > 0; --rank)
    before.push_back(random.Of(Ints{1, 2, 3, 5}));
  const Ints after = Regrouped(before, random);
  const auto rank = static_cast<std::int64_t>(before.size());
  Operands operands;
  operands.Add(
      ArrayOf({random.Of(Ints{0, 1, 4, 9}), rank}, random.Of(kIndices), [&](std::int64_t i) {
        return static_cast<double>(random.Below(before[static_cast<std::size_t>(i % rank)]));
      }));
  operands.Add(VectorOf(before, random.Of(kIndices)));
  operands.Add(VectorOf(after, random.Of(Types{Int32, Int64, Int16})));
  return operands;
}

}  // namespace

void AddSparseOperands(OperandTable* table) {
  OperandTable& t = *table;
  t["nn.sparse_add"] = SparseAdd;
  t["nn.sparse_conv2d"] = SparseConv2D;
  t["nn.sparse_dense"] = SparseDense;
  t["nn.sparse_transpose"] = SparseTranspose;
  t["sparse_reshape"] = SparseReshape;
  t["sparse_to_dense"] = SparseToDense;
}

}  // namespace tenon::verify
