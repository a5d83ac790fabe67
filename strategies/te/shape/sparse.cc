// Operators on sparse tensors. How many entries a row has is known only at run time, so a library
// function runs through them for products (the product by rows of Gustavson, "Two fast algorithms
// for sparse matrices", TOMS 1978). It takes the dense operand with its columns in a row of memory,
// since it multiplies them at once. Sums and transposition take the row of each entry from another
// library function; the rest is a scattering.
#include "tenon/jit/library_functions.h"
#include "tenon/ops/index/sparse_attrs.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te/shape/scatter.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// A sparse matrix: three inputs from `first` on.
struct Compressed {
  Tensor data, indices, starts;
  std::int64_t count, rows;  // of entries, which may be blocks
  std::int64_t block_rows = 1, block_columns = 1;

  Compressed(const TeCall& call, std::size_t first)
      : data(call.input(first)),
        indices(AsType(call.input(first + 1), Int64)),
        starts(AsType(call.input(first + 2), Int64)),
        count(ExtentOf(data, 0)),
        rows(ExtentOf(starts, 0) - 1) {
    if (data.ndim() == 1) return;
    block_rows = ExtentOf(data, 1);
    block_columns = ExtentOf(data, 2);
  }

  // The map from an entry to its row, or to -1 if the row or the column is out of range.
  Tensor RowOfEntry(std::int64_t columns) const {
    return te::Extern(
        {{count}}, {indices, starts}, {Int64},
        [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
          return te::ExternCall(jit::SparseRowsFunction(),
                                {in[0], in[1], out[0], Expr(rows), Expr(columns), Expr(count)});
        },
        "row_of_entry")[0];
  }

  // (batch, row, column) of the products with `dense`, whose memory is (batch, depth, columns).
  Tensor Times(const Tensor& dense, std::int64_t batch, std::int64_t depth, std::int64_t columns,
               const std::vector<Expr>& shape) const {
    const auto [wide, number] = JoinedIn(data.dtype());
    const DataType type = wide;
    const std::int64_t type_number = number;
    return te::Extern(
        {shape}, {AsType(data, type), indices, starts, AsType(dense, type)}, {type},
        [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
          return te::ExternCall(jit::SparseMultiplyFunction(),
                                {in[0], in[1], in[2], in[3], out[0], Expr(batch), Expr(rows),
                                 Expr(count), Expr(block_rows), Expr(block_columns), Expr(depth),
                                 Expr(columns), Expr(type_number)});
        },
        "sparse_product")[0];
  }
};

std::vector<Tensor> SparseDense(const TeCall& call) {
  const Tensor& dense = call.input(0);
  const Compressed sparse(call, 1);
  const std::int64_t columns = ExtentOf(dense, 0), depth = ExtentOf(dense, 1);
  if (NumElements(call.shape()) == 0 || depth == 0 || sparse.count == 0) return {Zeros(call)};
  const Tensor transposed = call.Prepared(te::Compute(
      {depth, columns}, [&](const Var& k, const Var& j) { return dense(j, k); }, "transposed",
      te::Stored{}));
  const Tensor product =
      sparse.Times(transposed, 1, depth, columns, {sparse.rows * sparse.block_rows, columns});
  if (call.attrs.As<ops::SparseDenseAttrs>().sparse_lhs) return {AsType(product, call.dtype())};
  return {te::Compute(
      call.te_shape(),
      [&](const Var& i, const Var& j) { return te::Cast(call.dtype(), product(j, i)); },
      "sparse_dense")};
}

// (image, place in a row of the weight, pixel): what that row's elements are multiplied by.
Tensor ImageColumns(const Tensor& x, bool channels_last, std::int64_t kernel) {
  const Shape from = ShapeOf(x);
  const std::size_t top = channels_last ? 1 : 2;
  const std::int64_t channels = from[channels_last ? 3 : 1];
  const std::int64_t height = from[top], width = from[top + 1];
  const Shape place =
      channels_last ? Shape{kernel, kernel, channels} : Shape{channels, kernel, kernel};
  return te::Compute(
      {from[0], kernel * kernel * channels, height * width},
      [&](const Var& image, const Var& k, const Var& pixel) {
        const std::vector<Expr> at = Unflatten(k, place);
        const std::size_t first = channels_last ? 0 : 1;
        const Expr row = te::FloorDiv(pixel, Expr(width)) + at[first] - kernel / 2;
        const Expr column = te::FloorMod(pixel, Expr(width)) + at[first + 1] - kernel / 2;
        const std::vector<Expr> source = channels_last
                                             ? std::vector<Expr>{image, row, column, at[2]}
                                             : std::vector<Expr>{image, at[0], row, column};
        return kernel == 1 ? x[source]
                           : ReadPadded(x, source, {top, top + 1}, te::Cast(x.dtype(), 0));
      },
      "image_columns", te::Stored{});
}

std::vector<Tensor> SparseConv2D(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::SparseConv2DAttrs>();
  const Tensor& x = call.input(0);
  const Compressed sparse(call, 1);
  const Shape from = ShapeOf(x), shape = call.shape();
  const bool channels_last = attrs.layout == "NHWC";
  const std::int64_t kernel = attrs.kernel_size[0];
  const std::int64_t height = from[channels_last ? 1 : 2], width = from[channels_last ? 2 : 3];
  const std::int64_t depth = kernel * kernel * from[channels_last ? 3 : 1];
  if (NumElements(shape) == 0 || depth == 0 || sparse.count == 0) return {Zeros(call)};
  // The columns of an image by 1 x 1 are the image where its channels come first.
  const Tensor columns = kernel == 1 && !channels_last ? x : ImageColumns(x, channels_last, kernel);
  const std::int64_t channels = sparse.rows * sparse.block_rows;
  const Tensor product =
      sparse.Times(columns, from[0], depth, height * width, {from[0], channels, height, width});
  if (!channels_last) return {AsType(product, call.dtype())};
  return {te::Compute(
      call.te_shape(),
      [&](const Var& n, const Var& h, const Var& w, const Var& c) {
        return te::Cast(call.dtype(), product(n, c, h, w));
      },
      "sparse_conv2d")};
}

std::vector<Tensor> SparseAdd(const TeCall& call) {
  const Tensor& dense = call.input(0);
  const Compressed sparse(call, 1);
  const std::int64_t columns = ExtentOf(dense, 1);
  if (NumElements(call.shape()) == 0 || sparse.count == 0) return Unchanged(call);
  const Tensor row = sparse.RowOfEntry(columns);
  const Tensor offsets = te::Compute(
      {sparse.count},
      [&](const Var& k) {
        return te::Select(row(k) < Expr(0), Expr(-1), row(k) * columns + sparse.indices(k));
      },
      "offsets");
  return {Scatter("add", dense, sparse.data, offsets, 1, call.dtype())};
}

std::vector<Tensor> SparseTranspose(const TeCall& call) {
  const Compressed sparse(call, 0);
  const DataType index_type = call.input(1).dtype(), start_type = call.input(2).dtype();
  if (sparse.count == 0)
    return {Filled({0}, te::Cast(sparse.data.dtype(), 0)), Filled({0}, te::Cast(index_type, 0)),
            Filled({sparse.rows + 1}, te::Cast(start_type, 0))};
  const Tensor row = sparse.RowOfEntry(sparse.rows);
  const std::vector<Tensor> ordered = te::Extern(
      {{sparse.count}, {sparse.rows + 1}}, {sparse.indices, row}, {Int64, Int64},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        return te::ExternCall(
            jit::SparseTransposeFunction(),
            {in[0], in[1], out[0], out[1], Expr(sparse.rows), Expr(sparse.count)});
      },
      "by_column");
  const Tensor& source = ordered[0];
  const auto at_source = [&](const Tensor& x, DataType dtype, const char* name) {
    return te::Compute(
        {sparse.count},
        [&](const Var& k) {
          const Expr value = te::Cast(dtype, x(te::Max(source(k), Expr(0))));
          return te::Select(source(k) < Expr(0), te::Cast(dtype, 0), value);
        },
        name);
  };
  return {at_source(sparse.data, sparse.data.dtype(), "transposed_data"),
          at_source(row, index_type, "transposed_indices"), AsType(ordered[1], start_type)};
}

std::vector<Tensor> SparseToDense(const TeCall& call) {
  const Tensor& indices = call.input(0);
  const Tensor& values = call.input(1);
  const Shape shape = call.shape();
  const Tensor filled = Filled(call.te_shape(), call.input(2)());
  const std::int64_t count = indices.ndim() == 0 ? 1 : ExtentOf(indices, 0);
  if (NumElements(shape) == 0 || count == 0) return {filled};
  const Tensor offsets = te::Compute(
      {count},
      [&](const Var& k) {
        Expr offset = Expr(0), inside = loop::True();
        for (std::size_t d = 0; d < shape.size(); ++d) {
          std::vector<Expr> from;
          if (indices.ndim() > 0) from.emplace_back(k);
          if (indices.ndim() > 1) from.push_back(Expr(static_cast<std::int64_t>(d)));
          const Expr at = te::Cast(Int64, indices[from]);
          inside = inside && at >= Expr(0) && at < Expr(shape[d]);
          offset = offset * shape[d] + at;
        }
        return te::Select(inside, offset, Expr(-1));
      },
      "offsets");
  const Tensor updates = values.ndim() == 0 ? Filled({count}, values()) : values;
  return {Scatter("update", filled, updates, offsets, 1, call.dtype())};
}

std::vector<Tensor> SparseReshape(const TeCall& call) {
  const Tensor& indices = call.input(0);
  const Tensor& before = call.input(1);
  const Tensor& after = call.input(2);
  const std::int64_t from_rank = ExtentOf(before, 0), rank = ExtentOf(after, 0);
  const auto wide = [](const Tensor& x, std::int64_t at) { return te::Cast(Int64, x(Expr(at))); };
  Expr elements = Expr(1), known = Expr(1);
  for (std::int64_t d = 0; d < from_rank; ++d) elements = elements * wide(before, d);
  for (std::int64_t d = 0; d < rank; ++d)
    known = known * te::Select(wide(after, d) == Expr(-1), Expr(1), wide(after, d));
  const Tensor shape = te::Compute(
      {rank},
      [&](const Var& d) {
        const Expr given = te::Cast(Int64, after(d));
        return te::Select(given == Expr(-1), te::FloorDiv(elements, te::Max(known, Expr(1))),
                          given);
      },
      "new_shape", te::Stored{});
  // How many elements a step along axis `d` passes.
  const Tensor steps = te::Compute(
      {rank},
      [&](const Var& d) {
        Expr product = Expr(1);
        for (std::int64_t later = 1; later < rank; ++later)
          product = product * te::Select(Expr(later) > d, shape(Expr(later)), Expr(1));
        return te::Max(product, Expr(1));
      },
      "steps", te::Stored{});
  const Tensor moved = te::Compute(
      call.te_shape(),
      [&](const Var& i, const Var& d) {
        Expr flat = Expr(0);
        for (std::int64_t k = 0; k < from_rank; ++k)
          flat = flat * wide(before, k) + te::Cast(Int64, indices(i, Expr(k)));
        const Expr at = te::FloorDiv(flat, steps(d));
        return te::Cast(call.dtype(),
                        te::Select(d == Expr(0), at, te::FloorMod(at, te::Max(shape(d), Expr(1)))));
      },
      "new_indices");
  return {moved, AsType(shape, after.dtype())};
}

}  // namespace

void AttachSparseComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.sparse_add").SetColumn(TeCompute{SparseAdd});
  registry.Definition("nn.sparse_conv2d").SetColumn(TeCompute{SparseConv2D});
  registry.Definition("nn.sparse_dense").SetColumn(TeCompute{SparseDense});
  registry.Definition("nn.sparse_transpose").SetColumn(TeCompute{SparseTranspose});
  registry.Definition("sparse_reshape").SetColumn(TeCompute{SparseReshape});
  registry.Definition("sparse_to_dense").SetColumn(TeCompute{SparseToDense});
}

}  // namespace tenon::strategies
