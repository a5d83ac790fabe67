// What a transform is multiplied by is made with the kernel, not by it.
#include "tenon/loop/print.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

TEST(FourierTest, CosinesAndSinesArePackedWhenTheKernelIsMade) {
  const ir::Module module = Parsed(
      "def @main(%a: Tensor[(5, 16), float32], %b: Tensor[(5, 16), float32]) { dft(%a, %b) }");
  const Lowered lowered = ValueOrThrow(Lower(module));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const strategies::Built& built = lowered.kernels[0].choice.built;
  ASSERT_EQ(built.prepared.size(), 1U);
  EXPECT_TRUE(built.prepared[0].arguments.empty()) << "they depend on nothing";
  const std::string kernel = loop::Print(std::get<loop::Function>(built.kernel));
  EXPECT_THAT(kernel, Not(HasSubstr("cos(")));
  EXPECT_THAT(kernel, Not(HasSubstr("sin(")));
  const runtime::Inputs inputs = RandomInputs(module, 3);
  ExpectClose(ValueOrThrow(ValueOrThrow(Link(lowered)).Run(inputs)), Interpreted(module, inputs));
}

// Each of them has a table of its own, as the extents differ.
TEST(FourierTest, TransformsOfOneModelDoNotShareTheirTables) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(64), float32], %v: Tensor[(16), float32], %w: Tensor[(32), float32]) "
      "{ (stft(%x, %v), stft(%x, %w), stft(%x, %w, normalized=True)) }");
  const runtime::Inputs inputs = RandomInputs(module, 4);
  ExpectClose(testing_graphs::Outcome(module, inputs), Interpreted(module, inputs));
}

}  // namespace
}  // namespace tenon
