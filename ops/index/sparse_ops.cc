// Operators on sparse tensors. Several dense tensors make up a sparse one: lists of coordinates and
// values, or matrices in compressed rows (CSR), whose entries may be blocks (BSR).
//
// Indices are known only at run time. Those beyond the extents have no effect.
#include <optional>

#include "tenon/ops/builtin.h"
#include "tenon/ops/index/sparse_attrs.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;
using ir::TensorTypeNode;

void RequireVectorOfIntegers(const TypeCall& call, const TensorTypeNode& x, const char* name) {
  if (x.shape.size() != 1 || !x.dtype.is_integral())
    call.Refuse(StrCat(name, " must be a vector of integers"));
}

// A sparse matrix that three inputs describe, starting with `first`.
struct Compressed {
  Dim rows;
  std::int64_t block_columns = 1;
  bool has_blocks = false;
  DataType dtype;
};

// Nothing until all types are known.
std::optional<Compressed> CompressedFrom(TypeCall& call, std::size_t first) {
  const auto* data = call.tensor(first);
  const auto* indices = call.tensor(first + 1);
  const auto* starts = call.tensor(first + 2);
  if (data == nullptr || indices == nullptr || starts == nullptr) return std::nullopt;
  if (data->shape.size() != 1 && data->shape.size() != 3)
    call.Refuse("sparse_data must be a vector (CSR) or (count, rows, columns) of blocks (BSR)");
  RequireVectorOfIntegers(call, *indices, "sparse_indices");
  RequireVectorOfIntegers(call, *starts, "sparse_indptr");
  if (call.Differ(indices->shape[0], data->shape[0]))
    call.Refuse(StrCat("there are ", data->shape[0].ToString(), " entries and ",
                       indices->shape[0].ToString(), " sparse_indices"));
  if (data->dtype.is_bool()) call.Refuse("the entries cannot be bool");
  const Dim& count = starts->shape[0];
  if (call.Exceeds(1, count))
    call.Refuse("sparse_indptr must have one element, at least: where the entries end");
  Compressed made{.rows = count - 1, .has_blocks = data->shape.size() == 3, .dtype = data->dtype};
  if (!made.has_blocks) return made;
  for (const std::size_t axis : {1U, 2U}) {
    const Dim& extent = data->shape[axis];
    if (!extent.is_static() || extent.value() < 1)
      call.Refuse("the rows and columns of blocks must be known, and one at least");
  }
  made.rows = Product({made.rows, data->shape[1]});
  made.block_columns = data->shape[2].value();
  return made;
}

void RequireType(const TypeCall& call, const TensorTypeNode& dense, const Compressed& sparse) {
  if (dense.dtype != sparse.dtype)
    call.Refuse(StrCat("the dense tensor is of ", dense.dtype.ToString(), " and the sparse one of ",
                       sparse.dtype.ToString(), "; both must be of one element type"));
}
void RequireBlocks(TypeCall& call, const Dim& columns, const Compressed& sparse) {
  if (call.HasRest(columns, sparse.block_columns))
    call.Refuse(StrCat("blocks of ", sparse.block_columns, " columns do not divide the ",
                       columns.ToString(), " of the sparse matrix"));
}

void SparseDense(TypeCall& call) {
  const auto* dense = call.tensor(0);
  const auto sparse = CompressedFrom(call, 1);
  if (dense == nullptr || !sparse) return;
  if (dense->shape.size() != 2) call.Refuse("the dense tensor must be a matrix");
  RequireType(call, *dense, *sparse);
  RequireBlocks(call, dense->shape[1], *sparse);
  std::vector<Dim> shape = {dense->shape[0], sparse->rows};
  if (call.attrs<SparseDenseAttrs>().sparse_lhs) std::swap(shape[0], shape[1]);
  call.LearnResult(ir::TensorType(std::move(shape), dense->dtype));
}

void SparseAdd(TypeCall& call) {
  const auto* dense = call.tensor(0);
  const auto sparse = CompressedFrom(call, 1);
  if (dense == nullptr || !sparse) return;
  if (sparse->has_blocks) call.Refuse("sparse_data must be a vector (CSR)");
  if (dense->shape.size() != 2) call.Refuse("the dense tensor must be a matrix");
  RequireType(call, *dense, *sparse);
  if (call.Differ(dense->shape[0], sparse->rows))
    call.Refuse(StrCat("the dense matrix has ", dense->shape[0].ToString(),
                       " rows and the sparse one ", sparse->rows.ToString()));
  call.LearnResult(call.input(0));
}

void SparseTranspose(TypeCall& call) {
  const auto sparse = CompressedFrom(call, 0);
  if (!sparse) return;
  if (sparse->has_blocks) call.Refuse("sparse_data must be a vector (CSR)");
  call.LearnResult(ir::TupleType({call.input(0), call.input(1), call.input(2)}));
}

void SparseConv2D(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto sparse = CompressedFrom(call, 1);
  if (x == nullptr || !sparse) return;
  const auto& attrs = call.attrs<SparseConv2DAttrs>();
  if (x->shape.size() != 4) call.Refuse("the data must have rank 4");
  RequireType(call, *x, *sparse);
  if (attrs.kernel_size != Ints{1, 1} && attrs.kernel_size != Ints{3, 3})
    call.Refuse(StrCat("kernel_size is [", StrJoin(attrs.kernel_size, ", "),
                       "]; it may be [1, 1] or [3, 3]"));
  const std::size_t channel = attrs.layout == "NHWC" ? 3 : 1;
  RequireBlocks(call, Product({x->shape[channel], attrs.kernel_size[0], attrs.kernel_size[1]}),
                *sparse);
  std::vector<Dim> shape = x->shape;
  shape[channel] = sparse->rows;
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

void SparseToDense(TypeCall& call) {
  const auto* indices = call.tensor(0);
  const auto* values = call.tensor(1);
  const auto* otherwise = call.tensor(2);
  if (indices == nullptr || values == nullptr || otherwise == nullptr) return;
  RequireIntegers(call, *indices);
  const Ints& extents = call.attrs<SparseToDenseAttrs>().output_shape;
  if (indices->shape.size() > 2)
    call.Refuse("the indices must be an integer, a vector of them or rows of coordinates");
  const Dim length = indices->shape.size() == 2 ? indices->shape[1] : Dim(1);
  if (!length.is_static()) call.Refuse("the length of a row of coordinates must be known");
  if (length.value() != static_cast<std::int64_t>(extents.size()))
    call.Refuse(StrCat("indices of ", length.value(), " coordinates for an output_shape of ",
                       extents.size(), " extents"));
  const Dim count = indices->shape.empty() ? Dim(1) : indices->shape[0];
  if (values->shape.size() > 1 ||
      (values->shape.size() == 1 && call.Differ(values->shape[0], count)))
    call.Refuse(StrCat("the values must be one for all, or a vector of ", count.ToString(),
                       ", one per index"));
  if (!otherwise->shape.empty() || otherwise->dtype != values->dtype)
    call.Refuse(StrCat("default_value must be one ", values->dtype.ToString()));
  call.LearnResult(ir::TensorType(std::vector<Dim>(extents.begin(), extents.end()), values->dtype));
}

// The most extents of a shape that is given by value, as in unravel_index. Each is written out.
constexpr std::int64_t kMaxExtents = 64;

void SparseReshape(TypeCall& call) {
  const auto* indices = call.tensor(0);
  const auto* before = call.tensor(1);
  const auto* after = call.tensor(2);
  if (indices == nullptr || before == nullptr || after == nullptr) return;
  RequireIntegers(call, *indices);
  RequireVectorOfIntegers(call, *before, "prev_shape");
  RequireVectorOfIntegers(call, *after, "new_shape");
  if (indices->shape.size() != 2) call.Refuse("the indices must be rows of coordinates");
  if (call.Differ(indices->shape[1], before->shape[0]))
    call.Refuse(StrCat("indices of ", indices->shape[1].ToString(),
                       " coordinates for a prev_shape of ", before->shape[0].ToString(),
                       " extents"));
  for (const TensorTypeNode* shape : {before, after}) {
    if (call.Exceeds(shape->shape[0], kMaxExtents))
      call.Refuse(StrCat("a shape of ", shape->shape[0].ToString(), " extents; at most ",
                         kMaxExtents, " are supported"));
  }
  call.LearnResult(ir::TupleType(
      {ir::TensorType({indices->shape[0], after->shape[0]}, indices->dtype), call.input(2)}));
}

}  // namespace

void RegisterSparseOps(OpRegistry& registry) {
  const auto op = [&](const char* name, const char* help, int level, OpPattern pattern) {
    OpBuilder made = registry.Register(name);
    made.Describe(help).Level(level).Pattern(pattern);
    return made;
  };
  const auto compressed = [](OpBuilder& made, const char* data, const char* help) -> OpBuilder& {
    return made.Argument("sparse_data", data, help)
        .Argument("sparse_indices", "1D Tensor", "the column of each entry; others are skipped")
        .Argument("sparse_indptr", "1D Tensor",
                  "where the entries of each row begin, and where the last ones end");
  };
  const char* entries = "the entries (CSR), or (count, rows, columns) of blocks (BSR)";
  OpBuilder dense =
      op("nn.sparse_dense",
         "the product of a dense matrix and a transposed sparse one, or of a sparse matrix and a "
         "transposed dense one; what is not stored is not multiplied, not even by NaN",
         1, OpPattern::kOutEWiseFusable);
  dense.Argument("dense_data", "2D Tensor", "rows of as many elements as a sparse row has");
  compressed(dense, "1D or 3D Tensor", entries)
      .Attrs<SparseDenseAttrs>()
      .TypeRelation(SparseDense, "SparseDense");
  OpBuilder add =
      op("nn.sparse_add", "the sum of a dense and a sparse matrix", 1, OpPattern::kOpaque);
  add.Argument("dense_data", "2D Tensor", "a matrix");
  compressed(add, "1D Tensor", "the entries (CSR); those at one position are all added")
      .TypeRelation(SparseAdd, "SparseAdd");
  OpBuilder transpose = op("nn.sparse_transpose",
                           "a square sparse matrix (CSR), transposed, its entries in order of "
                           "rows; entries out of range are dropped, and zeros follow the others",
                           1, OpPattern::kOpaque);
  compressed(transpose, "1D Tensor", "the entries")
      .TypeRelation(SparseTranspose, "SparseTranspose");
  OpBuilder conv = op("nn.sparse_conv2d",
                      "a convolution by 1 x 1, or by 3 x 3 with an image's own extents, of a "
                      "sparse weight with a row for each channel of the result; a row runs along "
                      "the kernel's height, width and the channels for NHWC, and along channels, "
                      "height and width for NCHW",
                      1, OpPattern::kOutEWiseFusable);
  conv.Argument("dense_data", "4D Tensor", "batch of images");
  compressed(conv, "1D or 3D Tensor", entries)
      .Attrs<SparseConv2DAttrs>()
      .TypeRelation(SparseConv2D, "SparseConv2d");
  op("sparse_to_dense",
     "values at their indices and default_value elsewhere; when several go to one element, the "
     "last counts; those out of range are dropped",
     3, OpPattern::kOpaque)
      .Argument("sparse_indices", "Tensor",
                "(count, rank) coordinates, or a vector or one integer for rank 1")
      .Argument("sparse_values", "Tensor", "a vector with one per index, or one for all")
      .Argument("default_value", "Tensor", "of rank 0")
      .Attrs<SparseToDenseAttrs>()
      .TypeRelation(SparseToDense, "SparseToDense");
  op("sparse_reshape",
     "coordinates in a tensor of another shape with the same elements in order, and that shape "
     "with its -1 replaced; where it has not as many elements, the first coordinate takes what is "
     "left, and extents below 1 count as 1",
     3, OpPattern::kOpaque)
      .Argument("sparse_indices", "2D Tensor", "(count, rank) coordinates")
      .Argument("prev_shape", "1D Tensor", "extents of the tensor to which they refer")
      .Argument("new_shape", "1D Tensor", "extents of the result, one of which may be -1")
      .TypeRelation(SparseReshape, "sparse_reshape");
}

}  // namespace tenon::ops
