// Resampling along axes: what image.resize* and nn.upsampling have in common.
//
//   Tensor y = Resample(x, shape, Float32, {{.axis = 2, .in = 5, .out = 10, .scale = 2}}, how,
//                      call.target);
#ifndef TENON_STRATEGIES_TE_IMAGE_RESAMPLE_H_
#define TENON_STRATEGIES_TE_IMAGE_RESAMPLE_H_

#include <string>
#include <vector>

#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {

struct ResampledAxis {
  std::size_t axis;
  te::Expr in, out;           // extents, which may be expressions of variables
  double scale = 0;           // 0: out / in
  bool by_ratio = false;      // the scale is out / in, rounded to float64
  double start = 0, end = 1;  // the region of tf_crop_and_resize
};

// The values are those of ops/image/image_attrs.h.
struct Resampling {
  std::string method, coordinates, rounding;
  double cubic_alpha = -0.5;
  bool cubic_exclude = false;
  double extrapolation_value = 0;
};

// Throws Unimplemented for coordinates that need numbers as extents.
te::Tensor Resample(const te::Tensor& x, const std::vector<te::Expr>& shape, DataType dtype,
                    const std::vector<ResampledAxis>& axes, const Resampling& how,
                    const Target& target);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_IMAGE_RESAMPLE_H_
