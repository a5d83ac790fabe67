// FoldAffine: folds constant scales and shifts around convolutions and matrix products into weight
// and bias, so that at most one addition is left.
//
// What follows a convolution becomes a scale of the weight along its output channels and one
// addition: add, subtract, multiply, divide, negative and nn.bias_add with constants per channel,
// in any order and on either side. Positive scales go back through one relu or leaky_relu. What
// precedes the convolution goes into the weight along its input channels and, where there is no
// padding, into that addition. Works for any layout, groups and depthwise convolutions. With a
// weight that is not constant, scales join in one multiplication. Run SimplifyInference first to
// unpack batch norms.
//
// Constants are calculated in double precision and rounded once; a result that is not a normal
// number becomes zero. Values with several readers stay. Only float32 and float64. Requires checked
// types and leaves them.
//
//   FoldAffineReport report;
//   Module folded = FoldAffine(SimplifyInference(typed), &report);
#ifndef TENON_PASSES_AFFINE_FOLD_AFFINE_H_
#define TENON_PASSES_AFFINE_FOLD_AFFINE_H_

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

// "folding: 2 chains became shorter, ..." and one line per refusal; empty when there was nothing to
// do.
std::string ToText(const FoldAffineReport& report);
// {"folded", "flushed", "refusals": [...]}
std::string ToJson(const FoldAffineReport& report);

ir::Module FoldAffine(const ir::Module& module, FoldAffineReport* report = nullptr);
// The same in place. Weights that nobody else holds are freed one by one as they are replaced.
// Returns whether the module changed.
bool FoldAffine(ir::Module* module, FoldAffineReport* report = nullptr);

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_FOLD_AFFINE_H_
