// Arithmetic on bytes whose result is a byte uses instructions for bytes, whatever the type is that
// it is written in.
#include <algorithm>

#include <gmock/gmock.h>

#include "tenon/tests/jit/kernel_testing.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using ::testing::HasSubstr;
using ::testing::Not;

struct Bytes {
  const char* name;
  Expr (*computed)(const Expr& x, const Expr& y);  // of the wide type
  int (*expected)(int x, int y);
  const char* instruction;
};
void PrintTo(const Bytes& b, std::ostream* out) { *out << b.name; }

class NarrowCastsTest : public ::testing::TestWithParam<Bytes> {};

TEST_P(NarrowCastsTest, AllPairsGiveTheResultByInstructionsForBytes) {
  const auto& [name, computed, expected, instruction] = GetParam();
  for (const DataType wide : {Int16, Int32}) {
    const Kernel kernel = Elementwise(65536, {UInt8, UInt8}, [&](const std::vector<Expr>& e) {
      return loop::Cast(UInt8, computed(loop::Cast(wide, e[0]), loop::Cast(wide, e[1])));
    });
    const NDArray x = NDArray::Zeros({65536}, UInt8), y = NDArray::Zeros({65536}, UInt8);
    const NDArray out = NDArray::Zeros({65536}, UInt8);
    for (int i = 0; i < 65536; ++i) {
      x.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i >> 8);
      y.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i);
    }
    ASSERT_TRUE(kernel(x, y, out).ok());
    for (int i = 0; i < 65536; ++i)
      ASSERT_EQ(out.data<std::uint8_t>()[i], expected(i >> 8, i & 255))
          << (i >> 8) << ", " << (i & 255);
    if (HostTarget().triple.starts_with("x86_64")) {
      EXPECT_THAT(kernel.Assembly(), HasSubstr(instruction));
      EXPECT_THAT(kernel.Assembly(), Not(HasSubstr("pmovzx"))) << wide.ToString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, NarrowCastsTest,
    ::testing::Values(
        Bytes{"SaturatedSum", [](const Expr& x, const Expr& y) { return loop::Min(x + y, 255); },
              [](int x, int y) { return std::min(x + y, 255); }, "paddusb"},
        Bytes{"ClippedSum",
              [](const Expr& x, const Expr& y) { return loop::Max(loop::Min(x + y, 255), 0); },
              [](int x, int y) { return std::min(x + y, 255); }, "paddusb"},
        Bytes{"SaturatedDifference",
              [](const Expr& x, const Expr& y) { return loop::Max(x - y, 0); },
              [](int x, int y) { return std::max(x - y, 0); }, "psubusb"},
        Bytes{"Maximum", [](const Expr& x, const Expr& y) { return loop::Max(x, y); },
              [](int x, int y) { return std::max(x, y); }, "pmaxub"},
        Bytes{"Clip", [](const Expr& x, const Expr&) { return loop::Max(loop::Min(x, 200), 9); },
              [](int x, int) { return std::clamp(x, 9, 200); }, "pminub"},
        Bytes{"Average", [](const Expr& x, const Expr& y) { return (x + y + 1) / 2; },
              [](int x, int y) { return (x + y + 1) / 2; }, "pavgb"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::jit
