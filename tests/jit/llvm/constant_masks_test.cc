// Lanes that constant masks leave: the edges of padded rows, on a CPU without AVX-512.
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/strings.h"
#include "tenon/te/interpret.h"
#include "tenon/te/math.h"
#include "tenon/tests/jit/guarded_array.h"

namespace tenon::jit {
namespace {

using te::Tensor;
using te::Var;
using ::testing::ContainsRegex;
using ::testing::Not;

constexpr const char* kMaskedLoad = "call [^\n]*@llvm.masked.load";
constexpr const char* kMaskedStore = "call [^\n]*@llvm.masked.store";

// A row before the image and one after it, some columns before and after; each row is one vector.
struct Padded {
  Padded(std::int64_t rows, std::int64_t columns, std::int64_t before, std::int64_t after,
         DataType type)
      : image(te::Placeholder({rows, columns}, type, "image")),
        out(te::Compute(
            {rows + 2, before + columns + after},
            [&](Var i, Var j) {
              const te::Expr inside = (i >= 1) && (i < static_cast<int>(rows + 1)) &&
                                      (j >= static_cast<int>(before)) &&
                                      (j < static_cast<int>(before + columns));
              return te::IfThenElse(inside, image(i - 1, j - static_cast<int>(before)),
                                    te::Cast(type, 0));
            },
            "out")) {}
  Kernel Compiled() const {
    schedule::Schedule s(out);
    s[out].Vectorize(out.axis(1));
    const absl::StatusOr<Kernel> kernel =
        Compile(schedule::Lower(s, {image, out}, "pad"), {.target = HostTarget("-avx512f")});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return *kernel;
  }
  Tensor image, out;
};

TEST(ConstantMasksTest, EdgesOfRowsAreMovedWithoutMasksAndNothingElseIsTouched) {
  for (const DataType type : {UInt8, Int8, Int16, UInt16, Int32, Float32, Float64}) {
    for (const std::int64_t columns : {1, 2, 7, 8, 14, 16, 30}) {
      for (const auto& [before, after] : {std::pair(1, 3), std::pair(0, 1), std::pair(2, 0)}) {
        SCOPED_TRACE(StrCat(type.ToString(), " ", columns, " after ", before));
        const Padded padded(3, columns, before, after, type);
        const Kernel kernel = padded.Compiled();
        EXPECT_THAT(kernel.LlvmIr(), Not(ContainsRegex(kMaskedStore)));
        if (type.bytes() < 4) {
          EXPECT_THAT(kernel.LlvmIr(), Not(ContainsRegex(kMaskedLoad)));
        }
        for (const Place place : {Place::kAtTheEnd, Place::kAtTheStart}) {
          const NDArray image = GuardedNumbers({3, columns}, type, place, 7);
          const NDArray result = GuardedNumbers({5, before + columns + after}, type, place, 8);
          ASSERT_TRUE(kernel(image, result).ok());
          EXPECT_TRUE(result.SameBytes(te::Interpret({padded.out}, {{padded.image, image}})[0]));
        }
      }
    }
  }
}

TEST(ConstantMasksTest, CpusWithMaskRegistersKeepTheirMasks) {
  Target target = HostTarget();
  if (!target.Has("avx512bw")) GTEST_SKIP() << "this CPU has no AVX512-BW";
  const Padded padded(3, 14, 1, 3, UInt8);
  schedule::Schedule s(padded.out);
  s[padded.out].Vectorize(padded.out.axis(1));
  const Kernel kernel =
      Compile(schedule::Lower(s, {padded.image, padded.out}, "pad"), {.target = target}).value();
  EXPECT_THAT(kernel.LlvmIr(), ContainsRegex(kMaskedLoad));
}

}  // namespace
}  // namespace tenon::jit
