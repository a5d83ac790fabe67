// Modules with values on two CPU instances: copies run as copies, and storages are not shared.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/compile.h"
#include "tenon/runtime/device_copy.h"
#include "tenon/runtime/owners.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTwoDevices[] =
    "def @main(%x: Tensor[(3), float32]) {\n"
    "  %0 = on_device(multiply(%x, 2f), virtual_device=\"cpu:0\");\n"
    "  %1 = on_device(add(%0, 1f), virtual_device=\"cpu:1\");\n"
    "  on_device(multiply(%1, %1), virtual_device=\"cpu:0\") }";

// No kernel is made of a copy; the executor knows it by its name.
TEST(DeviceTest, S001_18_S001_19_S001_20_CopiesRunWithoutAKernel) {
  const Executable executable = Compile(Parse(kTwoDevices)).value();
  EXPECT_EQ(executable.num_kernel_calls(), 3);
  int copies = 0;
  std::set<int> of_first, of_second;
  for (const runtime::Node& node : executable.plan().nodes) {
    if (node.kind == runtime::NodeKind::kCopy) {
      ++copies;
      EXPECT_EQ(node.function_name, "__copy");
    }
    for (const runtime::Entry& entry : node.outputs)
      (entry.device.index == 0 ? of_first : of_second).insert(entry.storage_id);
  }
  EXPECT_EQ(copies, 2);
  for (const int storage : of_second) EXPECT_FALSE(of_first.contains(storage));
  EXPECT_THAT(executable.GraphJson(), HasSubstr("\"func_name\": \"__copy\""));
  const auto y = executable.Run({{"x", NDArray::FromVector<float>({3}, {1, -2, 0.5F})}}).value();
  EXPECT_THAT(y[0].ToVector<float>(), ElementsAre(9, 9, 4));
}

// A field of a split is a view, which begins bytes after its storage does.
TEST(DeviceTest, S001_21_ACopyBeginsAtTheOffsetOfItsView) {
  const Executable executable =
      Compile(Parse("def @main(%x: Tensor[(6), float32]) {\n"
                    "  %0 = split(%x, indices_or_sections=2, axis=0);\n"
                    "  %1 = on_device(%0.1, virtual_device=\"cpu:0\");\n"
                    "  on_device(add(%1, 1f), virtual_device=\"cpu:1\") }"))
          .value();
  const auto y =
      executable.Run({{"x", NDArray::FromVector<float>({6}, {1, 2, 3, 4, 5, 6})}}).value();
  EXPECT_THAT(y[0].ToVector<float>(), ElementsAre(5, 6, 7));
  const runtime::Owners owners(executable.plan());
  std::vector<std::size_t> offsets;
  for (const runtime::Node& node : executable.plan().nodes) {
    if (node.kind != runtime::NodeKind::kCopy) continue;
    offsets.push_back(owners.Of(node.inputs.at(0)).offset);
  }
  EXPECT_THAT(offsets, ElementsAre(3 * sizeof(float)));
}

// A mark keeps the projections of its tuple from being simplified.
TEST(DeviceTest, FieldsOfAMarkedTupleMayChangePlaces) {
  const Executable executable =
      Compile(Parse("def @main(%x: Tensor[(4), float32]) {\n"
                    "  %0 = on_device(topk(%x, k=2), virtual_device=\"cpu:0\");\n"
                    "  %1 = (%0.1, %0.0);\n"
                    "  (sin(%x), %1.1) }"))
          .value();
  const auto y = executable.Run({{"x", NDArray::FromVector<float>({4}, {1, 4, 3, 2})}}).value();
  EXPECT_THAT(y[1].ToVector<float>(), ElementsAre(4, 3));
}

TEST(DeviceTest, EachFieldOfATupleIsCopied) {
  const Executable executable =
      Compile(
          Parse("def @main(%x: Tensor[(4), float32]) {\n"
                "  %0 = on_device(split(%x, indices_or_sections=2), virtual_device=\"cpu:1\");\n"
                "  on_device(concatenate((%0.1, %0.0), axis=0), virtual_device=\"cpu:0\") }"))
          .value();
  const auto y = executable.Run({{"x", NDArray::FromVector<float>({4}, {1, 2, 3, 4})}}).value();
  EXPECT_THAT(y[0].ToVector<float>(), ElementsAre(3, 4, 1, 2));
}

// A concatenation whose producers write into it: the copy is one of them.
TEST(DeviceTest, S001_21_ACopyEndsAtTheOffsetOfItsJoin) {
  const Executable executable =
      Compile(Parse("def @main(%x: Tensor[(2, 1, 2, 2), float32], %y: Tensor[(1, 1, 2, 2), "
                    "float32]) {\n"
                    "  %0 = on_device(nn.max_pool2d(%x, pool_size=[2, 2]), "
                    "virtual_device=\"cpu:0\");\n"
                    "  %1 = on_device(nn.max_pool2d(%y, pool_size=[2, 2]), "
                    "virtual_device=\"cpu:1\");\n"
                    "  on_device(concatenate((%1, %0), axis=0), virtual_device=\"cpu:1\") }"))
          .value();
  EXPECT_EQ(executable.num_kernel_calls(), 2);
  const runtime::Owners owners(executable.plan());
  std::vector<std::size_t> offsets;
  const auto& nodes = executable.plan().nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].kind == runtime::NodeKind::kCopy)
      offsets.push_back(owners.Of({static_cast<int>(n), 0}).offset);
  }
  EXPECT_THAT(offsets, ElementsAre(sizeof(float)));
  const auto z =
      executable
          .Run({{"x", NDArray::FromVector<float>({2, 1, 2, 2}, {1, 2, 3, 4, 8, 7, 6, 5})},
                {"y", NDArray::FromVector<float>({1, 1, 2, 2}, {9, 10, 11, 12})}})
          .value();
  EXPECT_THAT(z[0].ToVector<float>(), ElementsAre(12, 4, 8));
}

TEST(DeviceTest, ADeviceWithoutMemoryHereIsRefused) {
  const auto executable = Compile(
      Parse("def @main(%x: Tensor[(3), float32]) { on_device(exp(%x), virtual_device=\"cuda:1\") "
            "}"));
  EXPECT_EQ(executable.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(executable.status().message()),
              HasSubstr("no code can be made for cuda:1; values can be on cpu:0, cpu:1 and so on"));
}

TEST(DeviceTest, S001_20_CopiesBetweenAnyCpuInstancesAreCopiesOfBytes) {
  const float from[2] = {1, 2};
  for (const int source : {0, 1}) {
    for (const int target : {0, 3}) {
      float to[2] = {0, 0};
      runtime::CopyBetweenDevices({.index = source}, from, {.index = target}, to, sizeof to);
      EXPECT_THAT(to, ElementsAre(1, 2));
    }
  }
  EXPECT_THAT(ErrorOf([&] {
                float to[2];
                runtime::CopyBetweenDevices({}, from, {.type = DeviceType::kOpenCl}, to, sizeof to);
              }).message(),
              HasSubstr("there is no memory of opencl:0 in this program"));
}

}  // namespace
}  // namespace tenon
