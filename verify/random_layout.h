// Random layouts of images and convolution kernels, for random modules and for what ConvertLayout
// is asked for.
//
//   RandomOrder("NCHW", random) == "HNCW";  RandomWish(random) == "nn.conv2d=NCHW8c"
#ifndef TENON_VERIFY_RANDOM_LAYOUT_H_
#define TENON_VERIFY_RANDOM_LAYOUT_H_

#include <string>

#include "tenon/verify/array_values.h"

namespace tenon::verify {

// The letters as they stand, channels last ("NHWC"; of a kernel "HWIO") or in any order.
std::string RandomOrder(const std::string& letters, Random& random);
// The extents of `letters` as they stand in `layout`, an order of them.
Shape InOrder(const Shape& extents, const std::string& letters, const std::string& layout);
// What AddDesiredLayout takes.
std::string RandomWish(Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_RANDOM_LAYOUT_H_
