// Which copies become vectors, and of how many lanes; that every element arrives.
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

const Var k("k"), n("n"), row("row");
const Buffer x = Buffer::Make("x", Float32, {400}), y = Buffer::Make("y", Float32, {400});
const Buffer words = Buffer::Make("words", Int64, {400}), sink = Buffer::Make("sink", Int64, {400});

Stmt Copy(const Expr& min, const Expr& extent, const Expr& to, const Expr& from,
          ForKind kind = ForKind::kSerial) {
  return For(k, min, extent, kind, Store(y, Load(x, {from}), {to}));
}

TEST(VectorizeCopiesTest, TheLastVectorEndsWithTheRow) {
  EXPECT_EQ(Print(Simplify(VectorizeCopies(Copy(1, 28, row * 30 + k, row * 28 + k - 1)))),
            "vectorized k in [0, 16) {\n"
            "  y[(((row * 30) + k) + 1)] = x[((row * 28) + k)]\n"
            "}\n"
            "vectorized k_1 in [0, 16) {\n"
            "  y[(((row * 30) + k_1) + 13)] = x[(((row * 28) + k_1) + 12)]\n"
            "}\n");
}

TEST(VectorizeCopiesTest, OtherLoopsStay) {
  for (const Stmt& loop :
       {// LLVM's vectors take these, or there is next to nothing to copy.
        Copy(0, 129, k, k), Copy(0, n, k, k), Copy(0, 3, k, k),
        // These are vectors already, or shared out.
        Copy(0, 16, k, k, ForKind::kVectorized), Copy(0, 16, k, k, ForKind::kParallel),
        // What is read or written does not lie together, or is the same element.
        Copy(0, 16, k * 2, k), Copy(0, 16, k, k * 2), Copy(0, 16, k, row), Copy(0, 16, row, k),
        // Elements are read that were written before.
        For(k, 0, 16, ForKind::kSerial, Store(y, Load(y, {k}), {k + 1})),
        // More than a copy.
        For(k, 0, 16, ForKind::kSerial, Store(y, Load(x, {k}) + 1.0F, {k}))}) {
    EXPECT_TRUE(VectorizeCopies(loop) == loop) << Print(loop);
  }
}

class CopyExtentTest : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Extents, CopyExtentTest,
                         ::testing::Values(4, 5, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 127, 128));

TEST_P(CopyExtentTest, MovesTheRowAndNothingElse) {
  const Stmt loop =
      For(k, 2, GetParam(), ForKind::kSerial, Store(sink, Load(words, {k + 5}), {k + 3}));
  const Stmt made = Simplify(VectorizeLoops(VectorizeCopies(loop)));
  EXPECT_NE(Print(made).find("ramp"), std::string::npos);
  std::vector<std::int64_t> numbers(400);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i * i);
  const auto result = [&](const Stmt& stmt) {
    Interpreter interpreter;
    interpreter.Set(words, numbers);
    interpreter.Set(sink, std::vector<std::int64_t>(400, -1));
    interpreter.Execute(stmt);
    return interpreter.Of(sink);
  };
  EXPECT_EQ(result(made), result(loop));
}

// Lengths of none, of less than none, around vectors, and constants.
TEST(VectorizeCopiesTest, OfAnyLengthTheLastVectorIsUnderAMask) {
  const Expr value = Load(words, {k + 5});
  for (const bool is_copy : {true, false}) {
    const Stmt loop = For(k, 2, n, ForKind::kSerial, Store(sink, is_copy ? value : Expr(7), {k}));
    const Stmt made = Simplify(VectorizeLoops(VectorizeCopies(loop, true)));
    EXPECT_NE(Print(made).find("where"), std::string::npos) << Print(made);
    EXPECT_TRUE(VectorizeCopies(loop) == loop);
    for (const std::int64_t length : {-20, -16, -1, 0, 1, 7, 8, 9, 15, 16, 17, 100}) {
      const auto result = [&](const Stmt& stmt) {
        Interpreter interpreter;
        interpreter.Set(words, std::vector<std::int64_t>(400, 3));
        interpreter.Set(sink, std::vector<std::int64_t>(400, -1));
        interpreter.Execute(Substitute(stmt, {{n, IntImm(Int64, length)}}));
        return interpreter.Of(sink);
      };
      EXPECT_EQ(result(made), result(loop)) << length;
    }
  }
}

}  // namespace
}  // namespace tenon::loop
