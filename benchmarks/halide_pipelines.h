// The same algorithms written for Halide and for Tenon, with the same schedule step by step. Both
// give a call on the buffers of the arrays. Images are (height, width), row-major, and shrink by
// what a stencil reads beyond its result.
//
//   Pipelines blur = Blur(2046, 4096, 2);
//   blur.tenon(x, y);  blur.halide(x, y);
#ifndef TENON_BENCHMARKS_HALIDE_PIPELINES_H_
#define TENON_BENCHMARKS_HALIDE_PIPELINES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tenon/support/ndarray.h"

namespace tenon::benchmarks {

// Arrays in the order of the pipeline's parameters, the result last.
using PipelineCall = std::function<void(const std::vector<NDArray>& arrays)>;

struct Pipelines {
  std::vector<Shape> shapes;  // of the arrays
  PipelineCall tenon;
  PipelineCall halide;
};

// A 3 x 3 box blur in two stages. `parallel`: rows in parallel on all cores.
Pipelines Blur(std::int64_t height, std::int64_t width, bool parallel);
// c = a * b for square matrices.
Pipelines Matmul(std::int64_t size, bool parallel);
// Three steps of a five-point diffusion.
Pipelines Diffusion(std::int64_t height, std::int64_t width, bool parallel);

// With its version.
std::string HalideName();

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_HALIDE_PIPELINES_H_
