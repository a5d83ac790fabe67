// Names of fast mathematics.
#include "tenon/passes/simplify/fast_math.h"

#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

TEST(FastMathTest, FourOperatorsGetTheirFastNamesAndKeepTheirValues) {
  const ir::Module before =
      WithConstants("%x: Tensor[(3, 5), float32]", "nn.softmax(tanh(erf(exp(%x))), axis=0)");
  const ir::Module after = FastMath(before);
  EXPECT_EQ(Body(after),
            "%0 = fast_exp(%x);\n%1 = fast_erf(%0);\n%2 = fast_tanh(%1);\n"
            "nn.fast_softmax(%2, axis=0)\n");
  ExpectSameValues(before, after, 0);
  EXPECT_EQ(InferType(after), after);
}

TEST(FastMathTest, OthersStay) {
  const ir::Module module =
      WithConstants("%x: Tensor[(3, 5), float32]", "nn.log_softmax(sigmoid(log(%x)))");
  EXPECT_EQ(FastMath(module), module);
}

}  // namespace
}  // namespace tenon::passes
