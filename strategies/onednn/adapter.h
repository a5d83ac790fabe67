// The one door to oneDNN: convolutions, matrix products, pooling and normalisations as callables,
// in Tenon's own terms.
//
// Weights that are known when the callable is made are packed then, once, into the layout that the
// primitive prefers. Other weights are packed in each call. A primitive that would run oneDNN's
// reference code is refused. All oneDNN calls stand in adapter*.cc, primitive.cc and library.h;
// what depends on the library's major version stands in v2/ and v3/.
//
//   Convolution conv{.batch = 1, .in_channels = 64, ...};
//   MadeKernel made = MakeConvolution(conv, weight, bias);
//   std::get<KernelPointer>(made)->implementation() == "onednn brgconv:avx512_core";
#ifndef TENON_STRATEGIES_ONEDNN_ADAPTER_H_
#define TENON_STRATEGIES_ONEDNN_ADAPTER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/jit/callable.h"
#include "tenon/strategies/built.h"
#include "tenon/support/ndarray.h"
#include "tenon/support/target.h"

namespace tenon::strategies::onednn {

// What is applied to each element of the result, in order.
struct PostOp {
  enum class Kind {
    kRelu,     // x > 0 ? x : alpha * x
    kClip,     // min(max(x, alpha), beta)
    kSigmoid,  // 1 / (1 + exp(-x))
    kTanh,
    kGelu,       // x * (1 + erf(x / sqrt(2))) / 2
    kSwish,      // x * sigmoid(alpha * x)
    kHardSwish,  // x * min(max(x + 3, 0), 6) / 6
    kLinear,     // alpha * x + beta
    kAddTensor,  // x + operand, an extra input of the result's shape and layout
    kMulTensor,  // x * operand, likewise
  };
  Kind kind;
  float alpha = 0;
  float beta = 0;
  friend bool operator==(const PostOp&, const PostOp&) = default;
};

enum class ActivationLayout { kNCHW, kNHWC };

// A 2-D convolution of float32. Spatial pairs are (height, width); weights are OIHW (groups: out,
// in / groups, height, width).
struct Convolution {
  std::int64_t batch = 1, in_channels = 0, out_channels = 0, groups = 1;
  std::array<std::int64_t, 2> in_size{}, kernel{}, out_size{};
  std::array<std::int64_t, 2> strides{1, 1}, dilation{1, 1}, pad_before{}, pad_after{};
  ActivationLayout layout = ActivationLayout::kNCHW;
  std::vector<PostOp> post_ops;
};

// A 2-D pooling of float32. What `pad_after` adds may be more than the operator's padding, for a
// last window that overhangs.
struct Pooling {
  enum class Kind {
    kMax,
    kMean,             // of the taps inside the image
    kMeanWithPadding,  // of all taps; padding is 0
  };
  Kind kind = Kind::kMax;
  std::int64_t batch = 1, channels = 0;
  std::array<std::int64_t, 2> in_size{}, kernel{}, out_size{};
  std::array<std::int64_t, 2> strides{1, 1}, dilation{1, 1}, pad_before{}, pad_after{};
  ActivationLayout layout = ActivationLayout::kNCHW;
  std::vector<PostOp> post_ops;
};

struct Softmax {
  Shape shape;
  std::size_t axis = 0;
  bool logarithm = false;
};

// A normalisation of the rows of a matrix.
struct LayerNormalization {
  std::int64_t rows = 0, columns = 0;
  double epsilon = 0;
  bool scale = true, shift = true;
};

// A product of float32 matrices, result (batch, rows, columns) = lhs (batch, rows, depth) x rhs.
// The rhs is (batch, depth, columns), or (batch, columns, depth) when transposed; its batch may be
// 1 and is then shared by all.
struct MatrixProduct {
  std::int64_t batch = 1, rows = 0, columns = 0, depth = 0;
  std::int64_t rhs_batch = 1;
  bool lhs_transposed = false;  // lhs is (batch, depth, rows)
  bool rhs_transposed = false;
  std::vector<PostOp> post_ops;
};

// uint8 by int8 in int32, exactly (with the dot products of AVX512-VNNI or AMX), or bfloat16 by
// bfloat16 in float32, whose results may be rounded to bfloat16.
struct NarrowTypes {
  DataType data, weight, result;
};

// A kernel, or why oneDNN has no optimised code for it.
using KernelPointer = std::shared_ptr<const jit::Callable>;
using MadeKernel = OrRefused<KernelPointer>;

// Buffers of the callables: the input; the weight and the bias, each only when not given here; the
// operands of tensor post-ops in order; the result. `bias` has one value per result channel
// (column); `has_bias` says that one is an argument.
MadeKernel MakeConvolution(const Convolution& conv, const NDArray& weight, const NDArray& bias,
                           bool has_bias = false);
// A convolution of an image by a known weight, both narrower than their sums. Image and result are
// NHWC, whatever `conv` says; there are no post-ops.
MadeKernel MakeNarrowConvolution(const Convolution& conv, const NarrowTypes& types,
                                 const NDArray& weight);
// A product in the same manner; a right side of bfloat16 may be an argument.
MadeKernel MakeNarrowMatrixProduct(const MatrixProduct& product, const NarrowTypes& types,
                                   const NDArray& rhs);
// A product of a matrix of float32 or bfloat16 by `values` (int8, [depth, columns]), each of them
// times the scale of its column and block of rows (`scales`, float32, [blocks, columns]). With one
// block, sums are scaled; they may overflow where products of data and values exceed float32.
MadeKernel MakeScaledMatrixProduct(const MatrixProduct& product, const NarrowTypes& types,
                                   const NDArray& values, const NDArray& scales);
// `conv` transposed: its weight is IOHW (in, out / groups, height, width).
MadeKernel MakeDeconvolution(const Convolution& conv, const NDArray& weight, const NDArray& bias,
                             bool has_bias = false);
MadeKernel MakeMatrixProduct(const MatrixProduct& product, const NDArray& rhs, const NDArray& bias,
                             bool has_bias = false);

MadeKernel MakePooling(const Pooling& pooling);
MadeKernel MakeSoftmax(const Softmax& softmax);
// Scale and shift are arguments unless given here.
MadeKernel MakeLayerNormalization(const LayerNormalization& norm, const NDArray& gamma,
                                  const NDArray& beta);

// A feature of the host that oneDNN's code uses and `target` lacks, or nothing. The library picks
// its code by the host, or by the environment variable ONEDNN_MAX_CPU_ISA, once for the whole
// process.
std::optional<std::string> FeatureBeyond(const Target& target);

// False where Tenon is built without oneDNN; then nothing else of this header is defined but
// LibraryVersion.
bool IsPresent();

// "2.6.3", of the library that is loaded; "absent" without.
std::string LibraryVersion();

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_ADAPTER_H_
