// Step 4: what it computes, as tensor expressions. Positions of axes come from the layout.
#include "involution.h"

namespace involution {
namespace {

namespace te = tenon::te;
using tenon::strategies::TeCall;

// Where the kernels hold the tap (y, x) for element `i` of the result.
std::vector<te::Expr> KernelAt(const TeCall& call, const std::vector<te::Var>& i, const te::Expr& y,
                               const te::Expr& x) {
  const auto& attrs = call.attrs.As<Attrs>();
  const std::int64_t channels = call.shape()[attrs.Axis('C')];
  std::vector<te::Expr> at = tenon::strategies::ToExprs(i);
  te::Expr& channel = at[attrs.Axis('C')];
  const te::Expr group = te::FloorDiv(channel, channels / attrs.groups);
  channel = (group * attrs.kernel_size + y) * attrs.kernel_size + x;
  return at;
}

std::string Name(const Attrs& attrs) {
  return attrs.layout == "NCHW" ? "involution_nchw" : "involution_nhwc";
}

}  // namespace

std::vector<te::Tensor> Compute(const TeCall& call) {
  const auto& attrs = call.attrs.As<Attrs>();
  const std::size_t height = attrs.Axis('H');
  const std::size_t width = attrs.Axis('W');
  const std::int64_t zeros = attrs.Reach();
  const te::Tensor image =
      tenon::strategies::PadImage(call.input(0), height, width, {zeros, zeros, zeros, zeros});
  const te::IterVar y = te::ReduceAxis(0, attrs.kernel_size, "y");
  const te::IterVar x = te::ReduceAxis(0, attrs.kernel_size, "x");
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<te::Var>& i) {
        std::vector<te::Expr> from = tenon::strategies::ToExprs(i);
        from[height] = from[height] * attrs.stride + y.var * attrs.dilation;
        from[width] = from[width] * attrs.stride + x.var * attrs.dilation;
        return te::Sum(image[from] * call.input(1)[KernelAt(call, i, y.var, x.var)], {y, x});
      },
      Name(attrs), Name(attrs))};
}

std::vector<te::Tensor> ComputeByOneTap(const TeCall& call) {
  const auto& attrs = call.attrs.As<Attrs>();
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<te::Var>& i) {
        std::vector<te::Expr> from = tenon::strategies::ToExprs(i);
        for (const char letter : {'H', 'W'})
          from[attrs.Axis(letter)] = from[attrs.Axis(letter)] * attrs.stride;
        return call.input(0)[from] * call.input(1)[KernelAt(call, i, 0, 0)];
      },
      Name(attrs) + "_1x1", "broadcast")};
}

}  // namespace involution
