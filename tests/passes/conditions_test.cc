// Conditions and assumptions say for which values of its variables a typed expression is taken:
// types are inferred again for random numbers, and operators refuse where a condition fails.
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/passes/declared_limits.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::Type;

// `type` with numbers for its expressions; null where one of them has none.
Type Evaluated(const Type& type, const Dim::Values& values) {
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
    std::vector<Type> fields;
    for (const Type& field : tuple->fields) {
      fields.push_back(Evaluated(field, values));
      if (!fields.back()) return {};
    }
    return ir::TupleType(std::move(fields));
  }
  const auto& tensor = *type.As<ir::TensorTypeNode>();
  std::vector<Dim> shape;
  for (const Dim& dim : tensor.shape) {
    const std::optional<std::int64_t> extent = dim.Evaluate(values);
    if (!extent || *extent < 0) return {};
    shape.emplace_back(*extent);
  }
  return ir::TensorType(std::move(shape), tensor.dtype);
}

// The type that @main gives with numbers in its parameters, or the words in which it is refused.
struct Outcome {
  Type type;
  std::string refusal;
};
Outcome WithNumbers(const ir::FunctionNode& main, const Dim::Values& values) {
  const Expr whole = ir::Function::Make(main.params, main.body, Type(), main.attrs);
  try {
    const Expr numbers =
        ir::RewritePostOrder(whole, [&](const Expr& original, const Expr& rebuilt) -> Expr {
          const auto* var = original.As<ir::VarNode>();
          if (var == nullptr) return rebuilt;
          return ir::Var::Make(var->name, Evaluated(var->type_annotation, values));
        });
    const Expr typed = InferType(numbers);
    return {typed.As<ir::FunctionNode>()->body.checked_type(), ""};
  } catch (const Error& error) {
    return {Type(), error.message()};
  }
}

bool HasUnknown(const Type& type) {
  for (const Type& leaf : ir::Flatten(type)) {
    for (const Dim& dim : leaf.As<ir::TensorTypeNode>()->shape) {
      if (dim.is_any()) return true;
    }
  }
  return false;
}

// Small numbers, often the same one twice, and at times large ones.
class Numbers {
 public:
  std::int64_t Next() {
    const std::uint32_t kind = random_() % 16;
    if (kind == 0) return 1 + random_() % 20000;
    if (kind < 3) return 1 + random_() % 64;
    if (kind < 8) return last_;
    last_ = 1 + random_() % 16;
    return last_;
  }

 private:
  std::mt19937 random_{20240229};
  std::int64_t last_ = 1;
};

std::string Text(const Dim::Values& values) {
  std::string text;
  for (const auto& [name, value] : values) StrAppend(&text, name, "=", value, " ");
  return text;
}

struct ConditionsCase {
  const char* name;
  const char* params;
  const char* body;
  // Whether a value fails a condition, and one holds them all.
  bool may_fail = true;
  friend void PrintTo(const ConditionsCase& c, std::ostream* out) { *out << c.name; }
};

class ConditionsTest : public ::testing::TestWithParam<ConditionsCase> {};

TEST_P(ConditionsTest, NumbersAreTakenWhereTheyHold) {
  const ir::Module module =
      InferType(Parse(StrCat("def @main(", GetParam().params, ") { ", GetParam().body, " }")));
  const ir::FunctionNode& main = module.Main();
  const Type promised = main.body.checked_type();
  ASSERT_FALSE(HasUnknown(promised)) << ir::ToString(promised);
  const std::vector<ExtentCondition> conditions = ConditionsOf(main.body);
  const auto assumed = AssumedEqual(main.body);
  std::string all;
  for (const ExtentCondition& condition : conditions) StrAppend(&all, condition.ToString(), "; ");
  SCOPED_TRACE(StrCat(ir::ToString(promised), " where ", all));
  std::set<std::string> names;
  for (const Expr& param : main.params) names.merge(ir::SymbolsOf(param.checked_type()));
  Numbers numbers;
  int held = 0, failed = 0;
  for (int i = 0; i < 4000; ++i) {
    Dim::Values values;
    for (const std::string& name : names) values[name] = numbers.Next();
    bool fails = false, differs = false;
    for (const ExtentCondition& condition : conditions) fails = fails || !condition.Holds(values);
    for (const auto& [a, b] : assumed)
      differs = differs || a.Evaluate(values) != b.Evaluate(values);
    if (differs && !fails) continue;
    ++(fails ? failed : held);
    const Outcome outcome = WithNumbers(main, values);
    const bool is_promised = outcome.type && ir::Equal(outcome.type, Evaluated(promised, values));
    ASSERT_EQ(is_promised, !fails)
        << Text(values) << ": " << (outcome.type ? ir::ToString(outcome.type) : outcome.refusal);
  }
  EXPECT_GT(held, 0);
  EXPECT_EQ(failed > 0, GetParam().may_fail);
}

std::string NameOf(const ::testing::TestParamInfo<ConditionsCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Elementwise, ConditionsTest,
    ::testing::Values(
        ConditionsCase{"Unary", "%x: Tensor[(n, m), float32]", "nn.relu(%x)", false},
        ConditionsCase{"SameExtents", "%x: Tensor[(n, 3), float32], %y: Tensor[(n, 1), float32]",
                       "add(%x, %y)", false},
        ConditionsCase{"BroadcastOfVariables",
                       "%x: Tensor[(n, m), float32], %y: Tensor[(k), float32]", "add(%x, %y)",
                       false},
        ConditionsCase{"Where",
                       "%c: Tensor[(n), bool], %x: Tensor[(m, 4), float32], %y: Tensor[(4), "
                       "float32]",
                       "where(%c, %x, %y)", false},
        ConditionsCase{"BroadcastTo", "%x: Tensor[(n, 1, 4), float32]",
                       "broadcast_to(%x, shape=[3, 2, 4])", false},
        ConditionsCase{"BroadcastToLike",
                       "%x: Tensor[(n, 1), float32], %y: Tensor[(2, n, m), float32]",
                       "broadcast_to_like(%x, %y)", false},
        ConditionsCase{"BroadcastToLikeOfTwoExtents",
                       "%x: Tensor[(n, 1), float32], %y: Tensor[(m, k), float32]",
                       "broadcast_to_like(%x, %y)"},
        ConditionsCase{"BroadcastToExtents",
                       "%x: Tensor[(1, 4), float32], %y: Tensor[(n, 2), float32]",
                       "broadcast_to_extents(%x, (%y,), shape=\"(x0_0 - 3, 4)\")"},
        ConditionsCase{"PRelu", "%x: Tensor[(2, n), float32], %a: Tensor[(5), float32]",
                       "nn.prelu(%x, %a)"},
        ConditionsCase{"BiasAdd", "%x: Tensor[(n, c, h), float32], %b: Tensor[(8), float32]",
                       "nn.bias_add(%x, %b)"},
        ConditionsCase{"FixedPointPerAxis", "%x: Tensor[(n, m), int32], %s: Tensor[(k), int32]",
                       "fixed_point_multiply_per_axis(%x, %s, %s, %s, axes=[1])"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Reductions, ConditionsTest,
    ::testing::Values(
        ConditionsCase{"Sum", "%x: Tensor[(n, m), float32]", "sum(%x, axis=[1])", false},
        ConditionsCase{"Argmax", "%x: Tensor[(n, m), float32]", "argmax(%x, axis=[1])", false},
        ConditionsCase{"Variance", "%x: Tensor[(n, m), float32], %u: Tensor[(n, 1), float32]",
                       "variance(%x, %u, axis=[1])", false},
        ConditionsCase{"CollapseSumTo", "%x: Tensor[(n, m), float32]",
                       "collapse_sum_to(%x, shape=[3, 1])"},
        ConditionsCase{"CollapseSumLike",
                       "%x: Tensor[(n, 4), float32], %y: Tensor[(m, 1), float32]",
                       "collapse_sum_like(%x, %y)"},
        ConditionsCase{"Cumsum", "%x: Tensor[(n, m), float32]", "cumsum(%x)", false},
        ConditionsCase{"TopK", "%x: Tensor[(n, m), float32]", "topk(%x, k=4, ret_type=\"both\")"},
        ConditionsCase{"Argsort", "%x: Tensor[(n, m), float32]", "argsort(%x)", false},
        ConditionsCase{"SearchSorted", "%s: Tensor[(n, 5), float32], %v: Tensor[(m, 6), float32]",
                       "searchsorted(%s, %v)"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConditionsTest,
    ::testing::Values(
        ConditionsCase{"Reshape", "%x: Tensor[(n, 6), float32]", "reshape(%x, newshape=[3, 4])"},
        ConditionsCase{"ReshapeToTheRest", "%x: Tensor[(n, m, 6), float32]",
                       "reshape(%x, newshape=[0, -1, 3])", false},
        ConditionsCase{"ReshapeOfNoElements", "%x: Tensor[(n, m), float32]",
                       "reshape(nn.pad(%x, 0f, pad_width=[[-1, 0], [0, 0]]), newshape=[-1, 0])",
                       false},
        ConditionsCase{"ReshapeThatSplits", "%x: Tensor[(n, m), float32]",
                       "reshape(%x, newshape=[-4, 2, 3, 0])"},
        ConditionsCase{"ReshapeThatSplitsAndInfers", "%x: Tensor[(6*n, m), float32]",
                       "reshape(%x, newshape=[-4, 2, 3, -1])"},
        ConditionsCase{"ReverseReshape", "%x: Tensor[(n, 6, m), float32]",
                       "contrib_reverse_reshape(%x, newshape=[4, 3, 0])"},
        ConditionsCase{"ReshapeLike", "%x: Tensor[(n, m), float32], %y: Tensor[(k, 2), float32]",
                       "reshape_like(%x, %y)"},
        ConditionsCase{"ReshapeToExtents",
                       "%x: Tensor[(n, m), float32], %y: Tensor[(k, 2), float32]",
                       "reshape_to_extents(%x, (%y,), shape=\"(x0_0, x0_1)\")"},
        ConditionsCase{"ReshapeToFactors",
                       "%x: Tensor[(n*m, 4), float32], %y: Tensor[(m, n), float32]",
                       "reshape_to_extents(%x, (%y,), shape=\"(x0_1, x0_0, 4)\")", false},
        ConditionsCase{"BatchFlatten", "%x: Tensor[(n, m, 3), float32]", "nn.batch_flatten(%x)",
                       false},
        ConditionsCase{"Squeeze", "%x: Tensor[(n, m, 3), float32]", "squeeze(%x, axis=[1])"},
        ConditionsCase{"Concatenate",
                       "%x: Tensor[(n, 3), float32], %y: Tensor[(m, k), float32], %z: Tensor[(2, "
                       "l), float32]",
                       "concatenate((%x, %y, %z), axis=0)"},
        ConditionsCase{"Stack", "%x: Tensor[(n, 3), float32]", "stack((%x, %x))", false},
        ConditionsCase{"SplitByCuts", "%x: Tensor[(n, 3), float32]",
                       "split(%x, indices_or_sections=[2, 5], axis=0)"},
        ConditionsCase{"SplitIntoParts", "%x: Tensor[(4*n, 3), float32]",
                       "split(%x, indices_or_sections=2, axis=0)", false},
        ConditionsCase{"TileAndRepeat", "%x: Tensor[(n, m), float32]",
                       "repeat(tile(%x, reps=[2, 1, 3]), repeats=2, axis=1)", false},
        ConditionsCase{"Meshgrid", "%x: Tensor[(n), float32], %y: Tensor[(m), float32]",
                       "meshgrid((%x, %y))", false},
        ConditionsCase{"Dilate", "%x: Tensor[(n, m), float32]", "nn.dilate(%x, strides=[2, 1])",
                       false},
        ConditionsCase{"DilateOfNoElements", "%x: Tensor[(n, m), float32]",
                       "nn.dilate(strided_slice(%x, begin=[3], end=[2147483647]), strides=[2, "
                       "1])"},
        ConditionsCase{"LayoutOfBlocks", "%x: Tensor[(n, c, h, w), float32]",
                       "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW4c\")", false},
        ConditionsCase{"LayoutFromBlocks", "%x: Tensor[(n, c, h, w, b), float32]",
                       "layout_transform(%x, src_layout=\"NCHW4c\", dst_layout=\"NHWC\")"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Regions, ConditionsTest,
    ::testing::Values(
        ConditionsCase{"SliceFromBothEnds", "%x: Tensor[(n, m), float32]",
                       "strided_slice(%x, begin=[2, -5], end=[-1, 9223372036854775807])", false},
        ConditionsCase{"SliceByStrides", "%x: Tensor[(n, m), float32]",
                       "strided_slice(%x, begin=[-2, 7], end=[-9, -2147483647], strides=[-3, -2])",
                       false},
        ConditionsCase{"SliceForwards", "%x: Tensor[(n, m), float32]",
                       "strided_slice(%x, begin=[1, -7], end=[9, -2], strides=[3, 2])", false},
        ConditionsCase{"SliceBySize", "%x: Tensor[(n, m, k), float32]",
                       "strided_slice(%x, begin=[2, -4, 1], end=[3, -1, -2], "
                       "slice_mode=\"size\")",
                       false},
        ConditionsCase{"SliceLike", "%x: Tensor[(n, m), float32], %y: Tensor[(k, 3), float32]",
                       "slice_like(%x, %y)"},
        ConditionsCase{"Crop", "%x: Tensor[(n, m), float32]",
                       "nn.pad(%x, 0f, pad_width=[[-3, 1], [2, 0]])"},
        ConditionsCase{"PadByReflection", "%x: Tensor[(n, m), float32]",
                       "nn.pad(%x, 0f, pad_width=[[2, 1], [-1, 0]], pad_mode=\"reflect\")"},
        ConditionsCase{"PadByTheEdge", "%x: Tensor[(n, m), float32]",
                       "nn.pad(strided_slice(%x, begin=[3], end=[9]), 0f, pad_width=[[2, 1], [0, "
                       "1]], pad_mode=\"edge\")"},
        ConditionsCase{"MirrorPad", "%x: Tensor[(n, m), float32]",
                       "nn.mirror_pad(%x, pad_width=[[2, 1], [0, 3]])"},
        ConditionsCase{"StridedSet",
                       "%x: Tensor[(n, m), float32], %v: Tensor[(k, 3), float32], %i: "
                       "Tensor[(l), int64]",
                       "strided_set(%x, %v, %i, %i, %i)"},
        ConditionsCase{"FifoBuffer", "%x: Tensor[(n, m), float32], %b: Tensor[(k, 7), float32]",
                       "nn.fifo_buffer(%x, %b, axis=1)"},
        ConditionsCase{"MatrixSetDiag",
                       "%x: Tensor[(n, 3, 5), float32], %d: Tensor[(m, k), float32]",
                       "matrix_set_diag(%x, %d)"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Indices, ConditionsTest,
    ::testing::Values(
        ConditionsCase{"Take", "%x: Tensor[(n, m), float32], %i: Tensor[(k), int64]",
                       "take(%x, %i, axis=0)", false},
        ConditionsCase{"StackOfTwoExtents",
                       "%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]",
                       "stack((%x, %y), axis=1)"},
        ConditionsCase{"TakeInBatches", "%x: Tensor[(n, m), float32], %i: Tensor[(k, 3), int64]",
                       "take(%x, %i, axis=1, batch_dims=1)"},
        ConditionsCase{"TakeOfASlice", "%x: Tensor[(n, m), float32], %i: Tensor[(k), int64]",
                       "take(strided_slice(%x, begin=[3], end=[9]), %i, axis=0)"},
        ConditionsCase{"TakeOfNothing", "%x: Tensor[(n, m), float32], %i: Tensor[(k), int64]",
                       "take(strided_slice(%x, begin=[3], end=[9]), "
                       "     strided_slice(%i, begin=[4], end=[9]), axis=0)"},
        ConditionsCase{"Gather", "%x: Tensor[(n, m), float32], %i: Tensor[(k, l), int64]",
                       "gather(%x, %i, axis=1)"},
        ConditionsCase{"GatherNd", "%x: Tensor[(n, m, 4), float32], %i: Tensor[(1, k, 3), int64]",
                       "gather_nd(%x, %i, batch_dims=1)"},
        ConditionsCase{"AdvIndex",
                       "%x: Tensor[(n, m, 4), float32], %i: Tensor[(k, 1), int64], %j: Tensor[(l), "
                       "int64]",
                       "adv_index((%x, %i, %j))", false},
        ConditionsCase{"ReverseSequence", "%x: Tensor[(n, m), float32], %l: Tensor[(k), int32]",
                       "reverse_sequence(%x, %l)"},
        ConditionsCase{"SequenceMask", "%x: Tensor[(n, m), float32], %l: Tensor[(k), int32]",
                       "sequence_mask(%x, %l)"},
        ConditionsCase{"ScatterElements",
                       "%x: Tensor[(n, m), float32], %i: Tensor[(k, l), int64], %u: Tensor[(k, 4), "
                       "float32]",
                       "scatter_elements(%x, %i, %u)"},
        ConditionsCase{"ScatterNd",
                       "%x: Tensor[(n, m), float32], %i: Tensor[(1, k), int64], %u: Tensor[(l, 3), "
                       "float32]",
                       "scatter_nd(%x, %i, %u)"},
        ConditionsCase{"OneHot", "%i: Tensor[(n, m), int64]", "one_hot(%i, 1f, 0f, depth=4)",
                       false}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Windows, ConditionsTest,
    ::testing::Values(
        ConditionsCase{"Conv2D",
                       "%x: Tensor[(n, c, h, w), float32], %w: Tensor[(4, 3, 5, 3), float32]",
                       "nn.conv2d(%x, %w, strides=[2, 1], padding=[1, 0], dilation=[1, 2])"},
        ConditionsCase{"Conv2DThatCannotFail",
                       "%x: Tensor[(n, 3, h, w), float32], %w: Tensor[(4, 3, 3, 3), float32]",
                       "nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1])", false},
        ConditionsCase{"Conv2DOfGroups",
                       "%x: Tensor[(1, c, h, 8), float32], %w: Tensor[(o, i, 1, 3), float32]",
                       "nn.conv2d(%x, %w, groups=2)"},
        ConditionsCase{"Conv2DWithAttributes",
                       "%x: Tensor[(1, c, 8, 8), float32], %w: Tensor[(o, 3, 3, 2), float32]",
                       "nn.conv2d(%x, %w, channels=4, kernel_size=[3, 2])"},
        ConditionsCase{"Conv2DOfBlocks",
                       "%x: Tensor[(n, c, h, 8, b), float32], %w: Tensor[(2, 2, 3, 3, 4, 4), "
                       "float32]",
                       "nn.conv2d(%x, %w, data_layout=\"NCHW4c\", kernel_layout=\"OIHW4i4o\")"},
        ConditionsCase{"Conv2DOfAKernelSize",
                       "%x: Tensor[(1, c, 8, 8), float32], %w: Tensor[(4, 3, k, 2), float32]",
                       "nn.conv2d(%x, %w, kernel_size=[3, 2])"},
        ConditionsCase{"Conv1D", "%x: Tensor[(n, 3, w), float32], %w: Tensor[(4, 3, 7), float32]",
                       "nn.conv1d(%x, %w, padding=[1, 2], strides=[3])"},
        ConditionsCase{"Conv3D",
                       "%x: Tensor[(n, 3, d, h, w), float32], %w: Tensor[(4, 3, 3, 1, 2), float32]",
                       "nn.conv3d(%x, %w)"},
        ConditionsCase{"Conv2DTranspose",
                       "%x: Tensor[(n, c, h, w), float32], %w: Tensor[(3, 4, 2, 3), float32]",
                       "nn.conv2d_transpose(%x, %w, strides=[2, 1], padding=[3, 2])"},
        ConditionsCase{"Conv1DTransposeOfGroups",
                       "%x: Tensor[(n, c, w), float32], %w: Tensor[(4, o, 3), float32]",
                       "nn.conv1d_transpose(%x, %w, groups=2, padding=[2, 3])"},
        ConditionsCase{"Conv1DTransposeOfNoElements",
                       "%x: Tensor[(n, 4, w), float32], %w: Tensor[(4, 4, 3), float32]",
                       "nn.conv1d_transpose(strided_slice(%x, begin=[0, 0, 2], end=[99, 99, 99]), "
                       "%w, strides=[2])"},
        ConditionsCase{"MaxPool2D", "%x: Tensor[(n, c, h, w), float32]",
                       "nn.max_pool2d(%x, pool_size=[3, 2], strides=[2, 3], padding=[1, 0])"},
        ConditionsCase{"AvgPool2DRoundedUp", "%x: Tensor[(n, c, h, w), float32]",
                       "nn.avg_pool2d(%x, pool_size=[4, 2], strides=[2, 3], ceil_mode=True)"},
        ConditionsCase{"MaxPool1D", "%x: Tensor[(n, c, w), float32]",
                       "nn.max_pool1d(%x, pool_size=[2], dilation=[3], ceil_mode=True)"},
        ConditionsCase{"MaxPoolOfBlocks", "%x: Tensor[(n, c, h, w, b), float32]",
                       "nn.max_pool2d(%x, pool_size=[2, 2], layout=\"NCHW8c\")"},
        ConditionsCase{"AdaptivePoolOfASlice", "%x: Tensor[(n, c, h, w), float32]",
                       "nn.adaptive_avg_pool2d(strided_slice(%x, begin=[0, 0, 3], end=[9, 9, 9]), "
                       "output_size=[2, 2])"},
        ConditionsCase{"GlobalPool", "%x: Tensor[(n, c, h, w), float32]",
                       "nn.global_avg_pool2d(%x)", false},
        ConditionsCase{"Conv3DTranspose",
                       "%x: Tensor[(n, 3, d, h, w), float32], %w: Tensor[(3, 2, 2, 1, 3), float32]",
                       "nn.conv3d_transpose(%x, %w, padding=[1, 0, 2], strides=[1, 2, 3])"},
        ConditionsCase{"MaxPool3D", "%x: Tensor[(n, c, d, h, w), float32]",
                       "nn.max_pool3d(%x, pool_size=[1, 2, 3])"},
        ConditionsCase{"Network",
                       "%x: Tensor[(n, 3, h, w), float32], %k: Tensor[(4, 3, 3, 3), float32], %w: "
                       "Tensor[(10, 16), float32]",
                       "nn.dense(nn.batch_flatten(nn.max_pool2d(nn.relu(nn.conv2d(%x, %k)), "
                       "pool_size=[2, 2], strides=[2, 2])), %w, units=10)"},
        ConditionsCase{"DownAndUp",
                       "%x: Tensor[(n, 4, h, w), float32], %k: Tensor[(4, 4, 2, 2), float32]",
                       "concatenate((nn.conv2d_transpose(nn.conv2d(%x, %k, strides=[2, 2]), %k, "
                       "strides=[2, 2]), %x), axis=1)"},
        ConditionsCase{"UpSampling", "%x: Tensor[(n, c, h, w), float32]",
                       "nn.upsampling(%x, scale_h=2f, scale_w=3f)", false},
        ConditionsCase{"ResizeByScales", "%x: Tensor[(n, c, h, w), float32]",
                       "image.resize2d(%x, scales=[0.75, 1.5])", false},
        ConditionsCase{"Resize1DByAFineScale", "%x: Tensor[(n, c, w), float32]",
                       "image.resize1d(%x, scales=[1.2345678806304932])", false},
        // 5 times 2.6 is 13 as a float32, though this scale is a little less than 2.6.
        ConditionsCase{"Resize1DByARoundedScale", "%x: Tensor[(n, c, w), float32]",
                       "image.resize1d(%x, scales=[2.5999999046325684])", false},
        ConditionsCase{"Resize1DBySmallScales", "%x: Tensor[(n, c, h, w), float32]",
                       "image.resize2d(%x, scales=[0.024390242993831635, 0.10000000149011612])",
                       false},
        ConditionsCase{"ResizeToExtents",
                       "%x: Tensor[(n, c, h, w), float32], %y: Tensor[(m, k), float32]",
                       "image.resize_to_extents(%x, (%x, %y), shape=\"(x0_0, x0_1, x1_0, 2*x1_1 - "
                       "3)\")"},
        ConditionsCase{"ResizeOfASlice", "%x: Tensor[(n, c, h, w), float32]",
                       "image.resize2d(strided_slice(%x, begin=[0, 0, 3], end=[9, 9, 9]), size=[4, "
                       "5])"},
        ConditionsCase{"GridSample",
                       "%x: Tensor[(n, 3, h, w), float32], %g: Tensor[(m, k, 4, l), float32]",
                       "image.grid_sample(%x, %g)"},
        ConditionsCase{"CropAndResize",
                       "%x: Tensor[(n, 3, h, w), float32], %b: Tensor[(m, k), float32], %i: "
                       "Tensor[(l), int32]",
                       "image.crop_and_resize(%x, %b, %i, crop_size=[3, 5])"},
        ConditionsCase{"AffineGrid", "%x: Tensor[(n, m, k), float32]",
                       "image.affine_grid(%x, target_shape=[4, 5])"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Products, ConditionsTest,
    ::testing::Values(
        ConditionsCase{"Dense", "%x: Tensor[(n, m), float32], %w: Tensor[(k, l), float32]",
                       "nn.dense(%x, %w, units=None)"},
        ConditionsCase{"DenseOfUnits", "%x: Tensor[(n, m), float32], %w: Tensor[(k, 6), float32]",
                       "nn.dense(%x, %w, units=4)"},
        ConditionsCase{"Matmul", "%x: Tensor[(n, m), float32], %w: Tensor[(k, l), float32]",
                       "nn.matmul(%x, %w, units=None)"},
        ConditionsCase{"BatchMatmul",
                       "%x: Tensor[(b, n, m), float32], %y: Tensor[(c, k, l), float32]",
                       "nn.batch_matmul(%x, %y, transpose_b=True)"},
        ConditionsCase{"DensePack", "%x: Tensor[(n, m), float32], %w: Tensor[(k, 4, b), float32]",
                       "nn.contrib_dense_pack(%x, %w, units=None, weight_layout=\"NC8n\")"},
        ConditionsCase{"Determinant", "%x: Tensor[(n, m, k), float32]", "matrix_determinant(%x)"},
        ConditionsCase{"EinsumOfASummedLabel",
                       "%x: Tensor[(n, m), float32], %y: Tensor[(5, k), float32]",
                       "einsum((%x, %y), equation=\"ij,jk->ik\")", false},
        ConditionsCase{"Lstm",
                       "%g: Tensor[(s, b, k), float32], %r: Tensor[(r, 2), float32], %b: "
                       "Tensor[(8), float32], %l: Tensor[(4), int64], %h: Tensor[(b, 2), float32]",
                       "nn.lstm(%g, %r, %b, %l, %h, %h)"},
        ConditionsCase{"GroupNorm", "%x: Tensor[(n, c, w), float32], %g: Tensor[(c), float32]",
                       "nn.group_norm(%x, %g, %g, num_groups=3)"},
        ConditionsCase{"LayerNorm", "%x: Tensor[(n, m), float32], %g: Tensor[(6), float32]",
                       "nn.layer_norm(%x, %g, %g)"},
        ConditionsCase{"BatchNorm", "%x: Tensor[(n, c, w), float32], %g: Tensor[(6), float32]",
                       "nn.batch_norm(%x, %g, %g, %g, %g)"},
        ConditionsCase{"NllLoss",
                       "%x: Tensor[(n, c, w), float32], %t: Tensor[(m, k), int32], %w: Tensor[(l), "
                       "float32]",
                       "nn.nll_loss(%x, %t, %w, reduction=\"none\")"},
        ConditionsCase{"CrossEntropy", "%x: Tensor[(n, c), float32], %t: Tensor[(m, 4), float32]",
                       "nn.cross_entropy(%x, %t)"},
        ConditionsCase{"Dft", "%x: Tensor[(n, m), float32], %y: Tensor[(k, l), float32]",
                       "dft(%x, %y)"},
        ConditionsCase{"QuantizeOfChannels",
                       "%x: Tensor[(n, c), float32], %s: Tensor[(k), float32]",
                       "qnn.quantize(%x, %s, 3, axis=1, out_dtype=\"int8\")"},
        ConditionsCase{"QnnConv2D",
                       "%x: Tensor[(n, c, h, w), uint8], %w: Tensor[(4, 3, 3, 3), int8], %s: "
                       "Tensor[(k), float32]",
                       "qnn.conv2d(%x, %w, 3, 0, 0.5f, %s)"},
        ConditionsCase{"QnnBatchMatmul",
                       "%x: Tensor[(b, n, m), uint8], %y: Tensor[(3, k, l), uint8]",
                       "qnn.batch_matmul(%x, %y, 3, 0, 0.5f, 0.25f, transpose_b=True)"},
        ConditionsCase{"QnnConcatenate", "%a: Tensor[(n, m), int8], %b: Tensor[(k, l), int8]",
                       "qnn.concatenate((%a, %b), (0.5f, 0.25f), (1, 2), 1f, 3, axis=1)"},
        ConditionsCase{"QnnAvgPool", "%x: Tensor[(n, 4, h, w), uint8]",
                       "qnn.avg_pool2d(%x, 0.5f, 3, 0.5f, 3, pool_size=[3, 2])"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Sparse, ConditionsTest,
    ::testing::Values(
        ConditionsCase{"SparseDense",
                       "%x: Tensor[(n, m), float32], %d: Tensor[(k, 2, 3), float32], %i: "
                       "Tensor[(l), int32], %p: Tensor[(r), int32]",
                       "nn.sparse_dense(%x, %d, %i, %p)"},
        ConditionsCase{"SparseAdd",
                       "%x: Tensor[(n, m), float32], %d: Tensor[(k), float32], %i: "
                       "Tensor[(k), int32], %p: Tensor[(r), int32]",
                       "nn.sparse_add(%x, %d, %i, %p)"},
        ConditionsCase{"SparseConv2D",
                       "%x: Tensor[(n, c, h, w), float32], %d: Tensor[(k, 2, 6), float32], %i: "
                       "Tensor[(k), int32], %p: Tensor[(5), int32]",
                       "nn.sparse_conv2d(%x, %d, %i, %p, layout=\"NCHW\", kernel_size=[3, 3])"},
        ConditionsCase{"SparseToDense", "%i: Tensor[(n, 2), int32], %v: Tensor[(m), float32]",
                       "sparse_to_dense(%i, %v, 0f, output_shape=[3, 4])"},
        ConditionsCase{"SparseTranspose",
                       "%d: Tensor[(k), float32], %i: Tensor[(l), int32], %p: Tensor[(r), int32]",
                       "nn.sparse_transpose(%d, %i, %p)"},
        ConditionsCase{"SparseReshape",
                       "%i: Tensor[(n, m), int32], %p: Tensor[(k), int32], %q: Tensor[(l), int32]",
                       "sparse_reshape(%i, %p, %q)"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Boxes, ConditionsTest,
    ::testing::Values(
        ConditionsCase{
            "MultiBoxTransformLoc",
            "%p: Tensor[(n, 4, m), float32], %l: Tensor[(n, 4*k), float32], %a: Tensor[(b, "
            "m, 4), float32]",
            "vision.multibox_transform_loc(%p, %l, %a)"},
        ConditionsCase{"RegularNms",
                       "%b: Tensor[(n, m, 4), float32], %s: Tensor[(n, k, c), float32]",
                       "vision.regular_non_max_suppression(%b, %s, max_detections_per_class=10, "
                       "max_detections=20, num_classes=2, iou_threshold=0.5, score_threshold=0.1)"},
        ConditionsCase{"Proposal",
                       "%s: Tensor[(n, 8, h, w), float32], %d: Tensor[(n, c, h, k), float32], %i: "
                       "Tensor[(n, 3), float32]",
                       "vision.proposal(%s, %d, %i, scales=[1, 2], ratios=[1, 2])"},
        ConditionsCase{"RoiAlign", "%x: Tensor[(n, c, h, w), float32], %r: Tensor[(m, k), float32]",
                       "vision.roi_align(%x, %r, pooled_size=[2, 3], spatial_scale=1f)"},
        ConditionsCase{"RoiPool", "%x: Tensor[(n, c, h, w), float32], %r: Tensor[(m, k), float32]",
                       "vision.roi_pool(%x, %r, pooled_size=[2, 3], spatial_scale=1f)"},
        ConditionsCase{"AllClassNms",
                       "%b: Tensor[(n, m, 4), float32], %s: Tensor[(k, c, l), float32], %o: "
                       "Tensor[(o), int64]",
                       "vision.all_class_non_max_suppression(%b, %s, %o, 0.5f, 0.5f)"},
        ConditionsCase{"Nms",
                       "%x: Tensor[(n, m, 6), float32], %c: Tensor[(k), int32], %i: Tensor[(n, l), "
                       "int32]",
                       "vision.non_max_suppression(%x, %c, %i, 5, 0.5f)"},
        ConditionsCase{"SpaceToBatch", "%x: Tensor[(n, h, 6, 3), float32]",
                       "nn.space_to_batch_nd(%x, block_shape=[4, 3], paddings=[[1, 2], [0, 0]])"},
        ConditionsCase{"BatchToSpace", "%x: Tensor[(n, h, w), float32]",
                       "nn.batch_to_space_nd(%x, block_shape=[2, 3], crops=[[1, 4], [0, 2]])"},
        ConditionsCase{"SpaceToDepth", "%x: Tensor[(n, c, h, w), float32]",
                       "nn.space_to_depth(%x, block_size=2)"},
        ConditionsCase{"DepthToSpace", "%x: Tensor[(n, c, h, w), float32]",
                       "nn.depth_to_space(%x, block_size=2, mode=\"CRD\")"},
        ConditionsCase{"MultiBoxPrior", "%x: Tensor[(n, 3, h, w), float32]",
                       "vision.multibox_prior(%x, sizes=[0.5, 0.25], ratios=[1, 2, 0.5])", false}),
    NameOf);

std::vector<std::string> Conditions(const std::string& text) {
  std::vector<std::string> all;
  for (const ExtentCondition& condition : ConditionsOf(InferType(Parse(text)).Main().body))
    all.push_back(condition.ToString());
  return all;
}

TEST(ConditionsOfTest, AreThoseOfAllCallsOnce) {
  EXPECT_THAT(Conditions("def @main(%x: Tensor[(n, 3, h), float32], %y: Tensor[(n, c, h), "
                         "float32], %w: Tensor[(4, 3, 5), float32]) {"
                         "  (nn.conv1d(%x, %w), nn.conv1d(%y, %w), nn.conv1d(%x, %w)) }"),
              ::testing::ElementsAre("5 <= h, for nn.conv1d", "3 == c, for nn.conv1d"));
}

// Imported models have places without lines.
TEST(ConditionsOfTest, NodesOfModelsAreNamed) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({Dim::Symbol("n"), 3}, Float32));
  const ir::Var w = ir::Var::Make("w", ir::TensorType({4, Dim::Symbol("c")}, Float32));
  const Expr product =
      ir::Call::Make(ops::OpRegistry::Global().Get("nn.dense"), {x, w},
                     attrs::Attrs::Make(ops::DenseAttrs{}), {.source = "up (Gemm)"});
  const ir::Module module = ir::Module().With("main", ir::Function::Make({x, w}, product));
  const auto conditions = ConditionsOf(InferType(module).Main().body);
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(conditions[0].ToString(), "c == 3, for nn.dense of up (Gemm)");
}

// The annotation says a number where the operator gives an expression.
TEST(ConditionsOfTest, ResultsThatAreAnnotated) {
  EXPECT_THAT(Conditions("def @main(%x: Tensor[(n, 3), float32]) -> Tensor[(3, 5), float32] {"
                         "  transpose(%x) }"),
              ::testing::ElementsAre("n == 5, for transpose"));
}

TEST(ConditionsOfTest, BroadcastsAssumeInstead) {
  EXPECT_THAT(Conditions("def @main(%x: Tensor[(n), float32], %y: Tensor[(5), float32]) {"
                         "  add(%x, %y) }"),
              ::testing::IsEmpty());
}

TEST(ConditionsOfTest, ReferencesToTensors) {
  EXPECT_THAT(Conditions("def @main(%x: Tensor[(n), float32]) {"
                         "  let %r = ref(%x); let %u = ref_write(%r, nn.relu(%x)); ref_read(%r) }"),
              ::testing::IsEmpty());
}

TEST(DeclaredLimitsTest, NamesInQuotesMayHaveAnyCharacters) {
  const ir::Module module = Parse(
      R"(def @main(%x: Tensor[("a,b", "x<=y", "q\"("), float32],
                   limits="\"a,b\" <= 4, \"x<=y\" <= 3, \"q\\\"(\" <= 2") { %x })");
  std::vector<std::string> limits;
  for (const ExtentCondition& limit : DeclaredLimits(module.Main()))
    limits.push_back(limit.ToString());
  EXPECT_THAT(limits, ::testing::ElementsAre(R"("a,b" <= 4, for the limits of @main)",
                                             R"("x<=y" <= 3, for the limits of @main)",
                                             R"("q\"(" <= 2, for the limits of @main)"));
}

}  // namespace
}  // namespace tenon::passes
