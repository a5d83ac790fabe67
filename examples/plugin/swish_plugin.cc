// A plug-in: the operator of examples/custom_op.cc as a shared object.
//
//   tenon run examples/plugin/swish.relay --plugin libswish_plugin.so --input x=x.npy
#include "tenon/strategies/register_op.h"
#include "tenon/te/math.h"

namespace {

struct SwishAttrs {
  double beta = 1.0;
  static constexpr auto Fields() {
    return tenon::attrs::Fields(
        tenon::attrs::Field("beta", &SwishAttrs::beta, "slope inside the sigmoid"));
  }
};

TENON_REGISTER_OP("my.swish")
    .Describe("x * sigmoid(beta * x)")
    .Attrs<SwishAttrs>()
    .Argument("data", "Tensor", "input")
    .TypeRelation(tenon::ops::Identity)
    .Elementwise([](const SwishAttrs& a, tenon::te::Expr x) {
      return x * tenon::te::Sigmoid(tenon::te::Cast(x.dtype(), a.beta) * x);
    });

}  // namespace
