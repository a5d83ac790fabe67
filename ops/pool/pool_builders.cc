#include "tenon/ops/pool/pool_builders.h"

#include "tenon/ops/builders.h"

namespace tenon::ops {
namespace {

template <typename AttrsType>
Expr Pool(const char* name, const Expr& x, AttrsType attrs) {
  return CallOp(name, {x}, attrs::Attrs::Make(std::move(attrs)));
}

}  // namespace

Expr MaxPool1D(const Expr& x, MaxPool1DAttrs a) { return Pool("nn.max_pool1d", x, std::move(a)); }
Expr MaxPool3D(const Expr& x, MaxPool3DAttrs a) { return Pool("nn.max_pool3d", x, std::move(a)); }
Expr AvgPool1D(const Expr& x, AvgPool1DAttrs a) { return Pool("nn.avg_pool1d", x, std::move(a)); }
Expr AvgPool3D(const Expr& x, AvgPool3DAttrs a) { return Pool("nn.avg_pool3d", x, std::move(a)); }
Expr AdaptiveMaxPool1D(const Expr& x, AdaptivePool1DAttrs a) {
  return Pool("nn.adaptive_max_pool1d", x, std::move(a));
}
Expr AdaptiveMaxPool2D(const Expr& x, AdaptivePool2DAttrs a) {
  return Pool("nn.adaptive_max_pool2d", x, std::move(a));
}
Expr AdaptiveMaxPool3D(const Expr& x, AdaptivePool3DAttrs a) {
  return Pool("nn.adaptive_max_pool3d", x, std::move(a));
}
Expr AdaptiveAvgPool1D(const Expr& x, AdaptivePool1DAttrs a) {
  return Pool("nn.adaptive_avg_pool1d", x, std::move(a));
}
Expr AdaptiveAvgPool2D(const Expr& x, AdaptivePool2DAttrs a) {
  return Pool("nn.adaptive_avg_pool2d", x, std::move(a));
}
Expr AdaptiveAvgPool3D(const Expr& x, AdaptivePool3DAttrs a) {
  return Pool("nn.adaptive_avg_pool3d", x, std::move(a));
}
Expr UpSampling(const Expr& x, UpSamplingAttrs a) { return Pool("nn.upsampling", x, std::move(a)); }
Expr UpSampling3D(const Expr& x, UpSampling3DAttrs a) {
  return Pool("nn.upsampling3d", x, std::move(a));
}

}  // namespace tenon::ops
