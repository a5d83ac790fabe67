// Registers one operator when it is loaded.
#include "tenon/strategies/register_op.h"

TENON_REGISTER_OP("plugin.halve")
    .Describe("half the input")
    .Argument("data", "Tensor", "input")
    .TypeRelation(tenon::ops::Identity)
    .Elementwise([](tenon::te::Expr x) { return x * tenon::loop::Constant(x.dtype(), 0.5); });
