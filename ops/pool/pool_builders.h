// Builds expressions of pooling over one and three spatial axes and into bins, as ops/builders.h
// does; that header has pooling over images.
//
//   Expr y = AdaptiveAvgPool2D(x, {.output_size = {7}});
#ifndef TENON_OPS_POOL_POOL_BUILDERS_H_
#define TENON_OPS_POOL_POOL_BUILDERS_H_

#include "tenon/ir/expr.h"
#include "tenon/ops/image/upsampling_attrs.h"
#include "tenon/ops/pool/pool_attrs.h"

namespace tenon::ops {

using ir::Expr;

Expr MaxPool1D(const Expr& x, MaxPool1DAttrs attrs);
Expr MaxPool3D(const Expr& x, MaxPool3DAttrs attrs);
Expr AvgPool1D(const Expr& x, AvgPool1DAttrs attrs);
Expr AvgPool3D(const Expr& x, AvgPool3DAttrs attrs);

Expr AdaptiveMaxPool1D(const Expr& x, AdaptivePool1DAttrs attrs = {});
Expr AdaptiveMaxPool2D(const Expr& x, AdaptivePool2DAttrs attrs = {});
Expr AdaptiveMaxPool3D(const Expr& x, AdaptivePool3DAttrs attrs = {});
Expr AdaptiveAvgPool1D(const Expr& x, AdaptivePool1DAttrs attrs = {});
Expr AdaptiveAvgPool2D(const Expr& x, AdaptivePool2DAttrs attrs = {});
Expr AdaptiveAvgPool3D(const Expr& x, AdaptivePool3DAttrs attrs = {});

Expr UpSampling(const Expr& x, UpSamplingAttrs attrs);
Expr UpSampling3D(const Expr& x, UpSampling3DAttrs attrs);

}  // namespace tenon::ops

#endif  // TENON_OPS_POOL_POOL_BUILDERS_H_
