// oneDNN at its best, as the peer of generated kernels: every layout that it offers is tried, and
// reorders between layouts are not counted.
#ifndef TENON_BENCHMARKS_ONEDNN_PEER_H_
#define TENON_BENCHMARKS_ONEDNN_PEER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "tenon/support/ndarray.h"

namespace tenon::benchmarks {

// A square convolution, whose result has (size + 2 * padding - kernel) / stride + 1 rows and
// columns.
struct ConvolutionShape {
  std::int64_t in_channels, out_channels, size, kernel, stride = 1, padding = 0, groups = 1;
  bool winograd = false;  // whether Winograd's algorithm may be taken
  std::int64_t out_size() const { return (size + 2 * padding - kernel) / stride + 1; }
  double flops() const {
    return 2.0 * static_cast<double>(out_channels * out_size() * out_size()) *
           static_cast<double>(in_channels / groups * kernel * kernel);
  }
};

// Of images by weights of the same type, float32 or bfloat16, followed by relu; or of uint8 images
// by int8 weights, whose sums are multiplied by `scale`, rounded, and made uint8.
class OneDnnConvolution {
 public:
  // `x` is (1, in_channels, size, size), `w` (out_channels, in_channels / groups, kernel, kernel).
  // Times the algorithms in blocked, channels-last and channels-first layouts on the threads that
  // the caller has set, and keeps the fastest that is not reference code.
  OneDnnConvolution(const ConvolutionShape& shape, const NDArray& x, const NDArray& w,
                    float scale = 1);
  ~OneDnnConvolution();

  void Call() const;
  std::string implementation() const;  // "blocked brgconv:avx512_core"
  NDArray Result() const;              // of the last call, channels first

 private:
  struct Candidate;
  std::unique_ptr<Candidate> best_;
  ConvolutionShape shape_;
  DataType dtype_;
};

// c = a * b, row-major: a is rows x depth, b depth x columns or, when transposed, columns x depth.
void OneDnnSgemm(std::int64_t rows, std::int64_t columns, std::int64_t depth, const float* a,
                 const float* b, bool b_transposed, float* c);

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_ONEDNN_PEER_H_
