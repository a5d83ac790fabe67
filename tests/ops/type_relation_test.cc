// For each family of operators: the type of the result, or the words in which it is refused.
#include "tenon/ops/type_relation.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/tests/ops/result_type.h"

namespace tenon::ops {
namespace {

struct Row {
  const char* name;
  const char* params;
  const char* body;
  const char* result;  // type or words
  friend void PrintTo(const Row& t, std::ostream* out) { *out << t.name; }
};
class TypeRelationTest : public ::testing::TestWithParam<Row> {};

TEST_P(TypeRelationTest, GivesTheTypeOrRefuses) {
  EXPECT_EQ(ResultType(GetParam().params, GetParam().body), GetParam().result);
}
std::string NameOf(const ::testing::TestParamInfo<Row>& info) { return info.param.name; }

constexpr char kX[] = "%x: Tensor[(2, 6, 4, 5), float32]";
constexpr char kM[] = "%x: Tensor[(2, 3), float32]";
constexpr char kV[] = "%x: Tensor[(5), float32]";
constexpr char kS[] = "%x: float32";

INSTANTIATE_TEST_SUITE_P(
    Unary, TypeRelationTest,
    ::testing::Values(
        Row{"KeepsTheType", "%x: Tensor[(n, 3), float16]", "exp(%x)", "Tensor[(n, 3), float16]"},
        Row{"ClassIsBool", kM, "isnan(%x)", "Tensor[(2, 3), bool]"},
        Row{"Cast", kM, "cast(%x, dtype=\"int8\")", "Tensor[(2, 3), int8]"},
        Row{"CastLike", "%x: Tensor[(2), float32], %y: int64", "cast_like(%x, %y)",
            "Tensor[(2), int64]"},
        Row{"CastToNothing", kM, "cast(%x, dtype=\"\")",
            "cast: a tensor type cannot have the element type void"},
        Row{"LogicalNotOfBool", "%x: Tensor[(2), bool]", "logical_not(%x)", "Tensor[(2), bool]"},
        Row{"LogicalNotOfNumbers", kM, "logical_not(%x)", "logical_not: the input must be bool"},
        Row{"FullLike", "%x: Tensor[(2), float32], %y: float32", "full_like(%x, %y)",
            "Tensor[(2), float32]"},
        Row{"FullLikeOfAVector", "%x: Tensor[(2), float32]", "full_like(%x, %x)",
            "full_like: fill_value must have rank 0"},
        Row{"PRelu", "%x: Tensor[(2, 3), float32], %a: Tensor[(2), float32]",
            "nn.prelu(%x, %a, axis=0)", "Tensor[(2, 3), float32]"},
        Row{"PReluOfAWrongLength", "%x: Tensor[(2, 3), float32], %a: Tensor[(2), float32]",
            "nn.prelu(%x, %a)",
            "nn.prelu: the variable %a cannot have both types: the type Tensor[(2), float32] is "
            "not Tensor[(3), float32]"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Broadcast, TypeRelationTest,
    ::testing::Values(
        Row{"OneBothWays", "%x: Tensor[(2, 1, 4), float32], %y: Tensor[(3, 1), float32]",
            "add(%x, %y)", "Tensor[(2, 3, 4), float32]"},
        Row{"ScalarAgainstAnything", kX, "multiply(%x, 2f)", "Tensor[(2, 6, 4, 5), float32]"},
        Row{"Scalars", kS, "subtract(%x, 1f)", "float32"},
        Row{"ZeroExtent", "%x: Tensor[(0, 3), float32], %y: Tensor[(1, 3), float32]",
            "maximum(%x, %y)", "Tensor[(0, 3), float32]"},
        Row{"UnknownAgainstOne", "%x: Tensor[(?), float32], %y: Tensor[(1), float32]",
            "add(%x, %y)", "Tensor[(?), float32]"},
        Row{"UnknownAgainstKnown", "%x: Tensor[(?), float32], %y: Tensor[(4), float32]",
            "add(%x, %y)", "Tensor[(4), float32]"},
        Row{"OneSymbol", "%x: Tensor[(n, 3), float32], %y: Tensor[(n, 1), float32]", "add(%x, %y)",
            "Tensor[(n, 3), float32]"},
        Row{"TwoSymbols", "%x: Tensor[(n), float32], %y: Tensor[(m), float32]", "add(%x, %y)",
            "Tensor[(?), float32]"},
        Row{"ExtentsThatDiffer", "%x: Tensor[(2, 3), float32], %y: Tensor[(2), float32]",
            "add(%x, %y)",
            "add: the shapes do not broadcast: extent 3 against 2 in dimension 1; extents must be "
            "equal or one of them 1"},
        Row{"TypesThatDiffer", "%x: Tensor[(2), float32], %y: Tensor[(2), float64]",
            "power(%x, %y)",
            "power: the element types differ: float32 and float64; cast one of them"},
        Row{"ComparisonIsBool", "%x: Tensor[(2, 1), int8], %y: Tensor[(3), int8]",
            "less_equal(%x, %y)", "Tensor[(2, 3), bool]"},
        Row{"ComparisonOfTypesThatDiffer", "%x: int32, %y: int64", "equal(%x, %y)",
            "equal: the element types differ: int32 and int64; cast one of them"},
        Row{"LogicalOfBool", "%x: Tensor[(2, 1), bool], %y: Tensor[(3), bool]",
            "logical_and(%x, %y)", "Tensor[(2, 3), bool]"},
        Row{"LogicalOfNumbers", kM, "logical_or(%x, %x)", "logical_or: both inputs must be bool"},
        Row{"BitsOfIntegers", "%x: Tensor[(2), uint8]", "bitwise_xor(%x, %x)",
            "Tensor[(2), uint8]"},
        Row{"ShiftOfFloats", kM, "left_shift(%x, %x)", "left_shift: the inputs must be integers"},
        Row{"Where",
            "%c: Tensor[(2, 1), bool], %x: Tensor[(3), float32], %y: Tensor[(1, 1), float32]",
            "where(%c, %x, %y)", "Tensor[(2, 3), float32]"},
        Row{"WhereOfTypesThatDiffer", "%c: bool, %x: float32, %y: float64", "where(%c, %x, %y)",
            "where: x and y must have one element type"},
        Row{"WhereThatDoesNotBroadcast", "%c: Tensor[(2), bool], %x: Tensor[(3), float32]",
            "where(%c, %x, %x)",
            "where: the shapes do not broadcast: extent 2 against 3 in dimension 0; extents must "
            "be equal or one of them 1"},
        Row{"BroadcastTo", "%x: Tensor[(3, 1), float32]", "broadcast_to(%x, shape=[2, 3, 4])",
            "Tensor[(2, 3, 4), float32]"},
        Row{"BroadcastToLess", kM, "broadcast_to(%x, shape=[1, 3])",
            "broadcast_to: the input does not broadcast to the shape"},
        Row{"BroadcastToOther", kM, "broadcast_to(%x, shape=[2, 4])",
            "broadcast_to: the shapes do not broadcast: extent 3 against 4 in dimension 1; extents "
            "must be equal or one of them 1"},
        Row{"BroadcastToLike", "%x: Tensor[(3), float32], %y: Tensor[(2, 3), int8]",
            "broadcast_to_like(%x, %y)", "Tensor[(2, 3), float32]"}),
    NameOf);

// Codes as executed by the reference on the shape 2, 6, 4, 5.
INSTANTIATE_TEST_SUITE_P(
    Reshape, TypeRelationTest,
    ::testing::Values(
        Row{"Plain", kX, "reshape(%x, newshape=[12, 20])", "Tensor[(12, 20), float32]"},
        Row{"ZeroCopies", kX, "reshape(%x, newshape=[0, -1])", "Tensor[(2, 120), float32]"},
        Row{"MinusTwoCopiesTheRest", kX, "reshape(%x, newshape=[-2])",
            "Tensor[(2, 6, 4, 5), float32]"},
        Row{"MinusThreeMerges", kX, "reshape(%x, newshape=[-3, -2])",
            "Tensor[(12, 4, 5), float32]"},
        Row{"MinusFourSplits", kX, "reshape(%x, newshape=[0, -4, 2, -1, -2])",
            "Tensor[(2, 2, 3, 4, 5), float32]"},
        Row{"MergeAtTheEnd", kX, "reshape(%x, newshape=[0, 0, -3])", "Tensor[(2, 6, 20), float32]"},
        Row{"ToAScalar", "%x: Tensor[(1, 1), float32]", "reshape(%x, newshape=[])", "float32"},
        Row{"FromAScalar", kS, "reshape(%x, newshape=[1, -1])", "Tensor[(1, 1), float32]"},
        Row{"ZeroAsAnExtent", "%x: Tensor[(0, 3), float32]",
            "reshape(%x, newshape=[3, 0], allowzero=True)", "Tensor[(3, 0), float32]"},
        Row{"UnknownBatch", "%x: Tensor[(?, 6, 4), float32]", "reshape(%x, newshape=[0, -1])",
            "Tensor[(?, ?), float32]"},
        Row{"OtherNumberOfElements", kX, "reshape(%x, newshape=[7])",
            "reshape: newshape [7] has another number of elements than the input (2, 6, 4, 5)"},
        Row{"NoWholeNumber", kX, "reshape(%x, newshape=[-1, 7])",
            "reshape: newshape [-1, 7] has another number of elements than the input (2, 6, 4, 5)"},
        Row{"TwoInferred", kX, "reshape(%x, newshape=[-1, -1])",
            "reshape: newshape has more than one -1"},
        Row{"CopyOfNothing", kV, "reshape(%x, newshape=[5, 0])",
            "reshape: newshape [5, 0] asks for more input axes than (5) has"},
        Row{"SplitWithoutExtents", kX, "reshape(%x, newshape=[-4, 2])",
            "reshape: newshape has -4 without the two extents that follow it"},
        Row{"SplitIntoTwoUnknowns", kX, "reshape(%x, newshape=[-4, -1, -1, -2])",
            "reshape: newshape splits an axis into -1 and -1; extents are positive, one of them "
            "may be -1"},
        Row{"SplitThatDoesNotDivide", kX, "reshape(%x, newshape=[0, -4, 4, -1, -2])",
            "reshape: newshape splits the extent 6 into 4 and 1"},
        Row{"ReshapeLike", "%x: Tensor[(2, 6), float32], %y: Tensor[(3, 4), int8]",
            "reshape_like(%x, %y)", "Tensor[(3, 4), float32]"},
        Row{"ReshapeLikeOfAPart", "%x: Tensor[(2, 6, 5), float32], %y: Tensor[(9, 2, 3), float32]",
            "reshape_like(%x, %y, lhs_begin=1, lhs_end=2, rhs_begin=1)",
            "Tensor[(2, 2, 3, 5), float32]"},
        Row{"ReshapeLikeOfOtherSize", "%x: Tensor[(2), float32], %y: Tensor[(3), float32]",
            "reshape_like(%x, %y)",
            "reshape_like: the two shapes have different numbers of elements"},
        Row{"BatchFlatten", kX, "nn.batch_flatten(%x)", "Tensor[(2, 120), float32]"},
        Row{"BatchFlattenOfAVector", kV, "nn.batch_flatten(%x)", "Tensor[(5, 1), float32]"},
        Row{"BatchFlattenOfAScalar", kS, "nn.batch_flatten(%x)",
            "nn.batch_flatten: the input must have a batch axis"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Shape, TypeRelationTest,
    ::testing::Values(
        Row{"ExpandDims", kM, "expand_dims(%x, axis=1, num_newaxis=2)",
            "Tensor[(2, 1, 1, 3), float32]"},
        Row{"ExpandDimsAtTheEnd", kM, "expand_dims(%x, axis=-1)", "Tensor[(2, 3, 1), float32]"},
        Row{"ExpandDimsFromTheEnd", kM, "expand_dims(%x, axis=-3)", "Tensor[(1, 2, 3), float32]"},
        Row{"ExpandDimsTooFar", kM, "expand_dims(%x, axis=3)",
            "expand_dims: axis is 3; a tensor of rank 3 has the axes -3 to 2"},
        Row{"SqueezeAll", "%x: Tensor[(1, 3, 1), float32]", "squeeze(%x)", "Tensor[(3), float32]"},
        Row{"SqueezeNone", "%x: Tensor[(1, 3, 1), float32]", "squeeze(%x, axis=[])",
            "Tensor[(1, 3, 1), float32]"},
        Row{"SqueezeOne", "%x: Tensor[(1, 3, 1), float32]", "squeeze(%x, axis=[-1])",
            "Tensor[(1, 3), float32]"},
        Row{"SqueezeOfThree", "%x: Tensor[(1, 3, 1), float32]", "squeeze(%x, axis=[1])",
            "squeeze: axis 1 has the extent 3, not 1"},
        Row{"SqueezeTwice", "%x: Tensor[(1, 3, 1), float32]", "squeeze(%x, axis=[0, -3])",
            "squeeze: axis names the axis -3 twice"},
        Row{"SqueezeOfUnknowns", "%x: Tensor[(?), float32]", "squeeze(%x)",
            "squeeze: without axis all extents must be known"},
        Row{"TransposeReverses", kX, "transpose(%x)", "Tensor[(5, 4, 6, 2), float32]"},
        Row{"TransposeByAxes", kX, "transpose(%x, axes=[0, -1, 1, 2])",
            "Tensor[(2, 5, 6, 4), float32]"},
        Row{"TransposeTwiceTheSame", kM, "transpose(%x, axes=[0, 0])",
            "transpose: axes names the axis 0 twice"},
        Row{"TransposeByTooFew", kM, "transpose(%x, axes=[0])",
            "transpose: axes has 1 entries for an input of rank 2"},
        Row{"Reverse", kM, "reverse(%x, axis=-1)", "Tensor[(2, 3), float32]"},
        Row{"ReverseTooFar", kM, "reverse(%x, axis=2)",
            "reverse: axis is 2; a tensor of rank 2 has the axes -2 to 1"},
        Row{"Concatenate", kM, "concatenate((%x, %x, %x), axis=-1)", "Tensor[(2, 9), float32]"},
        Row{"ConcatenateUnknown", "%x: Tensor[(?, 3), float32], %y: Tensor[(2, ?), float32]",
            "concatenate((%x, %y))", "Tensor[(?, 3), float32]"},
        Row{"ConcatenateNothing", "", "concatenate(())",
            "concatenate: the tuple must have a field"},
        Row{"ConcatenateScalars", kS, "concatenate((%x, %x))",
            "concatenate: the fields must have an axis to join along"},
        Row{"ConcatenateOtherTypes", "%x: Tensor[(2), float32], %y: Tensor[(2), int8]",
            "concatenate((%x, %y))",
            "concatenate: field 1 has another element type or rank than field 0"},
        Row{"Stack", kM, "stack((%x, %x), axis=-1)", "Tensor[(2, 3, 2), float32]"},
        Row{"StackScalars", kS, "stack((%x, %x, %x))", "Tensor[(3), float32]"},
        Row{"StackOtherShapes", "%x: Tensor[(2), float32], %y: Tensor[(3), float32]",
            "stack((%x, %y))", "stack: field 1 has another type than field 0"},
        Row{"SplitIntoParts", kX, "split(%x, indices_or_sections=3, axis=1)",
            "(Tensor[(2, 2, 4, 5), float32], Tensor[(2, 2, 4, 5), float32], "
            "Tensor[(2, 2, 4, 5), float32])"},
        Row{"SplitAtPoints", kV, "split(%x, indices_or_sections=[1, 1, 4])",
            "(Tensor[(1), float32], Tensor[(0), float32], Tensor[(3), float32], "
            "Tensor[(1), float32])"},
        Row{"SplitAtNoPoint", kV, "split(%x, indices_or_sections=[])", "(Tensor[(5), float32],)"},
        Row{"SplitUnevenly", kV, "split(%x, indices_or_sections=2)",
            "split: an extent of 5 cannot be split into 2 equal parts"},
        Row{"SplitIntoNothing", kV, "split(%x, indices_or_sections=0)",
            "split: an extent of 5 cannot be split into 0 equal parts"},
        Row{"SplitBackwards", kV, "split(%x, indices_or_sections=[3, 2])",
            "split: the cut points must ascend within 0 to 5; 2 follows 3"},
        Row{"SplitOfAnUnknownExtent", "%x: Tensor[(?), float32]",
            "split(%x, indices_or_sections=2)", "split: the extent that is split must be known"},
        Row{"Tile", kM, "tile(%x, reps=[2, 1, 3])", "Tensor[(2, 2, 9), float32]"},
        Row{"TileByLess", kM, "tile(%x, reps=[4])", "Tensor[(2, 12), float32]"},
        Row{"TileBeyond64Bits", "%x: Tensor[(4), float32]", "tile(%x, reps=[4611686018427387904])",
            "tile: the product of the extents does not fit 64 bits"},
        Row{"Repeat", kM, "repeat(%x, repeats=4, axis=1)", "Tensor[(2, 12), float32]"},
        Row{"RepeatBeyond64Bits", "%x: Tensor[(4), float32]",
            "repeat(%x, repeats=4611686018427387904)",
            "repeat: the product of the extents does not fit 64 bits"},
        Row{"MeshgridIJ", "%x: Tensor[(2), float32], %y: Tensor[(3), float32]",
            "meshgrid((%x, %y))", "(Tensor[(2, 3), float32], Tensor[(2, 3), float32])"},
        Row{"MeshgridXY", "%x: Tensor[(2), float32], %y: Tensor[(3), float32]",
            "meshgrid((%x, %y), indexing=\"xy\")",
            "(Tensor[(3, 2), float32], Tensor[(3, 2), float32])"},
        Row{"MeshgridOfMatrices", kM, "meshgrid((%x, %x))",
            "meshgrid: the fields must be vectors or scalars of one element type"}),
    NameOf);

constexpr char kGather[] = "%x: Tensor[(4, 5), float32], %i: Tensor[(2, 3), int32]";

INSTANTIATE_TEST_SUITE_P(
    Index, TypeRelationTest,
    ::testing::Values(
        Row{"Slice", kV, "strided_slice(%x, begin=[1], end=[4])", "Tensor[(3), float32]"},
        Row{"SliceFromTheEnd", kV, "strided_slice(%x, begin=[-3], end=[-1])",
            "Tensor[(2), float32]"},
        Row{"SliceBackwards", kV, "strided_slice(%x, begin=[-1], end=[-6], strides=[-2])",
            "Tensor[(3), float32]"},
        Row{"SliceBeyondTheEnds", kV, "strided_slice(%x, begin=[-9], end=[9])",
            "Tensor[(5), float32]"},
        Row{"SliceOfNothing", kV, "strided_slice(%x, begin=[3], end=[2])", "Tensor[(0), float32]"},
        Row{"SliceLeavesLaterAxes", kM, "strided_slice(%x, begin=[1], end=[2])",
            "Tensor[(1, 3), float32]"},
        Row{"SliceOfAxes", kX, "strided_slice(%x, begin=[0, 1], end=[1, 3], axes=[-1, 1])",
            "Tensor[(2, 2, 4, 1), float32]"},
        // S001-58.
        Row{"SliceBySize", kM,
            "strided_slice(%x, begin=[0, 1], end=[-1, 2], strides=[1, 1], slice_mode=\"size\")",
            "Tensor[(2, 2), float32]"},
        Row{"SliceBySizeTakesNoStrides", kV,
            "strided_slice(%x, begin=[1], end=[4], strides=[2], slice_mode=\"size\")",
            "Tensor[(4), float32]"},
        Row{"SliceBySizeBeyondTheEnd", kV,
            "strided_slice(%x, begin=[3], end=[9223372036854775807], slice_mode=\"size\")",
            "Tensor[(2), float32]"},
        Row{"SliceByAHugeStride", kV,
            "strided_slice(%x, begin=[1], end=[5], strides=[9223372036854775807])",
            "Tensor[(1), float32]"},
        Row{"SliceByAHugeStrideBackwards", kV,
            "strided_slice(%x, begin=[-1], end=[-9], strides=[-9223372036854775808])",
            "Tensor[(1), float32]"},
        Row{"SliceByStrideZero", kV, "strided_slice(%x, begin=[0], end=[5], strides=[0])",
            "strided_slice: strides has the entry 0"},
        Row{"SliceWithoutAnEnd", kV, "strided_slice(%x, begin=[0], end=[])",
            "strided_slice: begin has 1 entries and end 0"},
        Row{"SliceOfTooManyAxes", kV, "strided_slice(%x, begin=[0, 0], end=[1, 1])",
            "strided_slice: begin has 2 entries for an input of rank 1"},
        Row{"SliceOfUnknowns", "%x: Tensor[(?), float32]", "strided_slice(%x, begin=[0], end=[1])",
            "strided_slice: all extents of the input must be known"},
        Row{"SliceLike", "%x: Tensor[(4, 5), float32], %y: Tensor[(2, 3), int8]",
            "slice_like(%x, %y)", "Tensor[(2, 3), float32]"},
        Row{"SliceLikeOfAxes", "%x: Tensor[(4, 5), float32], %y: Tensor[(2, 3), int8]",
            "slice_like(%x, %y, axes=[-1])", "Tensor[(4, 3), float32]"},
        Row{"SliceLikeOfLess", "%x: Tensor[(1), float32], %y: Tensor[(2), int8]",
            "slice_like(%x, %y)", "slice_like: axis 0 is shorter than that of shape_like"},
        Row{"TakeAlongAnAxis", kGather, "take(%x, %i, axis=1)", "Tensor[(4, 2, 3), float32]"},
        Row{"TakeOfTheFlatData", kGather, "take(%x, %i)", "Tensor[(2, 3), float32]"},
        Row{"TakeByAScalar", "%x: Tensor[(4, 5), float32], %i: int64", "take(%x, %i, axis=0)",
            "Tensor[(5), float32]"},
        Row{"TakeInBatches", "%x: Tensor[(2, 4, 5), float32], %i: Tensor[(2, 3), int32]",
            "take(%x, %i, axis=1, batch_dims=1)", "Tensor[(2, 3, 5), float32]"},
        Row{"TakeByFloats", kM, "take(%x, %x)", "take: indices must be integers, not float32"},
        Row{"TakeTooFar", kGather, "take(%x, %i, axis=2)",
            "take: axis is 2; a tensor of rank 2 has the axes -2 to 1"},
        Row{"Gather", "%x: Tensor[(4, 5), float32], %i: Tensor[(4, 2), int32]",
            "gather(%x, %i, axis=1)", "Tensor[(4, 2), float32]"},
        Row{"GatherOfAnotherRank", "%x: Tensor[(4, 5), float32], %i: Tensor[(4), int32]",
            "gather(%x, %i, axis=1)", "gather: data and indices must have one rank"},
        // An index outside of the gathered axis would read beyond the data.
        Row{"GatherOfMoreRows", "%x: Tensor[(4, 5), float32], %i: Tensor[(9, 2), int32]",
            "gather(%x, %i, axis=1)",
            "gather: data and indices must have one shape but for the axis"},
        Row{"GatherND", "%x: Tensor[(4, 5, 6), float32], %i: Tensor[(2, 3), int32]",
            "gather_nd(%x, %i)", "Tensor[(3, 6), float32]"},
        Row{"GatherNDOfTooLongAnIndex", "%x: Tensor[(4), float32], %i: Tensor[(2, 3), int32]",
            "gather_nd(%x, %i)", "gather_nd: an index of 2 and 0 batch axes for data of rank 1"},
        Row{"AdvIndex",
            "%x: Tensor[(4, 5, 6), float32], %i: Tensor[(2, 1), int32], %j: Tensor[(3), int32]",
            "adv_index((%x, %i, %j))", "Tensor[(2, 3, 6), float32]"},
        Row{"AdvIndexOfTooMany", "%x: Tensor[(4), float32], %i: Tensor[(2), int32]",
            "adv_index((%x, %i, %i))", "adv_index: there are more indices than axes"},
        Row{"OneHot", "%i: Tensor[(2, 3), int32]", "one_hot(%i, 1f, 0f, depth=4)",
            "Tensor[(2, 3, 4), float32]"},
        Row{"OneHotInFront", "%i: Tensor[(2, 3), int32]",
            "one_hot(%i, 1f, 0f, depth=4, axis=0, dtype=\"int8\")", "Tensor[(4, 2, 3), int8]"},
        Row{"OneHotOfFloats", kM, "one_hot(%x, 1f, 0f, depth=4)",
            "one_hot: indices must be integers, not float32"},
        Row{"OneHotOfAVectorOfValues", "%i: Tensor[(2), int32], %v: Tensor[(5), float32]",
            "one_hot(%i, %v, 0f, depth=4)", "one_hot: on_value and off_value must have rank 0"},
        Row{"Trilu", kX, "trilu(%x, 0, upper=False)", "Tensor[(2, 6, 4, 5), float32]"},
        Row{"TriluOfAVector", kV, "trilu(%x, 0)", "trilu: the input must have two axes"},
        Row{"TriluByAFloat", kM, "trilu(%x, 0f)", "trilu: k must be an integer of rank 0"},
        Row{"ReverseSequence", "%x: Tensor[(n, 3), float32], %l: Tensor[(4), int32]",
            "reverse_sequence(%x, %l)", "Tensor[(n, 3), float32]"},
        Row{"ReverseSequenceOfOtherLengths", "%x: Tensor[(2, 3), float32], %l: Tensor[(3), int32]",
            "reverse_sequence(%x, %l)", "reverse_sequence: there are 3 lengths for a batch of 2"},
        Row{"ReverseSequenceByFloats", "%x: Tensor[(2, 3), float32], %l: Tensor[(2), float32]",
            "reverse_sequence(%x, %l)",
            "reverse_sequence: seq_lengths must be a vector of integers"},
        Row{"ReverseSequenceOfOneAxis", "%x: Tensor[(2, 3), float32], %l: Tensor[(2), int32]",
            "reverse_sequence(%x, %l, seq_axis=-2)",
            "reverse_sequence: seq_axis and batch_axis must differ"},
        Row{"ReverseSequenceOfAVector", "%x: Tensor[(5), float32], %l: Tensor[(5), int32]",
            "reverse_sequence(%x, %l)",
            "reverse_sequence: seq_axis is 1; a tensor of rank 1 has the axes -1 to 0"},
        Row{"UnravelIndex", "%i: Tensor[(n), int64], %s: Tensor[(3), int32]",
            "unravel_index(%i, %s)", "Tensor[(3, n), int64]"},
        Row{"UnravelOneIndex", "%i: int32, %s: Tensor[(3), int64]", "unravel_index(%i, %s)",
            "Tensor[(3), int32]"},
        Row{"UnravelIndexOfAMatrix", "%i: Tensor[(2, 2), int64], %s: Tensor[(3), int32]",
            "unravel_index(%i, %s)", "unravel_index: the indices must have rank 0 or 1"},
        Row{"UnravelIndexOfAnUnknownRank", "%i: Tensor[(2), int64], %s: Tensor[(?), int32]",
            "unravel_index(%i, %s)", "unravel_index: the length of shape must be known"},
        Row{"UnravelIndexByFloats", "%i: Tensor[(2), int64], %s: Tensor[(3), float32]",
            "unravel_index(%i, %s)", "unravel_index: shape must be a vector of integers"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Scan, TypeRelationTest,
    ::testing::Values(Row{"CumSumIsFlat", kX, "cumsum(%x)", "Tensor[(240), float32]"},
                      Row{"CumSumOfAScalar", kS, "cumsum(%x)", "Tensor[(1), float32]"},
                      Row{"CumProdAxis", "%x: Tensor[(n, 3), float32]", "cumprod(%x, axis=-2)",
                          "Tensor[(n, 3), float32]"},
                      Row{"CumSumOfAnotherType", "%x: Tensor[(2, 3), bool]",
                          "cumsum(%x, axis=1, dtype=\"int32\", exclusive=True)",
                          "Tensor[(2, 3), int32]"},
                      Row{"CumSumOfBool", "%x: Tensor[(2, 3), bool]", "cumsum(%x)",
                          "cumsum: the result cannot be bool; give dtype"},
                      Row{"CumProdTooFar", kM, "cumprod(%x, axis=2)",
                          "cumprod: axis is 2; a tensor of rank 2 has the axes -2 to 1"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Reduce, TypeRelationTest,
    ::testing::Values(
        Row{"All", kX, "sum(%x)", "float32"},
        Row{"AllKept", kX, "sum(%x, keepdims=True)", "Tensor[(1, 1, 1, 1), float32]"},
        Row{"OneAxis", kX, "max(%x, axis=[1])", "Tensor[(2, 4, 5), float32]"},
        // S001-37.
        Row{"FromTheEnd", kX, "sum(%x, axis=[-1])", "Tensor[(2, 6, 4), float32]"},
        Row{"TwoKept", kX, "mean(%x, axis=[2, 3], keepdims=True)", "Tensor[(2, 6, 1, 1), float32]"},
        Row{"Excluded", kX, "min(%x, axis=[1], exclude=True)", "Tensor[(6), float32]"},
        Row{"NoAxes", kM, "sum(%x, axis=[])", "Tensor[(2, 3), float32]"},
        Row{"Scalar", kS, "sum(%x)", "float32"},
        Row{"Symbolic", "%x: Tensor[(n, 3), float32]", "sum(%x, axis=[1])", "Tensor[(n), float32]"},
        Row{"TooFar", kM, "sum(%x, axis=[2])",
            "sum: axis is 2; a tensor of rank 2 has the axes -2 to 1"},
        Row{"Twice", kM, "sum(%x, axis=[1, -1])", "sum: axis names the axis -1 twice"},
        Row{"AxisOfAScalar", kS, "sum(%x, axis=[0])",
            "sum: axis is 0; a tensor of rank 0 has no axes"},
        Row{"ExcludeWithoutAxis", kM, "sum(%x, exclude=True)",
            "sum: exclude needs axis to be given"},
        Row{"AnyOfBool", "%x: Tensor[(2, 3), bool]", "any(%x, axis=[0])", "Tensor[(3), bool]"},
        Row{"AllOfNumbers", kM, "all(%x)", "all: the input must be bool"},
        Row{"ArgMaxIsInt32", kX, "argmax(%x, axis=[1])", "Tensor[(2, 4, 5), int32]"},
        Row{"ArgMinOfAll", kX, "argmin(%x)", "int32"},
        Row{"ArgMaxOfAScalar", kS, "argmax(%x)",
            "argmax: the input must have an axis to search along"},
        Row{"Variance", "%x: Tensor[(2, 3), float32], %m: Tensor[(2, 1), float32]",
            "variance(%x, %m, axis=[1])", "Tensor[(2), float32]"},
        Row{"VarianceOfAnotherRank", "%x: Tensor[(2, 3), float32], %m: Tensor[(2), float32]",
            "variance(%x, %m, axis=[1])",
            "variance: the mean must have the rank of the data (keepdims=True)"},
        Row{"CollapseSumLike", "%x: Tensor[(2, 3), float32], %y: Tensor[(3), float32]",
            "collapse_sum_like(%x, %y)", "Tensor[(3), float32]"},
        Row{"CollapseSumLikeOther", "%x: Tensor[(2, 3), float32], %y: Tensor[(5), float32]",
            "collapse_sum_like(%x, %y)",
            "collapse_sum_like: the shapes do not broadcast: extent 3 against 5 in dimension 1; "
            "extents must be equal or one of them 1"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Matmul, TypeRelationTest,
    ::testing::Values(
        Row{"Dense", "%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32]", "nn.dense(%x, %w)",
            "Tensor[(2, 5), float32]"},
        Row{"DenseOfAVector", "%x: Tensor[(4), float32], %w: Tensor[(5, 4), float32]",
            "nn.dense(%x, %w)", "Tensor[(5), float32]"},
        Row{"DenseOfBatches", "%x: Tensor[(7, n, 3), float32], %w: Tensor[(5, 3), float32]",
            "nn.dense(%x, %w)", "Tensor[(7, n, 5), float32]"},
        Row{"DenseIntoInt32", "%x: Tensor[(2, 3), int8], %w: Tensor[(5, 3), int8]",
            "nn.dense(%x, %w, out_dtype=\"int32\")", "Tensor[(2, 5), int32]"},
        Row{"DenseOfOtherDepth", "%x: Tensor[(2, 3), float32], %w: Tensor[(5, 4), float32]",
            "nn.dense(%x, %w)",
            "nn.dense: the operands have inner extents 3 and 4, which must be equal"},
        Row{"DenseOfOtherUnits", "%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32]",
            "nn.dense(%x, %w, units=6)",
            "nn.dense: units is 6 and the second operand has 5 columns"},
        Row{"DenseOfOtherTypes", "%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), int8]",
            "nn.dense(%x, %w)", "nn.dense: the operands have different element types"},
        Row{"DenseOfAScalar", "%x: float32, %w: Tensor[(5, 3), float32]", "nn.dense(%x, %w)",
            "nn.dense: the first operand has rank 0, which is too small"},
        Row{"DenseByAVector", "%x: Tensor[(2, 3), float32], %w: Tensor[(3), float32]",
            "nn.dense(%x, %w)", "nn.dense: the second operand has rank 1; it must have rank 2"},
        Row{"Matmul", "%x: Tensor[(2, 3), float32], %w: Tensor[(3, 5), float32]",
            "nn.matmul(%x, %w)", "Tensor[(2, 5), float32]"},
        Row{"MatmulTransposed", "%x: Tensor[(3, 2), float32], %w: Tensor[(5, 3), float32]",
            "nn.matmul(%x, %w, transpose_a=True, transpose_b=True)", "Tensor[(2, 5), float32]"},
        Row{"BatchMatmul", "%x: Tensor[(7, 2, 3), float32], %w: Tensor[(7, 3, 5), float32]",
            "nn.batch_matmul(%x, %w)", "Tensor[(7, 2, 5), float32]"},
        Row{"BatchMatmulTransposed",
            "%x: Tensor[(7, 3, 2), float32], %w: Tensor[(1, 5, 3), float32]",
            "nn.batch_matmul(%x, %w, transpose_a=True, transpose_b=True)",
            "Tensor[(7, 2, 5), float32]"},
        Row{"BatchMatmulOfOtherBatches",
            "%x: Tensor[(7, 2, 3), float32], %w: Tensor[(2, 3, 5), float32]",
            "nn.batch_matmul(%x, %w)",
            "nn.batch_matmul: the batches 7 and 2 must be equal or one of them 1"},
        Row{"BatchMatmulOfMatrices", kM, "nn.batch_matmul(%x, %x)",
            "nn.batch_matmul: both operands must have rank 3"},
        Row{"BatchMatmulOfOtherDepth",
            "%x: Tensor[(7, 2, 3), float32], %w: Tensor[(7, 4, 5), float32]",
            "nn.batch_matmul(%x, %w)",
            "nn.batch_matmul: the operands have inner extents 3 and 4, which must be equal"}),
    NameOf);

constexpr char kImage[] = "%x: Tensor[(1, 3, 8, 9), float32]";

INSTANTIATE_TEST_SUITE_P(
    Pool, TypeRelationTest,
    ::testing::Values(
        Row{"MaxPool", kImage, "nn.max_pool2d(%x, pool_size=[3, 2])",
            "Tensor[(1, 3, 6, 8), float32]"},
        Row{"StridesRoundDown", kImage, "nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2])",
            "Tensor[(1, 3, 4, 4), float32]"},
        Row{"CeilModeRoundsUp", kImage,
            "nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], ceil_mode=True)",
            "Tensor[(1, 3, 4, 5), float32]"},
        Row{"FourPaddings", kImage, "nn.avg_pool2d(%x, pool_size=[2, 2], padding=[0, 1, 2, 3])",
            "Tensor[(1, 3, 9, 12), float32]"},
        Row{"TwoPaddings", kImage, "nn.avg_pool2d(%x, pool_size=[2, 2], padding=[1, 0])",
            "Tensor[(1, 3, 9, 8), float32]"},
        Row{"Dilation", kImage, "nn.max_pool2d(%x, pool_size=[2, 2], dilation=[3, 1])",
            "Tensor[(1, 3, 5, 8), float32]"},
        Row{"NHWC", kImage, "nn.max_pool2d(%x, pool_size=[2, 2], layout=\"NHWC\")",
            "Tensor[(1, 2, 7, 9), float32]"},
        Row{"WindowBeyondTheImage", kImage, "nn.max_pool2d(%x, pool_size=[9, 2])",
            "nn.max_pool2d: the window spans 9 elements of height and the padded data has 8"},
        Row{"RankOfTheData", kM, "nn.max_pool2d(%x, pool_size=[1, 1])",
            "nn.max_pool2d: the data must have rank 4"},
        Row{"Layout", kImage, "nn.avg_pool2d(%x, pool_size=[1, 1], layout=\"NCHW16c\")",
            "nn.avg_pool2d: layout is \"NCHW16c\"; it must be an order of NCHW"},
        Row{"ThreeSizes", kImage, "nn.max_pool2d(%x, pool_size=[1, 1, 1])",
            "nn.max_pool2d: pool_size has 3 values; it takes two, height and width"},
        Row{"OutLayout", kImage, "nn.max_pool2d(%x, pool_size=[1, 1], out_layout=\"NHWC\")",
            "nn.max_pool2d: out_layout must be empty or equal to layout"},
        Row{"UnknownHeight", "%x: Tensor[(1, 3, ?, 9), float32]",
            "nn.max_pool2d(%x, pool_size=[2, 2])", "Tensor[(1, 3, ?, 8), float32]"},
        Row{"Global", kImage, "nn.global_avg_pool2d(%x)", "Tensor[(1, 3, 1, 1), float32]"},
        Row{"GlobalNHWC", kImage, "nn.global_max_pool2d(%x, layout=\"NHWC\")",
            "Tensor[(1, 1, 1, 9), float32]"},
        Row{"GlobalOfAMatrix", kM, "nn.global_avg_pool2d(%x)",
            "nn.global_avg_pool2d: the data must have rank 4"},
        Row{"GlobalOutLayout", kImage, "nn.global_avg_pool2d(%x, out_layout=\"NHWC\")",
            "nn.global_avg_pool2d: out_layout must be empty or equal to layout"},
        Row{"UpSampling", kImage, "nn.upsampling(%x, scale_h=2f, scale_w=1.5f)",
            "Tensor[(1, 3, 16, 14), float32]"},
        Row{"UpSamplingNHWC", "%x: Tensor[(1, ?, 8, 3), float32]",
            "nn.upsampling(%x, scale_h=2f, scale_w=2f, layout=\"NHWC\")",
            "Tensor[(1, ?, 16, 3), float32]"},
        Row{"UpSamplingOfAMatrix", kM, "nn.upsampling(%x, scale_h=2f, scale_w=2f)",
            "nn.upsampling: the data must have rank 4"},
        Row{"UpSamplingByNothing", kImage, "nn.upsampling(%x, scale_h=0f, scale_w=2f)",
            "nn.upsampling: scale_h and scale_w must be greater than zero"},
        Row{"UpSamplingToNothing", kImage, "nn.upsampling(%x, scale_h=0.01f, scale_w=2f)",
            "nn.upsampling: no element of the image would remain"},
        Row{"UpSamplingBeyondMemory", kImage, "nn.upsampling(%x, scale_h=1000000000f, scale_w=2f)",
            "nn.upsampling: the result is too large"}),
    NameOf);

constexpr char kNorm[] = "%x: Tensor[(1, 3, 8), float32], %v: Tensor[(8), float32]";

INSTANTIATE_TEST_SUITE_P(
    Norm, TypeRelationTest,
    ::testing::Values(
        Row{"BatchNorm", "%x: Tensor[(1, 3, 8), float32], %v: Tensor[(3), float32]",
            "nn.batch_norm(%x, %v, %v, %v, %v)",
            "(Tensor[(1, 3, 8), float32], Tensor[(3), float32], Tensor[(3), float32])"},
        Row{"BatchNormAxis", kNorm, "nn.batch_norm(%x, %v, %v, %v, %v, axis=-1).1",
            "Tensor[(8), float32]"},
        Row{"BatchNormOfAWrongLength", kNorm, "nn.batch_norm(%x, %v, %v, %v, %v)",
            "nn.batch_norm: the variable %v cannot have both types: the type Tensor[(8), float32] "
            "is not Tensor[(3), float32]"},
        Row{"LayerNorm", kNorm, "nn.layer_norm(%x, %v, %v)", "Tensor[(1, 3, 8), float32]"},
        Row{"LayerNormAxis", kNorm, "nn.layer_norm(%x, %v, %v, axis=1)",
            "nn.layer_norm: the variable %v cannot have both types: the type Tensor[(8), float32] "
            "is not Tensor[(3), float32]"},
        Row{"Softmax", kNorm, "nn.softmax(%x, axis=1)", "Tensor[(1, 3, 8), float32]"},
        Row{"LogSoftmaxTooFar", kNorm, "nn.log_softmax(%x, axis=-4)",
            "nn.log_softmax: axis is -4; a tensor of rank 3 has the axes -3 to 2"},
        Row{"SoftmaxOfAScalar", kS, "nn.softmax(%x)",
            "nn.softmax: axis is -1; a tensor of rank 0 has no axes"},
        Row{"BiasAdd", kNorm, "nn.bias_add(%x, %v, axis=2)", "Tensor[(1, 3, 8), float32]"},
        Row{"BiasAddOfAWrongLength", kNorm, "nn.bias_add(%x, %v)",
            "nn.bias_add: the variable %v cannot have both types: the type Tensor[(8), float32] is "
            "not Tensor[(3), float32]"},
        Row{"L2Normalize", kNorm, "nn.l2_normalize(%x, eps=0.001f, axis=[1, -1])",
            "Tensor[(1, 3, 8), float32]"},
        Row{"L2NormalizeOfOneAxisTwice", kNorm, "nn.l2_normalize(%x, eps=0.001f, axis=[2, -1])",
            "nn.l2_normalize: axis names the axis -1 twice"},
        Row{"L2NormalizeOfIntegers", "%x: Tensor[(2), int32]",
            "nn.l2_normalize(%x, eps=0.001f, axis=[0])",
            "nn.l2_normalize: the input must be of a floating type, not int32"},
        Row{"LRN", kNorm, "nn.lrn(%x)", "Tensor[(1, 3, 8), float32]"},
        Row{"LRNOfAnEvenWindow", kNorm, "nn.lrn(%x, size=4)",
            "nn.lrn: size is 4; a window has a middle, so it must be odd"},
        Row{"LRNTooFar", kV, "nn.lrn(%x)",
            "nn.lrn: axis is 1; a tensor of rank 1 has the axes -1 to 0"},
        Row{"Dropout", kM, "nn.dropout(%x)", "(Tensor[(2, 3), float32], Tensor[(2, 3), float32])"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Pad, TypeRelationTest,
    ::testing::Values(
        Row{"Constant", kM, "nn.pad(%x, 0f, pad_width=[[1, 2], [0, 3]])",
            "Tensor[(5, 6), float32]"},
        Row{"NegativeCrops", kM, "nn.pad(%x, 0f, pad_width=[[0, 0], [-1, -1]])",
            "Tensor[(2, 1), float32]"},
        Row{"CropOfMoreThanThereIs", kM, "nn.pad(%x, 0f, pad_width=[[0, 0], [-2, -2]])",
            "nn.pad: axis 1 is cropped by more than its extent 3"},
        Row{"TooFewPairs", kM, "nn.pad(%x, 0f, pad_width=[[1, 1]])",
            "nn.pad: pad_width has 1 pairs for an input of rank 2"},
        Row{"NoPair", kM, "nn.pad(%x, 0f, pad_width=[[1, 1], [1]])",
            "nn.pad: each entry of pad_width must be a pair (before, after)"},
        Row{"ValueOfAVector", kM, "nn.pad(%x, %x, pad_width=[[1, 1], [1, 1]])",
            "nn.pad: pad_value must have rank 0"},
        Row{"ReflectWithin", kM, "nn.pad(%x, 0f, pad_width=[[1, 1], [2, 2]], pad_mode=\"reflect\")",
            "Tensor[(4, 7), float32]"},
        Row{"ReflectBeyond", kM, "nn.pad(%x, 0f, pad_width=[[2, 0], [0, 0]], pad_mode=\"reflect\")",
            "nn.pad: axis 0 of extent 2 cannot be mirrored by 2 and 0"},
        Row{"UnknownExtent", "%x: Tensor[(?, 3), float32]",
            "nn.pad(%x, 0f, pad_width=[[1, 1], [1, 1]])", "Tensor[(?, 5), float32]"},
        Row{"Symmetric", kM, "nn.mirror_pad(%x, pad_width=[[2, 2], [3, 3]])",
            "Tensor[(6, 9), float32]"},
        Row{"MirrorReflect", kM, "nn.mirror_pad(%x, pad_width=[[2, 0], [0, 0]], mode=\"REFLECT\")",
            "nn.mirror_pad: axis 0 of extent 2 cannot be mirrored by 2 and 0"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Create, TypeRelationTest,
    ::testing::Values(
        Row{"Zeros", "", "zeros(shape=[2, 3], dtype=\"int8\")", "Tensor[(2, 3), int8]"},
        Row{"OnesOfRankZero", "", "ones(shape=[], dtype=\"float32\")", "float32"},
        Row{"ZerosWithoutAType", "", "zeros(shape=[2])", "zeros: dtype must be given"},
        Row{"ZerosWithoutAShape", "", "zeros(shape=None, dtype=\"int8\")",
            "zeros: shape must be given"},
        Row{"FullOfTheValuesType", kS, "full(%x, shape=[2])", "Tensor[(2), float32]"},
        Row{"FullOfAnotherType", kS, "full(%x, shape=[2], dtype=\"int8\")", "Tensor[(2), int8]"},
        Row{"FullOfAVector", kV, "full(%x, shape=[2])", "full: fill_value must have rank 0"},
        Row{"ArangeRoundsUp", "", "arange(start=0f, stop=5f, step=2f, dtype=\"int32\")",
            "Tensor[(3), int32]"},
        Row{"ArangeDown", "", "arange(start=5f, stop=0f, step=-1f, dtype=\"float32\")",
            "Tensor[(5), float32]"},
        Row{"ArangeByNothing", "", "arange(start=0f, stop=5f, step=0f, dtype=\"float32\")",
            "arange: the range 0 to 5 by 0 has no finite number of values"},
        Row{"ShapeOf", kX, "shape_of(%x, dtype=\"int64\")", "Tensor[(4), int64]"},
        Row{"NdarraySize", kX, "ndarray_size(%x)", "int32"}),
    NameOf);

// --- rules that relations share

TEST(BroadcastDimTest, OneGivesWayAndUnknownsAreTaken) {
  const ir::Dim n = ir::Dim::Symbol("n");
  EXPECT_EQ(BroadcastDim(1, 3), ir::Dim(3));
  EXPECT_EQ(BroadcastDim(3, 1), ir::Dim(3));
  EXPECT_EQ(BroadcastDim(n, 1), n);
  EXPECT_EQ(BroadcastDim(n, n), n);
  EXPECT_EQ(BroadcastDim(ir::Dim(), 3), ir::Dim(3));
  EXPECT_EQ(BroadcastDim(2, 3), std::nullopt);
  EXPECT_EQ(BroadcastDim(0, 1), ir::Dim(0));
  EXPECT_EQ(BroadcastDim(0, 3), std::nullopt);
}

TEST(ProductTest, IsUnknownWhenOneIsAndRefusedBeyond64Bits) {
  EXPECT_EQ(Product({}), ir::Dim(1));
  EXPECT_EQ(Product({2, 3}), ir::Dim(6));
  EXPECT_EQ(Product({ir::Dim::Symbol("n")}), ir::Dim::Symbol("n"));
  EXPECT_TRUE(Product({2, ir::Dim::Symbol("n")}).is_any());
  EXPECT_THAT(ErrorOf([] {
                Product({std::int64_t{1} << 32, std::int64_t{1} << 32});
              }).message(),
              ::testing::HasSubstr("does not fit 64 bits"));
}

}  // namespace
}  // namespace tenon::ops
