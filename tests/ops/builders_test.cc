// Builders of the families that have headers of their own: each call is of the type that its
// operator says.
#include "tenon/ops/builders.h"

#include <gtest/gtest.h>

#include "tenon/ops/index_builders.h"
#include "tenon/ops/pool/pool_builders.h"
#include "tenon/passes/infer_type.h"

namespace tenon::ops {
namespace {

Expr Tensor(const Shape& shape, DataType dtype = Float32) {
  return ir::Var::Make("x", ir::TensorTypeOf(shape, dtype));
}
std::string TypeOf(const Expr& e) {
  return ir::ToString(passes::InferType(ir::Module::FromExpr(e)).Main().body.checked_type());
}

TEST(BuildersTest, PoolsOverOneAndThreeAxes) {
  const Expr line = Tensor({2, 3, 17}), volume = Tensor({1, 3, 7, 9, 11});
  EXPECT_EQ(TypeOf(MaxPool1D(line, {.pool_size = {3}, .strides = {2}, .padding = {1}})),
            "Tensor[(2, 3, 9), float32]");
  EXPECT_EQ(TypeOf(AvgPool1D(line, {.pool_size = {2}, .strides = {2}, .ceil_mode = true})),
            "Tensor[(2, 3, 9), float32]");
  EXPECT_EQ(TypeOf(MaxPool3D(volume, {.pool_size = {3, 3, 3}, .strides = {2, 2, 2}})),
            "Tensor[(1, 3, 3, 4, 5), float32]");
  EXPECT_EQ(TypeOf(AvgPool3D(volume, {.pool_size = {2}, .count_include_pad = true})),
            "Tensor[(1, 3, 6, 8, 10), float32]");
}

TEST(BuildersTest, PoolsIntoBins) {
  const Expr line = Tensor({2, 3, 17}), image = Tensor({2, 3, 17, 5}),
             volume = Tensor({1, 2, 7, 9, 3});
  EXPECT_EQ(TypeOf(AdaptiveMaxPool1D(line, {.output_size = {4}})), "Tensor[(2, 3, 4), float32]");
  EXPECT_EQ(TypeOf(AdaptiveAvgPool1D(line)), "Tensor[(2, 3, 17), float32]");
  EXPECT_EQ(TypeOf(AdaptiveMaxPool2D(image, {.output_size = {7, 1}})),
            "Tensor[(2, 3, 7, 1), float32]");
  EXPECT_EQ(TypeOf(AdaptiveAvgPool2D(image, {.output_size = {2}})),
            "Tensor[(2, 3, 2, 2), float32]");
  EXPECT_EQ(TypeOf(AdaptiveMaxPool3D(volume, {.output_size = {1}})),
            "Tensor[(1, 2, 1, 1, 1), float32]");
  EXPECT_EQ(TypeOf(AdaptiveAvgPool3D(volume, {.output_size = {3, 2, 1}})),
            "Tensor[(1, 2, 3, 2, 1), float32]");
}

TEST(BuildersTest, Scale) {
  EXPECT_EQ(TypeOf(UpSampling(Tensor({1, 2, 3, 5}), {.scale_h = 2, .scale_w = 3})),
            "Tensor[(1, 2, 6, 15), float32]");
  EXPECT_EQ(
      TypeOf(UpSampling3D(Tensor({1, 2, 3, 5, 7}), {.scale_d = 2, .scale_h = 1, .scale_w = 1})),
      "Tensor[(1, 2, 6, 5, 7), float32]");
}

TEST(BuildersTest, ScalarsAreValuesOfTheirType) {
  EXPECT_EQ(*Scalar(-128.9, Int8).As<ir::ConstantNode>()->data.data<std::int8_t>(), -128);
  EXPECT_EQ(*Scalar(-0x1p63, Int64).As<ir::ConstantNode>()->data.data<std::int64_t>(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(*Scalar(255.9, UInt8).As<ir::ConstantNode>()->data.data<std::uint8_t>(), 255);
  const std::vector<std::tuple<double, DataType, const char*>> no_values = {
      {0x1p63, Int64, "9.22337e+18 is not a value of int64"},
      {-0x1p31 - 1, Int32, "-2.14748e+09 is not a value of int32"},
      {32768, Int16, "32768 is not a value of int16"},
      {128, Int8, "128 is not a value of int8"},
      {-1, UInt8, "-1 is not a value of uint8"},
      {std::nan(""), Int32, "nan is not a value of int32"},
  };
  for (const auto& [value, dtype, message] : no_values) {
    const auto refused =
        CatchErrors([&, &value = value, &dtype = dtype] { return Scalar(value, dtype); });
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(refused.status().message(), message);
  }
}

TEST(BuildersTest, OrderAndSelect) {
  const Expr x = Tensor({3, 7}), i = Tensor({3, 2}, Int64);
  EXPECT_EQ(TypeOf(Sort(x, {.axis = 0})), "Tensor[(3, 7), float32]");
  EXPECT_EQ(TypeOf(Argsort(x, {.is_ascend = false})), "Tensor[(3, 7), int32]");
  EXPECT_EQ(TypeOf(TopK(x, {.k = 4})), "(Tensor[(3, 4), float32], Tensor[(3, 4), int32])");
  EXPECT_EQ(TypeOf(CumSum(x, {.axis = 1})), "Tensor[(3, 7), float32]");
  EXPECT_EQ(TypeOf(CumProd(x)), "Tensor[(21), float32]");
  EXPECT_EQ(TypeOf(Gather(x, i, {.axis = 1})), "Tensor[(3, 2), float32]");
  EXPECT_EQ(TypeOf(GatherND(x, Tensor({2, 5}, Int64))), "Tensor[(5), float32]");
  EXPECT_EQ(TypeOf(ScatterElements(x, i, Tensor({3, 2}), {.axis = 1})), "Tensor[(3, 7), float32]");
  EXPECT_EQ(TypeOf(ScatterND(x, Tensor({1, 2}, Int64), Tensor({2, 7}))), "Tensor[(3, 7), float32]");
  EXPECT_EQ(TypeOf(OneHot(i, Scalar(1), Scalar(0), {.depth = 5})), "Tensor[(3, 2, 5), float32]");
  EXPECT_EQ(TypeOf(SearchSorted(Tensor({9}), x)), "Tensor[(3, 7), int32]");
  EXPECT_EQ(TypeOf(Unique(Tensor({5}))),
            "(Tensor[(5), float32], Tensor[(5), int32], Tensor[(5), int32], Tensor[(1), int32])");
}

TEST(BuildersTest, MoveAndCreate) {
  const Expr x = Tensor({3, 7});
  EXPECT_EQ(TypeOf(BroadcastTo(x, {2, 3, 7})), "Tensor[(2, 3, 7), float32]");
  EXPECT_EQ(TypeOf(Repeat(x, 2, 1)), "Tensor[(3, 14), float32]");
  EXPECT_EQ(TypeOf(Reverse(x)), "Tensor[(3, 7), float32]");
  EXPECT_EQ(TypeOf(Stack({x, x}, 1)), "Tensor[(3, 2, 7), float32]");
  EXPECT_EQ(TypeOf(Tile(x, {2, 1})), "Tensor[(6, 7), float32]");
  EXPECT_EQ(TypeOf(Arange(0, 10, 3, Int32)), "Tensor[(4), int32]");
  EXPECT_EQ(TypeOf(MatrixSetDiag(x, Tensor({3}))), "Tensor[(3, 7), float32]");
  EXPECT_EQ(TypeOf(SlidingWindow(x, {.axis = 1, .window_shape = {3}, .strides = {2}})),
            "Tensor[(3, 3, 3), float32]");
  const Expr two = Tensor({2}, Int64);
  EXPECT_EQ(TypeOf(StridedSet(x, Tensor({1, 2}), two, two, two)), "Tensor[(3, 7), float32]");
  EXPECT_EQ(TypeOf(DepthToSpace(Tensor({1, 8, 2, 3}), {.block_size = 2})),
            "Tensor[(1, 2, 4, 6), float32]");
  EXPECT_EQ(TypeOf(SpaceToDepth(Tensor({1, 2, 4, 6}), {.block_size = 2})),
            "Tensor[(1, 8, 2, 3), float32]");
}

TEST(BuildersTest, SumProductsAndListBoxes) {
  EXPECT_EQ(TypeOf(Einsum({Tensor({2, 3}), Tensor({3, 5})}, "ij,jk->ki")),
            "Tensor[(5, 2), float32]");
  EXPECT_EQ(TypeOf(RoiAlign(Tensor({1, 3, 9, 9}), Tensor({4, 5}),
                            {.pooled_size = {2, 3}, .spatial_scale = 1})),
            "Tensor[(4, 3, 2, 3), float32]");
  EXPECT_EQ(TypeOf(RoiPool(Tensor({1, 3, 9, 9}), Tensor({4, 5}),
                           {.pooled_size = {2, 3}, .spatial_scale = 1})),
            "Tensor[(4, 3, 2, 3), float32]");
  EXPECT_EQ(TypeOf(MultiBoxPrior(Tensor({1, 3, 5, 7}), {.sizes = {0.2, 0.4}, .ratios = {1, 2}})),
            "Tensor[(1, 105, 4), float32]");
  EXPECT_EQ(TypeOf(YoloReorg(Tensor({1, 8, 4, 6}), 2)), "Tensor[(1, 32, 2, 3), float32]");
  EXPECT_EQ(TypeOf(GetValidCounts(Tensor({2, 9, 6}), Scalar(0.5))),
            "(Tensor[(2), int32], Tensor[(2, 9, 6), float32], Tensor[(2, 9), int32])");
  EXPECT_EQ(TypeOf(NonMaxSuppression(Tensor({2, 9, 6}), Tensor({2}, Int32), Tensor({2, 9}, Int32),
                                     Scalar(3, Int32), Scalar(0.5))),
            "(Tensor[(2, 9), int32], Tensor[(2, 1), int32])");
}

}  // namespace
}  // namespace tenon::ops
