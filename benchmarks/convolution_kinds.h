// The convolutions that tables of float32, of bytes and of bfloat16 have in common.
#ifndef TENON_BENCHMARKS_CONVOLUTION_KINDS_H_
#define TENON_BENCHMARKS_CONVOLUTION_KINDS_H_

#include <cstdint>

#include "tenon/benchmarks/onednn_peer.h"

namespace tenon::benchmarks {

struct Kind {
  const char* name;
  std::int64_t kernel, stride, padding;
  bool depthwise = false;
  bool winograd = false;
};

inline constexpr Kind kKinds[] = {{"3x3", 3, 1, 1},
                                  {"3x3 stride 2", 3, 2, 1},
                                  {"1x1", 1, 1, 0},
                                  {"depthwise 3x3", 3, 1, 1, true}};
// As it runs unless plain sums are asked for.
inline constexpr Kind kByWinograd = {"3x3 by Winograd", 3, 1, 1, false, true};

struct Image {
  std::int64_t channels, size;
};

inline constexpr Image kImages[] = {{64, 56}, {128, 28}, {256, 14}};

inline ConvolutionShape ShapeOf(const Kind& kind, const Image& image) {
  return {.in_channels = image.channels,
          .out_channels = image.channels,
          .size = image.size,
          .kernel = kind.kernel,
          .stride = kind.stride,
          .padding = kind.padding,
          .groups = kind.depthwise ? image.channels : 1,
          .winograd = kind.winograd};
}

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_CONVOLUTION_KINDS_H_
