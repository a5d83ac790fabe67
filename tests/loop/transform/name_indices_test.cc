#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/transform/transforms.h"

namespace tenon::loop {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Var n("n"), w("w"), i("i"), j("j");

Stmt StoreAt(const Expr& index) {
  static const Buffer out = Buffer::Make("out", Float32, {Expr(1 << 20)});
  return Store(out, FloatImm(Float32, 0), {index});
}

TEST(NameIndicesTest, TermsOfAnOuterLoopAreComputedThere) {
  const Stmt loops =
      For(i, 0, n, ForKind::kSerial, For(j, 0, w, ForKind::kSerial, StoreAt(i * w * 3 + j)));
  EXPECT_EQ(Print(NameIndices(loops)),
            "for i in [0, n) {\n"
            "  let at = ((i * w) * 3)\n"
            "  for j in [0, w) {\n"
            "    out[(j + at)] = 0f\n"
            "  }\n"
            "}\n");
}

TEST(NameIndicesTest, QuotientsStayWhereTheirDivisorIsNotKnownToBePositive) {
  const Stmt loops =
      For(i, 0, n, ForKind::kSerial, For(j, 0, w, ForKind::kSerial, StoreAt(FloorDiv(i, w) + j)));
  EXPECT_THAT(Print(NameIndices(loops)), Not(HasSubstr("let")));
  const Stmt fused = For(i, 0, n * w, ForKind::kSerial,
                         For(j, 0, w, ForKind::kSerial, StoreAt(FloorDiv(i, w) + j)));
  EXPECT_THAT(Print(NameIndices(fused)), HasSubstr("let at_1 = floordiv(i, w)"));
}

// Extents are not negative.
TEST(NameIndicesTest, QuotientsByAnExtentAndSomethingMoreAreNamed) {
  const auto text = [](const Expr& divisor) {
    return Print(
        NameIndices(For(i, 0, n, ForKind::kSerial,
                        For(j, 0, w, ForKind::kSerial, StoreAt(FloorDiv(i, divisor) * w + j)))));
  };
  EXPECT_THAT(text(FloorDiv(w + 1, 2) + 2), HasSubstr("let at"));
  EXPECT_THAT(text(FloorDiv(w, 2)), HasSubstr("out[((floordiv(i, at) * w) + j)]"));
  EXPECT_THAT(text(w - 1), Not(HasSubstr("let")));
}

TEST(NameIndicesTest, TermsOfVariablesOfOneNameDoNotShareOne) {
  const Var other("i");
  const Stmt stores = Seq({StoreAt(Min(i + j, n) * w), StoreAt(Min(other + j, n) * w)});
  const Stmt loops =
      For(i, 0, n, ForKind::kSerial,
          For(other, 0, n, ForKind::kSerial, For(j, 0, w, ForKind::kSerial, stores)));
  EXPECT_THAT(Print(NameIndices(loops)), HasSubstr("let at_1"));
}

TEST(NameIndicesTest, EqualTermsShareAName) {
  const Stmt loops =
      For(i, 0, n, ForKind::kSerial, Seq({StoreAt(i * w), StoreAt(i * w + 1), StoreAt(i * w + 2)}));
  const std::string text = Print(NameIndices(loops));
  EXPECT_THAT(text, HasSubstr("let at = (i * w)"));
  EXPECT_THAT(text, Not(HasSubstr("at_1")));
}

}  // namespace
}  // namespace tenon::loop
