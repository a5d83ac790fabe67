// Joins of more fields than the stack is deep.
#include <string>

#include <gtest/gtest.h>

#include "tenon/tests/strategies/graph_testing.h"

namespace tenon::strategies {
namespace {

TEST(WideJoinTest, ExpressionsAreNotAsDeepAsThereAreFields) {
  constexpr int kFields = 20000;
  std::string fields = "%x";
  for (int i = 1; i < kFields; ++i) fields += ", %x";
  const std::string text =
      "def @main(%x: Tensor[(1), float32]) { concatenate((" + fields + "), axis=0) }";
  const NDArray x = NDArray::FromVector<float>({1}, {2.5F});
  const NDArray joined = testing_graphs::Interpreted(testing_graphs::Parsed(text), {{"x", x}})[0];
  ASSERT_EQ(joined.size(), kFields);
  for (std::int64_t i = 0; i < kFields; ++i) ASSERT_EQ(joined.data<float>()[i], 2.5F);
}

}  // namespace
}  // namespace tenon::strategies
