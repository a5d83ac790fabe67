// Kernels as C: called with arrays, and what is wrong is said.
#include "tenon/verify/check/c_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/loop/stmt.h"
#include "tenon/support/error.h"

namespace tenon::verify {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Doubling() {
  const loop::Buffer x = loop::Buffer::Make("x", Float32, {3}),
                     is_large = loop::Buffer::Make("is_large", Bool, {3});
  const loop::Var i("i");
  const loop::Stmt body =
      loop::For(i, 0, 3, loop::ForKind::kSerial,
                loop::Seq({loop::Store(x, loop::Load(x, {i}) * 2.0F, {i}),
                           loop::Store(is_large, loop::Load(x, {i}) > 3.0F, {i})}));
  return jit::Compile(
             {.name = "f", .buffers = {x, is_large}, .scalars = {}, .body = body, .origin = {}})
      .value()
      .CSource();
}

template <typename Body>
std::string LossOf(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kDataLoss);
    return error.message();
  }
  return "no error";
}

TEST(CKernelTest, RunsOnArraysOfAnyType) {
  const NDArray x = NDArray::FromVector<float>({3}, {1, 2, 3}),
                is_large = NDArray::Zeros({3}, Bool);
  CKernel("f", Doubling()).Run({x, is_large});
  EXPECT_THAT(std::vector<float>(x.data<float>(), x.data<float>() + 3), ElementsAre(2, 4, 6));
  const auto* large = static_cast<const std::uint8_t*>(is_large.raw());
  EXPECT_THAT(std::vector<int>(large, large + 3), ElementsAre(0, 1, 1));
}

TEST(CKernelTest, OtherArraysAndOtherTextsAreALoss) {
  const CKernel kernel("f", Doubling());
  EXPECT_THAT(LossOf([&] {
                kernel.Run({NDArray::Zeros({4}, Float32), NDArray::Zeros({3}, Bool)});
              }),
              HasSubstr("gives 2"));
  EXPECT_THAT(LossOf([] { CKernel("f", "int f( {"); }), HasSubstr("f.c"));
  EXPECT_THAT(LossOf([] { CKernel("f", "int g(void) { return 0; }"); }), HasSubstr("f"));
}

}  // namespace
}  // namespace tenon::verify
