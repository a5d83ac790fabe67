// Types of operators on sparse tensors.
#include "tenon/tests/ops/type_relation_rows.h"

namespace tenon::ops {
namespace {

constexpr char kCsr[] =
    "%x: Tensor[(4, 6), float32], %d: Tensor[(9), float32], %i: Tensor[(9), int32], "
    "%p: Tensor[(6), int32]";
constexpr char kBsr[] =
    "%x: Tensor[(4, 6), float32], %d: Tensor[(9, 3, 2), float32], %i: Tensor[(9), int32], "
    "%p: Tensor[(6), int32]";
constexpr char kImage[] =
    "%x: Tensor[(n, 5, 7, 6), float32], %d: Tensor[(9, 3, 2), float32], %i: Tensor[(9), int64], "
    "%p: Tensor[(6), int64]";
constexpr char kCoordinates[] =
    "%i: Tensor[(4, 2), int32], %v: Tensor[(4), int8], %z: int8, %f: float32, %s: Tensor[(2), "
    "int64]";

INSTANTIATE_TEST_SUITE_P(
    Sparse, TypeRelationTest,
    ::testing::Values(
        Row{"SparseDense", kCsr, "nn.sparse_dense(%x, %d, %i, %p)", "Tensor[(4, 5), float32]"},
        Row{"SparseDenseOfBlocks", kBsr, "nn.sparse_dense(%x, %d, %i, %p)",
            "Tensor[(4, 15), float32]"},
        Row{"SparseDenseOnTheLeft", kBsr, "nn.sparse_dense(%x, %d, %i, %p, sparse_lhs=True)",
            "Tensor[(15, 4), float32]"},
        Row{"SparseDenseOfAVariableNumberOfRows",
            "%x: Tensor[(4, 6), float32], %d: Tensor[(n), float32], %i: Tensor[(n), int32], %p: "
            "Tensor[(m), int32]",
            "nn.sparse_dense(%x, %d, %i, %p)", "Tensor[(4, m - 1), float32]"},
        Row{"SparseDenseOfOtherBlocks",
            "%x: Tensor[(4, 7), float32], %d: Tensor[(9, 3, 2), float32], %i: Tensor[(9), int32], "
            "%p: Tensor[(6), int32]",
            "nn.sparse_dense(%x, %d, %i, %p)",
            "nn.sparse_dense: blocks of 2 columns do not divide the 7 of the sparse matrix"},
        Row{"SparseDenseOfOtherTypes",
            "%x: Tensor[(4, 6), float32], %d: Tensor[(9), int8], %i: Tensor[(9), int32], %p: "
            "Tensor[(6), int32]",
            "nn.sparse_dense(%x, %d, %i, %p)",
            "nn.sparse_dense: the dense tensor is of float32 and the sparse one of int8; both must "
            "be of one element type"},
        Row{"SparseDenseOfTwoAxes", kCsr, "nn.sparse_dense(%x, %x, %i, %p)",
            "nn.sparse_dense: sparse_data must be a vector (CSR) or (count, rows, columns) of "
            "blocks (BSR)"},
        Row{"SparseDenseByFloats", kCsr, "nn.sparse_dense(%x, %d, %d, %p)",
            "nn.sparse_dense: sparse_indices must be a vector of integers"},
        Row{"SparseDenseOfFewIndices", kCsr, "nn.sparse_dense(%x, %d, %p, %p)",
            "nn.sparse_dense: there are 9 entries and 6 sparse_indices"},
        Row{"SparseDenseWithoutAnEnd",
            "%x: Tensor[(4, 6), float32], %d: Tensor[(0), float32], %i: Tensor[(0), int32]",
            "nn.sparse_dense(%x, %d, %i, %i)",
            "nn.sparse_dense: sparse_indptr must have one element, at least: where the entries "
            "end"},
        Row{"SparseDenseOfABatch",
            "%x: Tensor[(2, 4, 6), float32], %d: Tensor[(9), float32], %i: Tensor[(9), int32], %p: "
            "Tensor[(6), int32]",
            "nn.sparse_dense(%x, %d, %i, %p)",
            "nn.sparse_dense: the dense tensor must be a matrix"},
        Row{"SparseAdd",
            "%x: Tensor[(5, n), float32], %d: Tensor[(9), float32], %i: Tensor[(9), int32], %p: "
            "Tensor[(6), int32]",
            "nn.sparse_add(%x, %d, %i, %p)", "Tensor[(5, n), float32]"},
        Row{"SparseAddOfOtherRows", kCsr, "nn.sparse_add(%x, %d, %i, %p)",
            "nn.sparse_add: the dense matrix has 4 rows and the sparse one 5"},
        Row{"SparseAddOfBlocks", kBsr, "nn.sparse_add(%x, %d, %i, %p)",
            "nn.sparse_add: sparse_data must be a vector (CSR)"},
        Row{"SparseTranspose", kCsr, "nn.sparse_transpose(%d, %i, %p)",
            "(Tensor[(9), float32], Tensor[(9), int32], Tensor[(6), int32])"},
        Row{"SparseTransposeOfBlocks", kBsr, "nn.sparse_transpose(%d, %i, %p)",
            "nn.sparse_transpose: sparse_data must be a vector (CSR)"},
        Row{"SparseConv2D", kImage, "nn.sparse_conv2d(%x, %d, %i, %p, kernel_size=[3, 3])",
            "Tensor[(n, 5, 7, 15), float32]"},
        Row{"SparseConv2DOfChannelsFirst", kImage,
            "nn.sparse_conv2d(%x, %d, %i, %p, layout=\"NCHW\", kernel_size=[3, 3])",
            "nn.sparse_conv2d: blocks of 2 columns do not divide the 45 of the sparse matrix"},
        Row{"SparseConv2DByTwo", kImage, "nn.sparse_conv2d(%x, %d, %i, %p, kernel_size=[2, 2])",
            "nn.sparse_conv2d: kernel_size is [2, 2]; it may be [1, 1] or [3, 3]"},
        Row{"SparseToDense", kCoordinates, "sparse_to_dense(%i, %v, %z, output_shape=[5, 3])",
            "Tensor[(5, 3), int8]"},
        Row{"SparseToDenseOfOneValue", kCoordinates,
            "sparse_to_dense(%i, %z, %z, output_shape=[5, 3])", "Tensor[(5, 3), int8]"},
        Row{"SparseToDenseOfMoreAxes", kCoordinates,
            "sparse_to_dense(%i, %v, %z, output_shape=[5, 3, 2])",
            "sparse_to_dense: indices of 2 coordinates for an output_shape of 3 extents"},
        Row{"SparseToDenseOfFewValues", kCoordinates,
            "sparse_to_dense(%i, %s, %z, output_shape=[5, 3])",
            "sparse_to_dense: the values must be one for all, or a vector of 4, one per index"},
        Row{"SparseToDenseOfOtherDefault", kCoordinates,
            "sparse_to_dense(%i, %v, %f, output_shape=[5, 3])",
            "sparse_to_dense: default_value must be one int8"},
        Row{"SparseToDenseByFloats", kCoordinates,
            "sparse_to_dense(%f, %v, %z, output_shape=[5, 3])",
            "sparse_to_dense: indices must be integers, not float32"},
        Row{"SparseReshape",
            "%i: Tensor[(n, 2), int64], %b: Tensor[(2), int64], %a: Tensor[(3), int32]",
            "sparse_reshape(%i, %b, %a)", "(Tensor[(n, 3), int64], Tensor[(3), int32])"},
        Row{"SparseReshapeOfOtherRank",
            "%i: Tensor[(n, 2), int64], %b: Tensor[(2), int64], %a: Tensor[(3), int32]",
            "sparse_reshape(%i, %a, %b)",
            "sparse_reshape: indices of 2 coordinates for a prev_shape of 3 extents"},
        Row{"SparseReshapeToManyExtents",
            "%i: Tensor[(n, 2), int64], %b: Tensor[(2), int64], %a: Tensor[(65), int32]",
            "sparse_reshape(%i, %b, %a)",
            "sparse_reshape: a shape of 65 extents; at most 64 are supported"},
        Row{"SparseReshapeToAFloat",
            "%i: Tensor[(n, 2), int64], %b: Tensor[(2), int64], %a: Tensor[(3), float32]",
            "sparse_reshape(%i, %b, %a)",
            "sparse_reshape: new_shape must be a vector of integers"}),
    NameOf);

}  // namespace
}  // namespace tenon::ops
