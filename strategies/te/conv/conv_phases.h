// The phases of a transposed convolution: the convolutions that it is made of. Only files in
// strategies/te/ include this header.
//
// With stride s, result t (counted before padding is dropped) lies at s * q + r. Along one axis it
// is reached by the kernel taps r, r + s, ... and the elements q, q - 1, ... So the results of one
// phase r are a convolution of stride 1 with every s-th tap, and all phases together are one of s
// times the filters over the image of the q. (Shi et al., "Is the deconvolution layer the same as a
// convolutional layer?", 2016.)
//
// Phases with fewer taps than others get taps of weight zero. So an infinite element gives NaN in
// results just beyond those that its kernel reaches.
#ifndef TENON_STRATEGIES_TE_CONV_CONV_PHASES_H_
#define TENON_STRATEGIES_TE_CONV_CONV_PHASES_H_

#include <vector>

#include "tenon/ops/conv/conv_rules.h"
#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {

// One spatial axis.
struct Phases {
  std::int64_t stride, dilation;
  std::int64_t taps;     // of the kernel
  std::int64_t span;     // taps with those between dilated ones
  std::int64_t steps;    // taps of a phase
  std::int64_t first;    // the least q
  Size count;            // of the q
  std::int64_t dropped;  // results before the first one that is kept
};

// `taps` are those of the kernel along spatial axis `d`, `result` is the extent of the result along
// it.
Phases PhasesOf(const ops::ConvRules& rules, std::size_t d, std::int64_t taps, const Size& result);

// The weight of filter (output, phase) at a step: the tap that the phase has there, or zero.
// `lanes` are the coordinates along the weight's axes of blocks, if it has them.
te::Expr PhaseWeight(const std::vector<Phases>& axes, const std::vector<te::Expr>& at,
                     const te::Expr& phase, const std::vector<te::Expr>& steps,
                     const std::vector<std::size_t>& kernel, const te::Tensor& weight,
                     DataType dtype, const std::vector<te::Expr>& lanes);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_CONV_PHASES_H_
