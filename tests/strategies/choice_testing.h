// Convolutions and products with what follows them, and how their kernels were chosen, for tests of
// strategies.
//
//   EXPECT_THAT(Explanation(ConvThen("nn.relu(%0)")), HasSubstr("onednn: chosen"));
#ifndef TENON_TESTS_STRATEGIES_CHOICE_TESTING_H_
#define TENON_TESTS_STRATEGIES_CHOICE_TESTING_H_

#include <string>

#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::testing_choices {

// One convolution with what follows it; %r has the type of its result, %b one value a channel.
inline ir::Module ConvThen(const std::string& rest) {
  return testing_graphs::Parsed(
      StrCat("def @main(%x: Tensor[(2, 5, 9, 7), float32], "
             "%w: Tensor[(8, 5, 3, 3), float32], "
             "%r: Tensor[(2, 8, 9, 7), float32], "
             "%b: Tensor[(8), float32]) {\n"
             "  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);\n",
             rest, "\n}"));
}
inline ir::Module DenseOf(int rows, int columns, const std::string& rest) {
  return testing_graphs::Parsed(
      StrCat("def @main(%x: Tensor[(", rows, ", 17), float32], %w: Tensor[(", columns,
             ", 17), float32], %r: Tensor[(", rows, ", ", columns, "), float32], %b: Tensor[(",
             columns, "), float32]) {\n  %0 = nn.dense(%x, %w);\n", rest, "\n}"));
}
inline ir::Module DenseThen(const std::string& rest) { return DenseOf(5, 8, rest); }

// Of all kernels, or the refusal.
inline std::string Explanation(const ir::Module& module,
                               LibraryChoice library = LibraryChoice::kLibrary) {
  const auto lowered = Lower(module, {.library = library});
  if (!lowered.ok()) return std::string(lowered.status().message());
  std::string text;
  for (const LoweredKernel& kernel : lowered->kernels) text += kernel.choice.Explanation();
  return text;
}

}  // namespace tenon::testing_choices

#endif  // TENON_TESTS_STRATEGIES_CHOICE_TESTING_H_
