#include "tenon/support/ndarray.h"

#include <cstdint>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

template <typename Body>
std::string MessageOf(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(NDArrayTest, HoldsValuesAndSharesThem) {
  NDArray a = NDArray::FromVector<float>({2, 2}, {1, 2, 3, 4});
  NDArray b = a.Reshape({4});
  b.data<float>()[3] = 9;
  EXPECT_EQ(a.ToVector<float>(), (std::vector<float>{1, 2, 3, 9}));
  NDArray c = a.Clone();
  c.data<float>()[0] = 7;
  EXPECT_EQ(a.data<float>()[0], 1);
}

TEST(NDArrayTest, LargeOnesAreAlignedZeroAndWritableToo) {
  const Shape shape = {3, 1 << 20};
  const NDArray zeros = NDArray::Zeros(shape, Float32);
  NDArray filled = NDArray::Empty(shape, Float32);
  for (const NDArray& array : {zeros, filled})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.raw()) % 64, 0U);
  EXPECT_EQ(zeros.ToVector<float>(), std::vector<float>(3 << 20, 0.0F));
  for (const NDArray& array : {zeros, filled}) std::memset(array.raw(), 1, array.bytes());
  EXPECT_TRUE(zeros.SameBytes(filled));
}

TEST(NDArrayTest, EmptyExtentsAreLegal) {
  const NDArray a = NDArray::Zeros({0, 3}, Float32);
  EXPECT_EQ(a.size(), 0);
  EXPECT_NE(a.raw(), nullptr);
  EXPECT_TRUE(a.SameBytes(NDArray::Zeros({0, 3}, Float32)));
}

TEST(NDArrayTest, RefusesBadShapesAndTypesInWords) {
  EXPECT_THAT(MessageOf([] { NDArray::Empty({2, -1}, Float32); }), HasSubstr("negative extent -1"));
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(MessageOf([&] { NDArray::Empty({huge, 2}, Float32); }), HasSubstr("too many"));
  EXPECT_THAT(MessageOf([&] { NDArray::Empty({huge}, Float32); }), HasSubstr("too many"));
  EXPECT_THAT(MessageOf([] { NDArray::Empty({2}, DataType::Void()); }), HasSubstr("void"));
  EXPECT_EQ(NDArray::Empty(Shape(64, 1), Float32).size(), 1);
  EXPECT_THAT(MessageOf([] { NDArray::Empty(Shape(65, 1), Float32); }),
              HasSubstr("a tensor of 65 axes; there may be 64"));
  EXPECT_THAT(MessageOf([] {
                NDArray::FromVector<float>({3}, {1, 2});
              }),
              HasSubstr("3 elements, but 2 values"));
  EXPECT_THAT(MessageOf([] { NDArray::Scalar(1.0F).data<double>(); }),
              HasSubstr("holds float32 elements; they cannot be read as float64"));
  EXPECT_THAT(MessageOf([] { NDArray::Scalar(1.0F).Reshape({2}); }), HasSubstr("counts differ"));
}

TEST(NDArrayTest, WhetherElementsCanBeCountedDoesNotDependOnTheirOrder) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  for (const Shape& shape : {Shape{0, kHuge, 4}, Shape{kHuge, 4, 0}, Shape{kHuge, 0, 4}})
    EXPECT_THAT(MessageOf([&] { NumElements(shape); }), HasSubstr("too many elements"));
  EXPECT_EQ(NumElements(Shape{0, kHuge}), 0);
  EXPECT_EQ(NumElements(Shape{kHuge, 1, 1}), kHuge);
}

TEST(NDArrayTest, BytesThatCannotBeCountedAreRefusedByAViewToo) {
  float memory[16] = {};
  const Shape shape = {(std::int64_t{1} << 62) + 16};
  EXPECT_THAT(MessageOf([&] { NDArray::View(shape, Float32, memory, nullptr); }),
              HasSubstr("too many bytes"));
}

TEST(NDArrayTest, AViewOfElementsHasMemory) {
  try {
    NDArray::View({2, 3}, Float32, nullptr, nullptr);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "a view of shape (2, 3) has elements, but no memory: its pointer is null");
  }
  EXPECT_EQ(NDArray::View({2, 0}, Float32, nullptr, nullptr).size(), 0);
}

TEST(NDArrayTest, BoolsAreNormalisedAndNothingElseIs) {
  std::uint8_t memory[] = {0, 1, 2, 255};
  NormalizeBools(NDArray::View({4}, UInt8, memory, nullptr));
  EXPECT_EQ(memory[3], 255);
  NormalizeBools(NDArray::View({4}, Bool, memory, nullptr));
  EXPECT_THAT(memory, ::testing::ElementsAre(0, 1, 1, 1));
}

}  // namespace
}  // namespace tenon
