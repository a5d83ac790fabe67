#include "tenon/verify/draw/relative_module.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tenon/ir/text_format.h"
#include "tenon/passes/infer_type.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::verify {
namespace {

TEST(RelativeModuleTest, OperatorsAttributesAndConstantsAreOthersInTheirTurn) {
  const ir::Module module =
      passes::InferType(Parse("def @main(%x: Tensor[(3, 3), float32]) { "
                              "tanh(add(nn.softmax(%x), 0.5f)) }"));
  std::set<std::string> made;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    if (const auto other = RelativeOf(module, random)) made.insert(ir::PrintModule(*other));
  }
  const auto has = [&](const char* text) {
    return std::any_of(made.begin(), made.end(),
                       [&](const std::string& one) { return one.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(has("sigmoid"));
  EXPECT_TRUE(has("multiply"));
  EXPECT_TRUE(has("0.25f"));
  EXPECT_TRUE(has("axis=0"));
  EXPECT_FALSE(made.contains(ir::PrintModule(module)));
}

TEST(RelativeModuleTest, IntegersAreOthersInTheirTurn) {
  const ir::Module module =
      passes::InferType(Parse("def @main(%x: Tensor[(3), int32]) { add(%x, 6) }"));
  std::set<std::string> made;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    if (const auto other = RelativeOf(module, random)) made.insert(ir::PrintModule(*other));
  }
  EXPECT_TRUE(std::any_of(made.begin(), made.end(), [](const std::string& one) {
    return one.find("add(%x, 7") != std::string::npos;
  }));
}

}  // namespace
}  // namespace tenon::verify
