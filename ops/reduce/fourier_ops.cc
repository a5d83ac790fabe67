// Discrete Fourier transforms. Real and imaginary parts are in separate tensors or side by side.
#include "tenon/ops/builtin.h"
#include "tenon/ops/reduce/fourier_attrs.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

void RequireLength(TypeCall& call, const Dim& n) {
  if (call.Exceeds(n, kMaxTransformLength))
    call.Refuse(StrCat("a transform of ", n.ToString(), " elements is not supported; up to ",
                       kMaxTransformLength, " are"));
}

void Dft(TypeCall& call) {
  const auto* real = call.tensor(0);
  const auto* imaginary = call.tensor(1);
  if (real == nullptr || imaginary == nullptr) return;
  if (!real->dtype.is_float() || imaginary->dtype != real->dtype)
    call.Refuse(StrCat("real and imaginary parts must be of one floating type, not ",
                       real->dtype.ToString(), " and ", imaginary->dtype.ToString()));
  if (real->shape.empty()) call.Refuse("the signal must have an axis");
  if (call.Differ(real->shape, imaginary->shape))
    call.Refuse("real and imaginary parts must have one shape");
  RequireLength(call, real->shape.back());
  call.LearnResult(ir::TupleType({call.input(0), call.input(1)}));
}

void Stft(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* window = call.tensor(1);
  if (x == nullptr || window == nullptr) return;
  if (!x->dtype.is_float())
    call.Refuse(StrCat("the signal must be of a floating type, not ", x->dtype.ToString()));
  if (x->shape.empty() || x->shape.size() > 2)
    call.Refuse("the signal must be a vector, or (batch, length)");
  if (window->shape.size() != 1 || window->dtype.is_bool())
    call.Refuse("the window must be a vector of numbers");
  const Dim &length = x->shape.back(), &wide = window->shape[0];
  if (!wide.is_static()) call.Refuse("the length of the window must be known");
  const auto& attrs = call.attrs<StftAttrs>();
  const Frames frames(attrs, wide.value());
  RequireLength(call, frames.length);
  if (frames.length < 1 || wide.value() != frames.length)
    call.Refuse(StrCat("the window has ", wide.value(), " elements and a frame ", frames.length,
                       "; it must have as many, and one at least"));
  if (attrs.win_length > 0 && attrs.win_length != frames.length)
    call.Refuse(StrCat("win_length is ", attrs.win_length, " and a frame has ", frames.length,
                       " elements; a shorter window must be padded to these"));
  if (call.Exceeds(frames.length, length))
    call.Refuse(
        StrCat("a frame of ", frames.length, " elements for a signal of ", length.ToString()));
  std::vector<Dim> shape(x->shape.begin(), x->shape.end() - 1);
  shape.emplace_back(frames.bins);
  shape.push_back(length.is_static() ? Dim(frames.CountIn(length.value())) : Dim());
  shape.emplace_back(2);
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

}  // namespace

void RegisterFourierOps(OpRegistry& registry) {
  registry.Register("dft")
      .Describe("real and imaginary parts of the discrete Fourier transform along the last axis")
      .Argument("re_data", "Tensor", "the signal's real part")
      .Argument("im_data", "Tensor", "and its imaginary part")
      .Attrs<DFTAttrs>()
      .Level(3)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(Dft, "DFT");
  registry.Register("stft")
      .Describe(
          "discrete Fourier transforms of frames of a real signal, each times the window: (batch, "
          "bins, frames, 2), real and imaginary parts last; without a batch for a vector")
      .Argument("data", "Tensor", "a vector, or (batch, length)")
      .Argument("window", "1D Tensor", "factors of a frame's elements")
      .Attrs<StftAttrs>()
      .Level(3)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(Stft, "stft");
}

}  // namespace tenon::ops
