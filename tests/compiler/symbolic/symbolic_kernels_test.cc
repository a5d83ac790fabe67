#include "tenon/compiler/symbolic/symbolic_kernels.h"

#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using testing_graphs::Parsed;

// Bodies that are made when they are asked for, if at all, are those that are made at once.
TEST(SymbolicKernelsTest, AKernelThatIsDeferredIsTheOneThatIsLoweredAtOnce) {
  const ir::Module modules[] = {
      Parsed("def @main(%x: Tensor[(n, 17), float32], %w: Tensor[(33, 17), float32]) {"
             " nn.softmax(nn.dense(%x, %w)) }"),
      Parsed("def @main(%x: Tensor[(1, 16, h, w), float32], %w: Tensor[(32, 16, 3, 3), float32]) {"
             " nn.relu(nn.conv2d(%x, %w, padding=[1, 1], channels=32, kernel_size=[3, 3])) }"),
      Parsed("def @main(%x: Tensor[(n, m), int32]) { (sum(%x, axis=[1]), transpose(%x)) }")};
  for (const ir::Module& module : modules) {
    const ir::Module fused = ValueOrThrow(LowerKernels(module)).module;
    const auto made = [&](bool defer) {
      strategies::StrategyOptions options;
      options.lowering.defer = defer;
      return compiler::LowerSymbolicKernels(fused, options);
    };
    const compiler::SymbolicKernels at_once = made(false), deferred = made(true);
    ASSERT_EQ(deferred.list.size(), at_once.list.size());
    for (std::size_t i = 0; i < at_once.list.size(); ++i) {
      const auto& a = std::get<loop::Function>(at_once.list[i].choice.built.kernel);
      const auto& b = std::get<loop::Function>(deferred.list[i].choice.built.kernel);
      EXPECT_EQ(a.origin, "");
      EXPECT_NE(b.origin, "");
      EXPECT_EQ(loop::Print(b), loop::Print(a));
    }
  }
}

// Whole tiles are shuffled, also where an edge is not known; nothing is gathered where rows are
// full.
TEST(SymbolicKernelsTest, TilesOfATranspositionAreLoadedByRows) {
  strategies::StrategyOptions options;
  options.lowering.target.vector_bytes = 64;
  for (const char* type : {"(n, 64, l)", "(n, l, 64)", "(n, m, l)"}) {
    const ir::Module module = Parsed(
        StrCat("def @main(%x: Tensor[", type, ", float32]) { transpose(%x, axes=[0, 2, 1]) }"));
    const compiler::SymbolicKernels kernels =
        compiler::LowerSymbolicKernels(ValueOrThrow(LowerKernels(module)).module, options);
    const std::string loops =
        loop::Print(std::get<loop::Function>(kernels.list.at(0).choice.built.kernel));
    EXPECT_THAT(loops, ::testing::HasSubstr("shuffle(")) << type;
    EXPECT_THAT(loops, ::testing::Not(::testing::HasSubstr("ramp(0, 1, 16) *"))) << type;
  }
}

}  // namespace
}  // namespace tenon
