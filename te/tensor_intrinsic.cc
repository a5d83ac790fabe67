#include "tenon/te/tensor_intrinsic.h"

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::te {

Tile::Tile(loop::Buffer buffer, std::vector<Expr> base, std::vector<std::int64_t> extents)
    : buffer_(std::move(buffer)), base_(std::move(base)), extents_(std::move(extents)) {
  CheckInvariant(base_.size() == buffer_->shape.size() && extents_.size() <= base_.size(),
                 "a tile lies in its buffer");
}

std::int64_t Tile::size() const {
  std::int64_t size = 1;
  for (const std::int64_t extent : extents_) size *= extent;
  return size;
}

std::vector<Expr> Tile::Indices(const std::vector<Expr>& inside) const {
  if (inside.size() != extents_.size()) {
    throw InvalidArgument(StrCat("a tile of ", buffer_->name, " has ", extents_.size(),
                                 " dimensions; ", inside.size(), " indices are given"));
  }
  for (std::size_t d = 0; d < inside.size(); ++d) {
    const auto* index = inside[d].As<loop::IntImmNode>();
    if (index == nullptr || (index->value >= 0 && index->value < extents_[d])) continue;
    throw InvalidArgument(StrCat("index ", index->value, " of dimension ", d, " of a tile of ",
                                 buffer_->name, ", whose extent is ", extents_[d]));
  }
  std::vector<Expr> indices = base_;
  const std::size_t first = base_.size() - inside.size();
  for (std::size_t d = 0; d < inside.size(); ++d) indices[first + d] = base_[first + d] + inside[d];
  return indices;
}

std::vector<Expr> Tile::VectorIndices() const {
  const Expr lane = loop::Ramp(0, 1, static_cast<int>(size()));
  std::vector<Expr> inside(extents_.size());
  std::int64_t stride = 1;
  for (std::size_t d = extents_.size(); d-- > 0;) {
    Expr index = stride == 1 ? lane : loop::FloorDiv(lane, stride);
    if (d > 0) index = loop::FloorMod(index, extents_[d]);
    inside[d] = extents_[d] == 1 ? Expr(0) : index;
    stride *= extents_[d];
  }
  return Indices(inside);
}

Expr Tile::At(const std::vector<Expr>& indices) const {
  return loop::Load(buffer_, Indices(indices));
}
loop::Stmt Tile::Put(const std::vector<Expr>& indices, const Expr& value) const {
  return loop::Store(buffer_, value, Indices(indices));
}
Expr Tile::Vector() const { return loop::Load(buffer_, VectorIndices()); }
loop::Stmt Tile::PutVector(const Expr& value) const {
  return loop::Store(buffer_, loop::Broadcast(value, static_cast<int>(size())), VectorIndices());
}
Expr Tile::Address() const {
  std::vector<Expr> box(base_.size(), 1);
  const std::size_t first = base_.size() - extents_.size();
  for (std::size_t d = 0; d < extents_.size(); ++d) box[first + d] = extents_[d];
  return loop::Address(buffer_, base_, std::move(box));
}

TensorIntrinsic DeclareTensorIntrinsic(std::string name, const Tensor& compute,
                                       TensorIntrinsicBodies bodies) {
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(StrCat("tensor intrinsic ", name, ": ", reason));
  };
  if (!compute.op()) refuse("its compute is null");
  const OperationNode& op = *compute.op();
  if (!op.is_compute()) refuse(StrCat(compute.name(), " is not a compute"));
  if (!bodies.body) refuse("there is no body");
  if (!op.is_reduction() && (bodies.reduce_init || bodies.reduce_update))
    refuse(StrCat(compute.name(), " is no reduction, so it has no reduce_init or reduce_update"));
  const auto require_constant = [&](const Expr& extent, const std::string& where) {
    if (extent.kind() != loop::ExprKind::kIntImm)
      refuse(StrCat("extent ", loop::Print(extent), " of ", where, " is not constant"));
  };
  auto* made = new TensorIntrinsicNode;
  const TensorIntrinsic handle(made);
  made->inputs = InputsOf(op);
  for (const Tensor& input : made->inputs) {
    if (!input.op()->is_placeholder())
      refuse(StrCat("input ", input.name(), " is computed; only placeholders are allowed"));
    for (const Expr& extent : input.shape()) require_constant(extent, input.name());
  }
  for (const Expr& extent : compute.shape()) require_constant(extent, compute.name());
  for (const IterVar& axis : op.reduce_axes) {
    require_constant(axis.extent, axis.var.name());
    if (!loop::IsConstInt(axis.min, 0))
      refuse(StrCat("reduce axis ", axis.var.name(), " starts at ", loop::Print(axis.min),
                    "; it must start at 0"));
  }
  made->name = std::move(name);
  made->op = compute.op();
  made->bodies = std::move(bodies);
  return handle;
}

namespace {

// What one call of an intrinsic adds up in each of the lanes: `group` products.
struct Dots {
  DataType sum;
  int lanes, group;
  std::function<Expr(const Var& n, const Var& k)> product;
  // The factors of all lanes, those of a lane together, from the tiles of what `product` reads.
  std::function<Expr(const Tile&)> left, right;
};

// c[n] = sum over k of product(n, k), with one call of `dot`.
TensorIntrinsic Dot(const char* name, loop::Intrinsic dot, const Dots& dots) {
  const IterVar k = ReduceAxis(0, dots.group, "k");
  const Tensor c = Compute(
      {dots.lanes}, [&](const Var& n) { return Sum(dots.product(n, k.var), {k}); }, "c");
  const auto add_to = [dot, left = dots.left, right = dots.right](const Expr& sum,
                                                                  const std::vector<Tile>& in) {
    return loop::Call(dot, {sum, left(in[0]), right(in[1])});
  };
  const Expr zero = loop::Broadcast(loop::Constant(dots.sum, 0), dots.lanes);
  return DeclareTensorIntrinsic(
      name, c,
      {.body = [=](const std::vector<Tile>& in,
                   const std::vector<Tile>& out) { return out[0].PutVector(add_to(zero, in)); },
       .reduce_init = [=](const std::vector<Tile>&,
                          const std::vector<Tile>& out) { return out[0].PutVector(zero); },
       .reduce_update =
           [=](const std::vector<Tile>& in, const std::vector<Tile>& out) {
             return out[0].PutVector(add_to(out[0].Vector(), in));
           }});
}

Expr WholeTile(const Tile& tile) { return tile.Vector(); }

// The tile again for each lane.
std::function<Expr(const Tile&)> ForAll(int lanes) {
  return [lanes](const Tile& tile) {
    return loop::Broadcast(tile.Vector(), lanes * static_cast<int>(tile.size()));
  };
}

// Dot products of `group` elements that lie together, which are the same for all lanes.
Dots Neighbours(int lanes, int group, DataType a_type, DataType b_type, DataType sum) {
  const Tensor a = Placeholder({group}, a_type, "a");
  const Tensor b = Placeholder({lanes, group}, b_type, "b");
  return {
      .sum = sum,
      .lanes = lanes,
      .group = group,
      .product = [=](const Var& n, const Var& k) { return Cast(sum, a(k)) * Cast(sum, b(n, k)); },
      .left = ForAll(lanes),
      .right = WholeTile};
}

// Dot products of a word of int32, whose elements `element` takes out.
Dots Word(int lanes, int group, DataType b_type, DataType sum,
          const std::function<Expr(const Expr& word, const Expr& i)>& element) {
  const Tensor a = Placeholder({1}, Int32, "a");
  const Tensor b = Placeholder({lanes, group}, b_type, "b");
  return {
      .sum = sum,
      .lanes = lanes,
      .group = group,
      .product = [=](const Var& n, const Var& k) { return element(a(0), k) * Cast(sum, b(n, k)); },
      .left = ForAll(lanes),
      .right = WholeTile};
}

// Dot products of windows of `group` elements of a row, `stride` apart, by as many factors for all
// lanes.
Dots Sliding(int stride, int lanes, int group, DataType a_type, DataType b_type, DataType sum) {
  const Tensor a = Placeholder({(lanes - 1) * stride + group}, a_type, "a");
  const Tensor b = Placeholder({group}, b_type, "b");
  const auto windows = [=](const Tile& tile) {
    const Expr element = loop::Ramp(0, 1, group * lanes);
    return tile.At({loop::FloorDiv(element, group) * stride + loop::FloorMod(element, group)});
  };
  return {.sum = sum,
          .lanes = lanes,
          .group = group,
          .product = [=](const Var& n,
                         const Var& k) { return Cast(sum, a(n * stride + k)) * Cast(sum, b(k)); },
          .left = windows,
          .right = ForAll(lanes)};
}

}  // namespace

TensorIntrinsic DotU8S8(int lanes) {
  return Dot("dot_u8s8", loop::Intrinsic::kDotU8S8, Neighbours(lanes, 4, UInt8, Int8, Int32));
}
TensorIntrinsic DotWordS8(int lanes) {
  return Dot("dot_word_s8", loop::Intrinsic::kDotU8S8, Word(lanes, 4, Int8, Int32, ByteOfWord));
}
TensorIntrinsic DotWordBF16(int lanes) {
  const auto element = [](const Expr& word, const Expr& i) {
    return loop::Cast(Float32, BFloatOfWord(word, i));
  };
  return Dot("dot_word_bf16", loop::Intrinsic::kDotBF16,
             Word(lanes, 2, BFloat16, Float32, element));
}
TensorIntrinsic DotBF16(int lanes) {
  return Dot("dot_bf16", loop::Intrinsic::kDotBF16,
             Neighbours(lanes, 2, BFloat16, BFloat16, Float32));
}

TensorIntrinsic SlidingDotU8S8(int stride, int lanes) {
  return Dot("sliding_dot_u8s8", loop::Intrinsic::kDotU8S8,
             Sliding(stride, lanes, 4, UInt8, Int8, Int32));
}
TensorIntrinsic SlidingDotBF16(int stride, int lanes) {
  return Dot("sliding_dot_bf16", loop::Intrinsic::kDotBF16,
             Sliding(stride, lanes, 2, BFloat16, BFloat16, Float32));
}

}  // namespace tenon::te
