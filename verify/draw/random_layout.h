// Random layouts of images and convolution kernels, for random modules and as arguments of
// ConvertLayout.
//
//   RandomOrder("NCHW", random) == "HNCW";  RandomWish(random) == "nn.conv2d=NCHW8c"
#ifndef TENON_VERIFY_DRAW_RANDOM_LAYOUT_H_
#define TENON_VERIFY_DRAW_RANDOM_LAYOUT_H_

#include <string>

#include "tenon/verify/array_values.h"

namespace tenon::verify {

// The letters in the given order, with channels last ("NHWC"; "HWIO" for a kernel), or in any
// order.
std::string RandomOrder(const std::string& letters, Random& random);
// The extents of `letters`, given in their order, in the order of `layout`.
Shape InOrder(const Shape& extents, const std::string& letters, const std::string& layout);
// A text that AddDesiredLayout accepts.
std::string RandomWish(Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_LAYOUT_H_
