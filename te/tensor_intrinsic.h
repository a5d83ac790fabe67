// Small computations that one piece of hand-made loop code performs. Stage::Tensorize puts that
// code in the place of inner loops.
//
// An intrinsic says what it computes, as a compute over placeholders, and how, by functions that
// make loop statements for given tiles of the real tensors, inputs in order of first use. Bodies
// must do what the compute says for every layout of the tiles. Elements that lie in a row are one
// vector access. Immutable value handle.
//
//   Tensor a = Placeholder({16}, Float32), b = Placeholder({16}, Float32);
//   Tensor c = Compute({16}, [&](Var i) { return a(i) + b(i); });
//   TensorIntrinsic add = DeclareTensorIntrinsic("add16", c, {.body = [](auto& in, auto& out) {
//     return out[0].PutVector(in[0].Vector() + in[1].Vector());
//   }});
#ifndef TENON_TE_TENSOR_INTRINSIC_H_
#define TENON_TE_TENSOR_INTRINSIC_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tenon/loop/stmt.h"
#include "tenon/te/tensor.h"

namespace tenon::te {

// A box of a buffer: as many of its last dimensions as there are extents, at a fixed place in the
// others.
class Tile {
 public:
  // `base` has the indices of the first element, one per dimension of the buffer.
  Tile(loop::Buffer buffer, std::vector<Expr> base, std::vector<std::int64_t> extents);

  const loop::Buffer& buffer() const { return buffer_; }
  DataType dtype() const { return buffer_->dtype; }
  const std::vector<std::int64_t>& extents() const { return extents_; }
  std::int64_t size() const;

  // One element, by its place in the tile; throw InvalidArgument for a wrong number of indices and
  // for a constant one outside the tile.
  Expr At(const std::vector<Expr>& indices) const;
  loop::Stmt Put(const std::vector<Expr>& indices, const Expr& value) const;
  // All elements in row-major order.
  Expr Vector() const;
  loop::Stmt PutVector(const Expr& value) const;
  // The address for a C function that reads or writes the tile's elements. Lowering refuses a tile
  // that is not one piece of memory.
  Expr Address() const;

 private:
  std::vector<Expr> Indices(const std::vector<Expr>& inside) const;
  std::vector<Expr> VectorIndices() const;

  loop::Buffer buffer_;
  std::vector<Expr> base_;
  std::vector<std::int64_t> extents_;
};

using TileBody =
    std::function<loop::Stmt(const std::vector<Tile>& inputs, const std::vector<Tile>& outputs)>;

struct TensorIntrinsicBodies {
  TileBody body;  // the whole
  // For a reduction that is done in parts: reduce_init sets the identity (and gets no inputs),
  // reduce_update adds a part. Without reduce_init, `body` does the first part.
  TileBody reduce_init, reduce_update;
};

class TensorIntrinsicNode : public RefCounted {
 public:
  std::string name;
  Operation op;
  std::vector<Tensor> inputs;
  TensorIntrinsicBodies bodies;
};
using TensorIntrinsic = Ref<const TensorIntrinsicNode>;

// Throws InvalidArgument if `compute` is not a compute or reads anything except placeholders, if an
// extent is not constant or a reduction does not start at 0, if there is no body, and for
// reduce_init or reduce_update without a reduction.
TensorIntrinsic DeclareTensorIntrinsic(std::string name, const Tensor& compute,
                                       TensorIntrinsicBodies bodies);

// c[n] = sum over 4 k of int32(a[k]) * int32(b[n, k]) for uint8 a and int8 b, with `lanes` n: one
// VPDPBUSD where the CPU has AVX512-VNNI.
TensorIntrinsic DotU8S8(int lanes = 16);
// The same for a word a[0] of int32 that holds four bytes, the first one lowest: a[k] is uint8(a[0]
// >> 8 k).
TensorIntrinsic DotWordS8(int lanes = 16);
// c[n] = sum over 4 k of int32(a[stride * n + k]) * int32(b[k]) for uint8 a and int8 b: four taps
// of a row of pixels.
TensorIntrinsic SlidingDotU8S8(int stride = 1, int lanes = 16);
// c[n] = sum over 2 k of float32(a[k]) * float32(b[n, k]) for bfloat16: one VDPBF16PS where the CPU
// has AVX512-BF16.
TensorIntrinsic DotBF16(int lanes = 16);
// The same for a word a[0] of int32 that holds both, the first one lowest.
TensorIntrinsic DotWordBF16(int lanes = 16);
// c[n] = sum over 2 k of float32(a[stride * n + k]) * float32(b[k]): two taps of a row of pixels.
TensorIntrinsic SlidingDotBF16(int stride = 1, int lanes = 16);

}  // namespace tenon::te

#endif  // TENON_TE_TENSOR_INTRINSIC_H_
