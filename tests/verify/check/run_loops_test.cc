// The interpreter of loops, against a few lines that say what is right.
#include "tenon/verify/check/run_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/stmt.h"
#include "tenon/support/error.h"
#include "tenon/te/math.h"

namespace tenon::verify {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ForKind;
using loop::Load;
using loop::Stmt;
using loop::Store;
using loop::Var;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Var i("i"), j("j");

template <typename T>
std::vector<T> Ran(const Buffer& out, const Stmt& body, std::vector<std::int64_t> scalars = {},
                   std::vector<Var> vars = {}) {
  Shape shape;
  for (const Expr& extent : out->shape)
    shape.push_back(extent.As<loop::IntImmNode>() != nullptr ? extent.As<loop::IntImmNode>()->value
                                                             : scalars.at(0));
  const NDArray array = NDArray::Zeros(shape, out->dtype);
  RunLoops({.name = "f", .buffers = {out}, .scalars = std::move(vars), .body = body, .origin = {}},
           {array}, scalars);
  return {array.data<T>(), array.data<T>() + NumElements(shape)};
}

TEST(RunLoopsTest, LoopsRunInOrderFromTheirStart) {
  const Buffer out = Buffer::Make("out", Int32, {5});
  const Stmt step = Store(out, Load(out, {i}) * 2 + loop::Cast(Int32, i), {i + 1});
  EXPECT_THAT(Ran<std::int32_t>(out, loop::For(i, 1, 3, ForKind::kSerial, step)),
              ElementsAre(0, 0, 1, 4, 11));
  EXPECT_THAT(Ran<std::int32_t>(out, loop::For(i, 1, 0, ForKind::kSerial, step)),
              ElementsAre(0, 0, 0, 0, 0));
}

TEST(RunLoopsTest, ExtentsAreScalarsAndConditionsChoose) {
  const Var n("n");
  const Buffer out = Buffer::Make("out", Float32, {n, 2});
  const Stmt store = loop::If(i < j, Store(out, 1.0F, {i, j}), Store(out, 2.0F, {i, j}));
  const Stmt body =
      loop::For(i, 0, n, ForKind::kParallel, loop::For(j, 0, 2, ForKind::kVectorized, store));
  EXPECT_THAT(Ran<float>(out, body, {3}, {n}), ElementsAre(2, 1, 2, 2, 2, 2));
  EXPECT_THAT(Ran<float>(out, body, {0}, {n}), ElementsAre());
}

TEST(RunLoopsTest, AVariableKeepsWhatItWasWhenItWasNamed) {
  const Buffer out = Buffer::Make("out", UInt8, {2});
  const Var v("v", UInt8);
  const Stmt body = loop::LetStmt(
      v, Load(out, {0}) + te::Cast(UInt8, 250),
      loop::Seq({Store(out, te::Cast(UInt8, 7), {0}), Store(out, v + te::Cast(UInt8, 10), {1})}));
  EXPECT_THAT(Ran<std::uint8_t>(out, body), ElementsAre(7, 4));  // it wraps around
}

TEST(RunLoopsTest, MemoryOfItsOwnIsFilledAsAsked) {
  const Buffer out = Buffer::Make("out", UInt8, {1}), own = Buffer::Make("own", UInt8, {3});
  const Stmt body = loop::Allocate(own, Store(out, Load(own, {2}), {0}));
  for (const unsigned char fill : {0, 0x4B}) {
    const NDArray array = NDArray::Zeros({1}, UInt8);
    RunLoops({.name = "f", .buffers = {out}, .scalars = {}, .body = body, .origin = {}}, {array},
             {}, fill);
    EXPECT_EQ(array.data<std::uint8_t>()[0], fill);
  }
}

TEST(RunLoopsTest, AnAccessOutsideNamesTheBufferAndTheIndex) {
  const Buffer out = Buffer::Make("out", Float32, {4});
  for (const Stmt& body : {Store(out, 1.0F, {i - 1}), Store(out, Load(out, {i + 4}), {i})}) {
    try {
      Ran<float>(out, loop::For(i, 0, 4, ForKind::kSerial, body));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), absl::StatusCode::kOutOfRange);
      EXPECT_THAT(error.message(), AllOf(HasSubstr("out"), HasSubstr("index ")));
    }
  }
}

}  // namespace
}  // namespace tenon::verify
