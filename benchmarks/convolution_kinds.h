// The convolutions that tables of float32, of bytes and of bfloat16 have in common, and the
// products of the latter two.
#ifndef TENON_BENCHMARKS_CONVOLUTION_KINDS_H_
#define TENON_BENCHMARKS_CONVOLUTION_KINDS_H_

#include <cstdint>

#include "tenon/benchmarks/onednn_peer.h"
#include "tenon/compiler/compile.h"
#include "tenon/support/strings.h"

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

struct Product {
  std::int64_t rows, columns, depth;
  double flops() const { return 2.0 * static_cast<double>(rows * columns * depth); }
};

// Calls add(name, work, library) for every convolution and product of the tables of narrow types,
// by generated code and as it runs by default.
template <typename Add>
void ForEachNarrowWork(const Add& add) {
  const auto add_both = [&](const std::string& name, const auto& work) {
    add(StrCat(name, ", generated"), work, LibraryChoice::kTe);
    add(name, work, LibraryChoice::kAuto);
  };
  for (const Kind& kind : kKinds) {
    for (const Image& image : kImages) {
      add_both(
          StrCat(kind.name, ", ", image.channels, " channels of ", image.size, " x ", image.size),
          ShapeOf(kind, image));
    }
  }
  for (const Product& product : {Product{1, 1000, 2048}, Product{16, 768, 768},
                                 Product{128, 768, 768}, Product{512, 3072, 768}})
    add_both(StrCat("product of ", product.rows, " x ", product.columns, " x ", product.depth),
             product);
}

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_CONVOLUTION_KINDS_H_
