// Which buffers come to share memory, which keep their own, and the results before and after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

constexpr std::int64_t kSize = 1024;  // of int64: 8 KiB

Buffer Made(const std::string& name, std::int64_t size = kSize, DataType type = Int64,
            Memory memory = Memory::kAutomatic) {
  return Buffer::Make(name, type, {Expr(size)}, memory);
}

const Buffer in = Made("in"), out = Made("out");

std::int64_t SizeOf(const Buffer& buffer) { return buffer->shape[0].As<IntImmNode>()->value; }

// to[i] = from[i] + add, for the first `size` elements.
Stmt Fill(const Buffer& to, const Buffer& from, std::int64_t add, std::int64_t size = 500) {
  const Var i("i");
  const Expr value = Cast(Int64, Load(from, {i})) + IntImm(Int64, add);
  return For(i, 0, size, ForKind::kSerial, Store(to, Cast(to->dtype, value), {i}));
}

// Each buffer is filled from the one before it, allocated where it begins.
Stmt Chain(const std::vector<Buffer>& buffers) {
  std::int64_t size = kSize;
  for (const Buffer& buffer : buffers) size = std::min(size, SizeOf(buffer));
  Stmt block = Fill(out, buffers.back(), 1, size);
  for (std::size_t k = buffers.size(); k-- > 0;) {
    const Stmt fill = Fill(buffers[k], k == 0 ? in : buffers[k - 1], 2, size);
    block = Allocate(buffers[k], Seq({fill, block}));
  }
  return block;
}

std::vector<std::int64_t> Result(const Stmt& stmt) {
  Interpreter interpreter;
  std::vector<std::int64_t> elements(kSize);
  for (std::size_t k = 0; k < elements.size(); ++k) elements[k] = static_cast<int>(k * k % 101);
  interpreter.Set(in, elements);
  interpreter.Set(out, std::vector<std::int64_t>(kSize, -7));
  interpreter.Execute(stmt);
  return interpreter.Of(out);
}

// What is allocated, in order: name and elements.
std::vector<std::string> Allocated(const Stmt& stmt) {
  std::vector<std::string> names;
  VisitStmts(stmt, [&](const Stmt& s) {
    if (const auto* n = s.As<AllocateNode>())
      names.push_back(StrCat(n->buffer->name, " ", SizeOf(n->buffer)));
  });
  return names;
}

struct Case {
  const char* name;
  std::vector<Buffer> chain;
  std::vector<std::string> allocated;
};
void PrintTo(const Case& c, std::ostream* stream) { *stream << c.name; }

class ShareMemoryTest : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(ShouldChange, ShareMemoryTest,
                         ::testing::Values(Case{"EveryOtherOneOfAChain",
                                                {Made("a"), Made("b"), Made("c"), Made("d"),
                                                 Made("e")},
                                                {"a 1024", "b 1024"}},
                                           Case{"ALargerOneMakesThePlaceLarger",
                                                {Made("a", 600), Made("b", 600), Made("c", 700)},
                                                {"a 700", "b 600"}},
                                           Case{"SmallerOnesTakeLargerPlaces",
                                                {Made("a", 1000), Made("b", 600), Made("c", 800),
                                                 Made("d", 520), Made("e", 790)},
                                                {"a 1000", "b 600"}}),
                         [](const auto& i) { return i.param.name; });
INSTANTIATE_TEST_SUITE_P(
    ShouldNotChange, ShareMemoryTest,
    ::testing::Values(Case{"TwoThatAreUsedTogether", {Made("a"), Made("b")}, {"a 1024", "b 1024"}},
                      Case{"OtherElementTypes",
                           {Made("a"), Made("b"), Made("c", kSize, Int32)},
                           {"a 1024", "b 1024", "c 1024"}},
                      Case{"OtherKindsOfMemory",
                           {Made("a"), Made("b"), Made("c", kSize, Int64, Memory::kStack)},
                           {"a 1024", "b 1024", "c 1024"}},
                      Case{"SmallOnes",
                           {Made("a", 511), Made("b", 511), Made("c", 511)},
                           {"a 511", "b 511", "c 511"}}),
    [](const auto& i) { return i.param.name; });

TEST_P(ShareMemoryTest, Chains) {
  const Stmt chain = Chain(GetParam().chain);
  const Stmt shared = ShareMemory(chain);
  EXPECT_EQ(Allocated(shared), GetParam().allocated);
  EXPECT_EQ(Result(shared), Result(chain));
  EXPECT_EQ(shared == chain, Allocated(chain) == GetParam().allocated);
}

TEST(ShareMemoryBlockTest, TheSmallestPlaceThatFitsOrElseTheLargestGrows) {
  const std::vector<std::pair<std::int64_t, std::vector<std::string>>> cases = {
      {520, {"a 1000", "b 600"}}, {800, {"a 1000", "b 600"}}, {1020, {"a 1020", "b 600"}}};
  for (const auto& [size, allocated] : cases) {
    const Buffer a = Made("a", 1000), b = Made("b", 600), c = Made("c", size);
    const Stmt last = Allocate(c, Seq({Fill(c, in, 1), Fill(out, c, 1)}));
    const Stmt block = Allocate(
        a, Seq({Fill(a, in, 1), Allocate(b, Seq({Fill(b, a, 1), Fill(out, b, 1), last}))}));
    const Stmt shared = ShareMemory(block);
    EXPECT_EQ(Allocated(shared), allocated);
    const std::string place = size == 520 ? "b[" : "a[";
    EXPECT_NE(Print(shared).rfind(place), std::string::npos);
    EXPECT_GT(Print(shared).rfind(place), Print(shared).rfind(size == 520 ? "a[" : "b["));
    EXPECT_EQ(Result(shared), Result(block));
  }
}

TEST(ShareMemoryBlockTest, WhatIsReadAgainLaterStays) {
  const Buffer a = Made("a"), b = Made("b"), c = Made("c");
  const Stmt block = Allocate(
      a,
      Seq({Fill(a, in, 1),
           Allocate(b, Seq({Fill(b, a, 1), Allocate(c, Seq({Fill(c, b, 1), Fill(out, a, 0)}))}))}));
  EXPECT_TRUE(ShareMemory(block) == block);
}

TEST(ShareMemoryBlockTest, BodiesOfLoopsAreBlocksOfTheirOwn) {
  const Var t("t");
  const Stmt loop = For(t, 0, 3, ForKind::kSerial, Chain({Made("a"), Made("b"), Made("c")}));
  const Stmt shared = ShareMemory(Seq({Fill(out, in, 0), loop}));
  EXPECT_EQ(Allocated(shared), (std::vector<std::string>{"a 1024", "b 1024"}));
  EXPECT_EQ(Result(shared), Result(loop));
}

// As the last turns of a loop are when they are taken out of it.
TEST(ShareMemoryBlockTest, ALoopThatAllocatesABufferOfTheBlockHasItsOwn) {
  const Buffer a = Made("a"), b = Made("b");
  const Var t("t");
  const Stmt turn = Allocate(b, Seq({Fill(b, in, 1), Fill(out, b, 1)}));
  const Stmt block = Allocate(
      a, Seq({Fill(a, in, 1), Fill(out, a, 1), For(t, 0, 2, ForKind::kParallel, turn), turn}));
  const Stmt shared = ShareMemory(block);
  EXPECT_EQ(Allocated(shared), (std::vector<std::string>{"a 1024", "b 1024"}));
  EXPECT_NE(Print(shared).rfind("a["), std::string::npos);
  EXPECT_GT(Print(shared).rfind("a["), Print(shared).rfind("b["));
  EXPECT_EQ(Result(shared), Result(block));
}

TEST(ShareMemoryBlockTest, AddressesAreUses) {
  const Buffer a = Made("a"), b = Made("b"), c = Made("c");
  const Stmt last = Evaluate(Address(a, {Expr(3)}));
  const Stmt block = Allocate(
      a, Seq({Fill(a, in, 1),
              Allocate(b, Seq({Fill(b, a, 1), Allocate(c, Seq({Fill(c, b, 1), last}))}))}));
  EXPECT_TRUE(ShareMemory(block) == block);
}

TEST(ShareMemoryBlockTest, BuffersOfOneNameAreTold) {
  const Stmt chain = Chain({Made("a"), Made("a"), Made("a"), Made("a")});
  const Stmt shared = ShareMemory(chain);
  EXPECT_EQ(Allocated(shared), (std::vector<std::string>{"a 1024", "a 1024"}));
  EXPECT_EQ(Result(shared), Result(chain));
}

TEST(ShareMemoryBlockTest, AnUnknownSizeStays) {
  const Var n("n");
  const Buffer a = Buffer::Make("a", Int64, {Expr(n)}), b = Made("b"), c = Made("c");
  const Stmt block = Allocate(b, Seq({Fill(b, in, 1), Fill(out, b, 1),
                                      Allocate(a, Store(a, IntImm(Int64, 1), {Expr(0)}))}));
  EXPECT_TRUE(ShareMemory(block) == block);
}

TEST(ShareMemoryBlockTest, NothingIsNothing) {
  const Stmt nothing = Seq({});
  EXPECT_TRUE(ShareMemory(nothing) == nothing);
  const Stmt unused = Allocate(Made("a"), Allocate(Made("b"), Fill(out, in, 1)));
  EXPECT_EQ(Result(ShareMemory(unused)), Result(unused));
}

}  // namespace
}  // namespace tenon::loop
