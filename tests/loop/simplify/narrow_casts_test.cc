// Casts that are narrowed have the same values, and nothing in them wraps around.
#include "tenon/loop/simplify/narrow_casts.h"

#include <array>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

std::int64_t Lowest(DataType type) {
  return type.is_int() ? -(std::int64_t{1} << (type.bits() - 1)) : 0;
}
std::int64_t Greatest(DataType type) {
  return (std::int64_t{1} << (type.bits() - (type.is_int() ? 1 : 0))) - 1;
}

std::string Narrowed(const Expr& value, DataType to) {
  const std::optional<Expr> narrowed = NarrowCast(Cast(to, value));
  return narrowed ? Print(*narrowed) : "no";
}

TEST(NarrowCastsTest, SumsAndDifferencesThatEndAtTheEndsOfAType) {
  const Var x("x", UInt8), y("y", UInt8);
  for (const DataType wide : {Int16, UInt16, Int32, UInt32, Int64}) {
    const Expr sum = Cast(wide, x) + Cast(wide, y);
    const std::string saturated = "(x + min(y, (255u8 - x)))";
    EXPECT_EQ(Narrowed(Min(sum, 255), UInt8), saturated) << wide.ToString();
    EXPECT_EQ(Narrowed(Max(Min(sum, 255), 0), UInt8), saturated);
    EXPECT_EQ(Narrowed(Min(Max(sum, 0), 255), UInt8), saturated);
    EXPECT_EQ(Narrowed(Max(Cast(wide, x), Cast(wide, y)), UInt8), "max(x, y)");
    EXPECT_EQ(Narrowed(Min(Cast(wide, x), 7), UInt8), "min(x, 7u8)");
    if (wide.is_uint()) continue;
    const Expr difference = Cast(wide, x) - Cast(wide, y);
    EXPECT_EQ(Narrowed(Max(difference, 0), UInt8), "(max(x, y) - y)");
    EXPECT_EQ(Narrowed(Min(Max(difference, 0), 255), UInt8), "(max(x, y) - y)");
    EXPECT_EQ(Narrowed(Max(Min(difference, 255), 0), UInt8), "(max(x, y) - y)");
  }
}

TEST(NarrowCastsTest, VectorsAreNarrowedAsScalarsAre) {
  const Var x("x", UInt8.WithLanes(8)), y("y", UInt8.WithLanes(8));
  const DataType wide = Int32.WithLanes(8);
  EXPECT_EQ(Narrowed(Min(Cast(wide, x) + Cast(wide, y), Broadcast(IntImm(Int32, 255), 8)),
                     UInt8.WithLanes(8)),
            "(x + min(y, (x8(255u8) - x)))");
}

TEST(NarrowCastsTest, WhatMayNotFitStaysWide) {
  const Var x("x", UInt8), y("y", UInt8), s("s", Int8), w("w", Int32);
  const auto wide = [](const Expr& e) { return Cast(Int32, e); };
  EXPECT_EQ(Narrowed(Min(wide(x) + wide(y), 254), UInt8), "no");
  EXPECT_EQ(Narrowed(Min(wide(x) + wide(y), 256), UInt8), "no");
  EXPECT_EQ(Narrowed(Max(wide(x) - wide(y), -1), UInt8), "no");
  EXPECT_EQ(Narrowed(Max(Cast(UInt32, x) - Cast(UInt32, y), 0), UInt8), "no") << "it wraps around";
  EXPECT_EQ(Narrowed(Min(wide(x) + wide(s), 255), UInt8), "no");
  EXPECT_EQ(Narrowed(Min(wide(s) + wide(s), 127), Int8), "no");
  EXPECT_EQ(Narrowed(Min(w, 255), UInt8), "no");
  EXPECT_EQ(Narrowed(Min(wide(x) + wide(y) + wide(x), 255), UInt8), "no");
  EXPECT_EQ(Narrowed(wide(x) + wide(y), UInt8), "no") << "a code generator narrows it";
  EXPECT_EQ(Narrowed(Min(wide(x), wide(y)), Float32), "no");
  EXPECT_EQ(Narrowed(Min(Cast(UInt64, x), IntImm(UInt64, -1)), Int8), "no");
  EXPECT_EQ(Narrowed(Min(Cast(Int64, s), INT64_MIN), Int8), "no");
  EXPECT_EQ(Narrowed(Max(Cast(Int64, s), INT64_MAX), Int8), "no");
}

// Whether `e` has the value in integers without bound, and all its parts fit their types.
void ExpectSame(const Expr& narrow, const Expr& wide, Interpreter* meaning) {
  ASSERT_EQ(meaning->Value(narrow), meaning->Value(wide)) << Print(wide) << " -> " << Print(narrow);
  VisitExpr(narrow, [&](const Expr& part) {
    const std::int64_t value = meaning->Value(part);
    ASSERT_TRUE(value >= Lowest(part.dtype()) && value <= Greatest(part.dtype()))
        << Print(part) << " of " << Print(narrow);
  });
}

TEST(NarrowCastsTest, AllPairsOfBytesHaveTheSameValues) {
  const Var x("x", UInt8), y("y", UInt8);
  const auto wide = [](const Expr& e) { return Cast(Int16, e); };
  for (const Expr& e : {Min(wide(x) + wide(y), 255), Max(wide(x) - wide(y), 0),
                        Min(Max(wide(x) - wide(y), 0), 100), Max(Min(wide(x), wide(y)), 3)}) {
    const Expr narrow = NarrowCast(Cast(UInt8, e)).value();
    Interpreter meaning;
    for (int a = 0; a < 256; ++a) {
      for (int b = 0; b < 256; ++b) {
        meaning.Set(x, a);
        meaning.Set(y, b);
        ASSERT_NO_FATAL_FAILURE(ExpectSame(narrow, e, &meaning));
      }
    }
  }
}

TEST(NarrowCastsTest, RandomExpressionsKeepTheirValues) {
  std::mt19937 random(36);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const Var of[] = {Var("a", UInt8),  Var("b", UInt8), Var("c", Int8),
                    Var("d", UInt16), Var("e", Int16), Var("f", UInt16)};
  const int constants[] = {-32769, -32768, -129, -128, -1,  0,     1,
                           5,      127,    128,  255,  256, 32767, 65535};
  int narrowed = 0;
  for (int round = 0; round < 60000; ++round) {
    const DataType wide = Int32;
    const std::function<Expr(int)> make = [&](int depth) -> Expr {
      if (depth == 0 && below(4) == 0) return IntImm(wide, constants[below(14)]);
      if (depth == 0) return Cast(wide, of[below(2) == 0 ? below(2) : below(6)]);
      const Expr x = make(depth - 1), y = make(below(depth));
      switch (below(4)) {
        case 0:
          return Min(x, y);
        case 1:
          return Max(x, y);
        case 2:
          return x + y;
        default:
          return x - y;
      }
    };
    const DataType to = std::array{UInt8, Int8, UInt16, Int16}[static_cast<std::size_t>(below(4))];
    Expr e = make(1 + below(3));
    if (below(2) == 0) e = Min(e, IntImm(wide, Greatest(to)));
    if (below(2) == 0) e = Max(e, IntImm(wide, Lowest(to)));
    const std::optional<Expr> narrow = NarrowCast(Cast(to, e));
    if (!narrow) continue;
    ++narrowed;
    Interpreter meaning;
    for (int point = 0; point < 30; ++point) {
      for (const Var& var : of) {
        const std::int64_t low = Lowest(var.dtype()), high = Greatest(var.dtype());
        const int where = below(6);
        meaning.Set(var, where == 0   ? low
                         : where == 1 ? high
                         : where == 2 ? low + below(3)
                         : where == 3 ? high - below(3)
                                      : low + below(static_cast<int>(high - low + 1)));
      }
      ASSERT_NO_FATAL_FAILURE(ExpectSame(*narrow, e, &meaning));
    }
  }
  EXPECT_GT(narrowed, 1000);
}

}  // namespace
}  // namespace tenon::loop
