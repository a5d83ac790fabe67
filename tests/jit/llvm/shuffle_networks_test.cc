// Tiles that are transposed in registers: what they become, and their values.
#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/strings.h"
#include "tenon/te/interpret.h"
#include "tenon/tests/jit/guarded_array.h"

namespace tenon::jit {
namespace {

using loop::RowLoads;
using te::Tensor;
using te::Var;
using ::testing::HasSubstr;
using ::testing::Not;

// A square that is transposed by one vector a row.
struct Square {
  Square(std::int64_t lanes, DataType type)
      : in(te::Placeholder({lanes, lanes}, type, "in")),
        out(te::Compute(
            {lanes, lanes}, [&](Var i, Var j) { return in(j, i); }, "out")) {}
  Kernel Compiled(const Target& target, loop::RowLoads row_loads) const {
    schedule::Schedule s(out);
    s[out].Unroll(out.axis(0));
    s[out].Vectorize(out.axis(1));
    const absl::StatusOr<Kernel> kernel = Compile(
        schedule::Lower(s, {in, out}, "transpose", {.row_loads = row_loads}), {.target = target});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return *kernel;
  }
  Tensor in, out;
};

TEST(ShuffleNetworksTest, TransposedTilesHaveTheirValuesInEachTypeAndOnEachWidth) {
  for (const char* features : {"", "-avx512f", "-avx,-avx512f"}) {
    for (const DataType type :
         {UInt8, Int8, Int16, Float16, BFloat16, Int32, Float32, Int64, Float64}) {
      for (const std::int64_t register_bytes : {32, 64}) {
        const std::int64_t lanes = register_bytes / static_cast<std::int64_t>(type.bytes());
        SCOPED_TRACE(StrCat(features, " ", type.ToString(), " ", lanes));
        const Square square(lanes, type);
        const NDArray in = GuardedNumbers({lanes, lanes}, type, Place::kAtTheEnd, 7);
        const NDArray expected = te::Interpret({square.out}, {{square.in, in}})[0];
        for (const RowLoads row_loads : {RowLoads::kParts, RowLoads::kWhole}) {
          const Kernel kernel = square.Compiled(HostTarget(features), row_loads);
          const NDArray out = GuardedNumbers({lanes, lanes}, type, Place::kAtTheEnd, 8);
          ASSERT_TRUE(kernel(in, out).ok());
          EXPECT_TRUE(out.SameBytes(expected));
        }
      }
    }
  }
}

// Squares of 8 and 16 numbers take three and four layers of shuffles; of 4, two layers of 4.
TEST(ShuffleNetworksTest, ManyShufflesAreCutAndFewStayTogether) {
  const Target target = HostTarget();
  if (target.vector_bytes < 32) GTEST_SKIP() << "this CPU has no registers of 256 bits";
  constexpr const char* kCut = "asm \"\", \"=v,0\"";
  const std::int64_t lanes = target.Lanes(4);
  EXPECT_THAT(Square(lanes, Float32).Compiled(target, RowLoads::kWhole).LlvmIr(), HasSubstr(kCut));
  EXPECT_THAT(Square(4, Float32).Compiled(target, RowLoads::kWhole).LlvmIr(), Not(HasSubstr(kCut)));
}

}  // namespace
}  // namespace tenon::jit
