// The least plug-in: one operator.
#include "tenon/tenon.h"

TENON_REGISTER_OP("outside.cube")
    .Describe("x * x * x")
    .Argument("data", "Tensor", "input")
    .TypeRelation(tenon::ops::Identity)
    .Elementwise([](tenon::te::Expr x) { return x * x * x; });
