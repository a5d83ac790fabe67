// FoldAffine: folds constant scales and shifts around convolutions and matrix products into weight
// and bias, so that one addition is left at most.
//
// What follows a convolution (add, subtract, multiply, divide, negative, nn.bias_add with constants
// per channel, in any order and on either side) becomes a scale of the weight along its output
// channels and one addition; positive scales go back through one relu or leaky_relu. What precedes
// it goes into the weight along its input channels and, where no padding is, into that addition.
// Any layout, groups and depthwise convolutions. With a weight that is no constant, scales join in
// one multiplication. Run SimplifyInference before it for batch norms.
//
// Constants are calculated in double precision and rounded once; what is no normal number then
// becomes zero. Values with several readers stay. float32 and float64 only. Requires checked types
// and leaves them.
//
//   FoldAffineReport report;
//   Module folded = FoldAffine(SimplifyInference(typed), &report);
#ifndef TENON_PASSES_FOLD_AFFINE_H_
#define TENON_PASSES_FOLD_AFFINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

struct FoldAffineReport {
  int folded = 0;                     // chains that became shorter
  std::int64_t flushed = 0;           // elements of constants that became zero
  std::vector<std::string> refusals;  // "multiply after nn.conv2d stays: why"
};

// "folding: 2 chains became shorter, ..." and a line a refusal; empty when nothing was to do.
std::string ToText(const FoldAffineReport& report);
// {"folded", "flushed", "refusals": [...]}
std::string ToJson(const FoldAffineReport& report);

ir::Module FoldAffine(const ir::Module& module, FoldAffineReport* report = nullptr);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FOLD_AFFINE_H_
