#include "tenon/support/ref.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace tenon {
namespace {

struct Link : RefCounted {
  explicit Link(Ref<const Link> tail) : next(std::move(tail)) { ++alive; }
  ~Link() override { --alive; }
  Ref<const Link> next;
  static inline std::int64_t alive = 0;
};

TEST(RefTest, CopiesShareOneNode) {
  Ref<const Link> a = MakeRef<Link>(nullptr);
  EXPECT_TRUE(a->unique());
  Ref<const Link> b = a;
  EXPECT_FALSE(a->unique());
  EXPECT_EQ(a, b);
  b = nullptr;
  EXPECT_TRUE(a->unique());
}

TEST(RefTest, FreesAMillionLongChainWithoutDeepRecursion) {
  Ref<const Link> head;
  for (int i = 0; i < 1000000; ++i) head = MakeRef<Link>(std::move(head));
  EXPECT_EQ(Link::alive, 1000000);
  head = nullptr;
  EXPECT_EQ(Link::alive, 0);
}

}  // namespace
}  // namespace tenon
