#include "tenon/runtime/dlpack.h"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

using ::testing::HasSubstr;

TEST(DLPackTest, SharesElementsBothWays) {
  NDArray array = NDArray::FromVector<float>({2, 2}, {1, 2, 3, 4});
  const absl::StatusOr<NDArray> back = FromDLPack(ToDLPack(array));
  ASSERT_TRUE(back.ok()) << back.status();
  array.data<float>()[1] = 9;
  array = NDArray();  // the exchange keeps the elements alive
  EXPECT_EQ(back->ToVector<float>(), (std::vector<float>{1, 9, 3, 4}));
}

struct Foreign {
  std::int64_t shape[2] = {2, 2};
  std::int64_t strides[2] = {2, 1};
  float data[4] = {1, 2, 3, 4};
  bool deleted = false;
  DLManagedTensor tensor{};

  Foreign() {
    tensor.dl_tensor.data = data;
    tensor.dl_tensor.device = {kDLCPU, 0};
    tensor.dl_tensor.ndim = 2;
    tensor.dl_tensor.dtype = {kDLFloat, 32, 1};
    tensor.dl_tensor.shape = shape;
    tensor.dl_tensor.strides = strides;
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensor* self) {
      static_cast<Foreign*>(self->manager_ctx)->deleted = true;
    };
  }
};

TEST(DLPackTest, TakesOwnershipAndDeletesOnce) {
  Foreign foreign;
  {
    const absl::StatusOr<NDArray> array = FromDLPack(&foreign.tensor);
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_FALSE(foreign.deleted);
  }
  EXPECT_TRUE(foreign.deleted);
}

TEST(DLPackTest, RefusesWhatItCannotViewAndLeavesItToTheCaller) {
  EXPECT_THAT(FromDLPack(nullptr).status().message(), HasSubstr("null"));
  Foreign strided;
  strided.strides[0] = 1;
  strided.strides[1] = 2;
  EXPECT_THAT(FromDLPack(&strided.tensor).status().message(), HasSubstr("strided"));
  Foreign gpu;
  gpu.tensor.dl_tensor.device.device_type = kDLCUDA;
  EXPECT_THAT(FromDLPack(&gpu.tensor).status().message(), HasSubstr("only CPU memory"));
  Foreign odd;
  odd.tensor.dl_tensor.dtype = {kDLFloat, 32, 4};
  EXPECT_THAT(FromDLPack(&odd.tensor).status().message(), HasSubstr("4 lanes"));
  EXPECT_FALSE(strided.deleted || gpu.deleted || odd.deleted);
}

TEST(DLPackTest, ATensorWithoutAShapeIsRefused) {
  Foreign below_zero, many, shapeless;
  below_zero.tensor.dl_tensor.ndim = -1;
  many.tensor.dl_tensor.ndim = std::numeric_limits<int>::max();
  shapeless.tensor.dl_tensor.shape = nullptr;
  EXPECT_THAT(FromDLPack(&below_zero.tensor).status().message(), HasSubstr("has -1 axes"));
  EXPECT_THAT(FromDLPack(&many.tensor).status().message(), HasSubstr("there may be 64"));
  EXPECT_THAT(FromDLPack(&shapeless.tensor).status().message(), HasSubstr("2 axes and no shape"));
  EXPECT_FALSE(below_zero.deleted || many.deleted || shapeless.deleted);
  // A scalar needs none.
  shapeless.tensor.dl_tensor.ndim = 0;
  shapeless.tensor.dl_tensor.strides = nullptr;
  EXPECT_EQ(FromDLPack(&shapeless.tensor).value().ToVector<float>(), std::vector<float>{1});
}

TEST(DLPackTest, BytesOfABoolThatAreNeither0Nor1Are1InACopy) {
  std::uint8_t bytes[4] = {0, 1, 2, 255};
  Foreign foreign;
  foreign.tensor.dl_tensor.data = bytes;
  foreign.tensor.dl_tensor.dtype = {6, 8, 1};  // kDLBool
  const absl::StatusOr<NDArray> array = FromDLPack(&foreign.tensor);
  ASSERT_TRUE(array.ok()) << array.status();
  const auto* read = static_cast<const std::uint8_t*>(array->raw());
  EXPECT_THAT(std::vector<std::uint8_t>(read, read + 4), ::testing::ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(bytes, ::testing::ElementsAre(0, 1, 2, 255));  // they are the caller's
  EXPECT_TRUE(foreign.deleted);
}

TEST(DLPackTest, ABoolComesBackAsABool) {
  const NDArray array = NDArray::FromVector<bool>({2}, {true, false});
  const auto back = FromDLPack(ToDLPack(array));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->ToVector<bool>(), (std::vector<bool>{true, false}));
}

// PyTorch gives tensors without elements no address.
TEST(DLPackTest, AnEmptyTensorWithoutDataIsAnArray) {
  Foreign foreign;
  foreign.shape[0] = 0;
  foreign.tensor.dl_tensor.data = nullptr;
  const auto array = FromDLPack(&foreign.tensor);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_TRUE(array->defined());
  EXPECT_EQ(array->shape(), (Shape{0, 2}));
  EXPECT_TRUE(foreign.deleted);
}

TEST(DLPackTest, RefusesDataThatIsMissingOrCannotBeCounted) {
  Foreign missing;
  missing.tensor.dl_tensor.data = nullptr;
  EXPECT_THAT(FromDLPack(&missing.tensor).status().message(), HasSubstr("no data"));
  Foreign huge;
  huge.shape[0] = huge.shape[1] = std::int64_t{1} << 31;
  huge.strides[0] = std::int64_t{1} << 31;
  EXPECT_THAT(FromDLPack(&huge.tensor).status().message(), HasSubstr("too many bytes"));
  EXPECT_FALSE(missing.deleted || huge.deleted);
}

}  // namespace
}  // namespace tenon::runtime
