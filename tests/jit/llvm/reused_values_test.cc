// What emitted functions compute and load again: a load that is missing would give an old value.
#include "tenon/jit/llvm/reused_values.h"

#include <vector>

#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/loop/stmt.h"

namespace tenon::jit {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ForKind;
using loop::Load;
using loop::Seq;
using loop::Stmt;
using loop::Store;
using loop::Var;

TEST(ReusedValuesScopeTest, AValueIsMadeOnceInAScopeAndThoseInsideIt) {
  ReusedValues values;
  int numbers[4] = {}, made = 0;
  // Nothing reads the values.
  const auto get = [&](int detail, std::uint64_t time = 0) {
    return values.Get({.kind = ReusedValues::Kind::kLoad, .detail = detail, .time = time},
                      [&] { return reinterpret_cast<llvm::Value*>(&numbers[made++]); });
  };
  llvm::Value* const outer = get(1);
  {
    const ReusedValues::Scope scope(values);
    EXPECT_EQ(get(1), outer);
    EXPECT_EQ(get(2), get(2));
    EXPECT_EQ(made, 2);
  }
  EXPECT_NE(get(2), outer);
  EXPECT_EQ(made, 3);  // that of the scope is gone
  EXPECT_EQ(get(1), outer);
  EXPECT_NE(get(1, 5), outer);
  EXPECT_EQ(made, 4);
}

TEST(ReusedValuesScopeTest, LoadsAreOfOneTimeUntilTheirBufferMayChange) {
  ReusedValues values;
  const int a = 0, b = 0;
  const std::uint64_t first = values.TimeOf(&a);
  values.Store(&b);
  EXPECT_EQ(values.TimeOf(&a), first);
  values.Store(&a);
  const std::uint64_t second = values.TimeOf(&a);
  EXPECT_NE(second, first);
  values.ChangeMemory();
  const std::uint64_t third = values.TimeOf(&a);
  EXPECT_NE(third, second);
  { const ReusedValues::Scope scope(values); }
  EXPECT_NE(values.TimeOf(&a), third);
}

class ReusedValuesTest : public ::testing::Test {
 protected:
  loop::Function Of(const Stmt& body) const {
    return {.name = "f", .buffers = {a_, b_}, .scalars = {}, .body = body, .origin = {}};
  }
  // b after a run with a = 10, 11, ... and b of zeros.
  std::vector<float> Run(const Stmt& body) const {
    const NDArray a = NDArray::Zeros({8}, Float32), b = NDArray::Zeros({8}, Float32);
    for (int i = 0; i < 8; ++i) a.data<float>()[i] = 10.0F + static_cast<float>(i);
    const Kernel kernel = Compile(Of(body)).value();
    EXPECT_TRUE(kernel(a, b).ok());
    return {b.data<float>(), b.data<float>() + 8};
  }
  Expr A(const Expr& i) const { return Load(a_, {i}); }
  Expr B(const Expr& i) const { return Load(b_, {i}); }
  Stmt PutA(const Expr& i, const Expr& value) const { return Store(a_, value, {i}); }
  Stmt PutB(const Expr& i, const Expr& value) const { return Store(b_, value, {i}); }

  const Buffer a_ = Buffer::Make("A", Float32, {8}), b_ = Buffer::Make("B", Float32, {8});
  const Var i_{"i"};
};

TEST_F(ReusedValuesTest, StatementsShareIndicesAndLoads) {
  const auto place = [&](int step) { return loop::FloorDiv(i_ * 3, 4) + step; };
  const Stmt body =
      loop::For(i_, 0, 4, ForKind::kSerial,
                Seq({PutB(place(0), A(place(0)) + 1.0F), PutB(place(1), A(place(0)) + 2.0F)}));
  EXPECT_EQ(Run(body), (std::vector<float>{11, 12, 13, 14, 0, 0, 0, 0}));
}

TEST_F(ReusedValuesTest, WhatAStoreMayChangeIsLoadedAgain) {
  const Stmt body = Seq({PutB(0, A(1)), PutA(1, 5.0F), PutB(1, A(1)), PutB(2, B(0)), PutB(0, 7.0F),
                         PutB(3, B(0)), PutB(4, A(1))});
  EXPECT_EQ(Run(body), (std::vector<float>{7, 5, 11, 7, 5, 0, 0, 0}));
}

TEST_F(ReusedValuesTest, ALoopLoadsAgainWhatItStoresFurtherDown) {
  const Stmt body =
      Seq({PutB(0, A(0)),
           loop::For(i_, 0, 3, ForKind::kSerial, Seq({PutB(i_ + 1, A(0)), PutA(0, A(0) + 1.0F)})),
           PutB(4, A(0))});
  EXPECT_EQ(Run(body), (std::vector<float>{10, 10, 11, 12, 13, 0, 0, 0}));
}

TEST_F(ReusedValuesTest, WhatABranchComputesIsNotThereAfterIt) {
  const Expr place = loop::FloorMod(i_ * 5, 3);
  const Stmt body =
      loop::For(i_, 0, 4, ForKind::kSerial,
                Seq({loop::If(A(i_) > 11.5F, PutB(i_, A(place)), PutB(i_, A(place) * 2.0F)),
                     PutB(i_ + 4, A(place))}));
  EXPECT_EQ(Run(body), (std::vector<float>{20, 24, 11, 10, 10, 12, 11, 10}));
}

TEST_F(ReusedValuesTest, AParallelLoopComputesItsOwn) {
  const Expr sum = A(2) + A(3);
  const Stmt body =
      Seq({PutB(0, sum), loop::For(i_, 1, 6, ForKind::kParallel, PutB(i_, A(2) + A(i_))),
           PutB(7, A(2))});
  EXPECT_EQ(Run(body), (std::vector<float>{25, 23, 24, 25, 26, 27, 28, 12}));
}

TEST_F(ReusedValuesTest, WhatAParallelLoopStoresIsLoadedAgainAfterIt) {
  const Stmt body =
      Seq({PutB(0, A(2)), loop::For(i_, 0, 6, ForKind::kParallel, PutA(i_, B(7) + 1.0F)),
           PutB(1, A(2))});
  EXPECT_EQ(Run(body), (std::vector<float>{12, 1, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace tenon::jit
