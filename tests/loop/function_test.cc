#include "tenon/loop/function.h"

#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace tenon::loop {
namespace {

Stmt Storing(std::int64_t value) {
  return Store(Buffer::Make("B", Int64, {1}), IntImm(Int64, value), {Expr(0)});
}

TEST(BodyTest, AStatementIsABody) {
  const Stmt stmt = Storing(1);
  const Function function{.name = "f", .body = stmt};
  EXPECT_EQ(function.body.stmt(), stmt);
  EXPECT_FALSE(Function().body.stmt());
}

TEST(BodyTest, IsMadeWhenItIsFirstAskedForAndThenKept) {
  int made = 0;
  const Body body([&] { return Storing(++made); });
  const Body copy = body;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(made, 0);
  const Stmt first = body;
  EXPECT_EQ(copy.stmt(), first);
  EXPECT_EQ(made, 1);
}

TEST(BodyTest, AFailureIsThrownEachTime) {
  int tried = 0;
  const Body body([&]() -> Stmt { throw std::runtime_error(std::to_string(++tried)); });
  EXPECT_THROW(body.stmt(), std::runtime_error);
  EXPECT_THROW(body.stmt(), std::runtime_error);
  EXPECT_EQ(tried, 2);
}

TEST(BodyTest, ThreadsGetTheSameStatement) {
  const Body body([] { return Storing(1); });
  Stmt there;
  std::thread other([&] { there = body; });
  const Stmt here = body;
  other.join();
  EXPECT_EQ(here, there);
}

}  // namespace
}  // namespace tenon::loop
