// One of two plug-ins whose attribute structs share a name, as those of two authors may: built with
// and without TENON_SECOND_TWIN.
#include "tenon/strategies/register_op.h"

#ifdef TENON_SECOND_TWIN
struct Attrs {
  double shift = 0.5;
  std::int64_t times = 2;
  static constexpr auto Fields() {
    return tenon::attrs::Fields(tenon::attrs::Field("shift", &Attrs::shift, "added"),
                                tenon::attrs::Field("times", &Attrs::times, "how often"));
  }
};
TENON_REGISTER_OP("two.shift")
    .Attrs<Attrs>()
    .Argument("data", "Tensor", "input")
    .TypeRelation(tenon::ops::Identity)
    .Elementwise([](const Attrs& a, tenon::te::Expr x) {
      return x + tenon::loop::Constant(x.dtype(), a.shift * static_cast<double>(a.times));
    });
#else
struct Attrs {
  std::int64_t alpha = 3;
  static constexpr auto Fields() {
    return tenon::attrs::Fields(tenon::attrs::Field("alpha", &Attrs::alpha, "factor"));
  }
};
TENON_REGISTER_OP("one.scale")
    .Attrs<Attrs>()
    .Argument("data", "Tensor", "input")
    .TypeRelation(tenon::ops::Identity)
    .Elementwise([](const Attrs& a, tenon::te::Expr x) {
      return x * tenon::loop::Constant(x.dtype(), static_cast<double>(a.alpha));
    });
#endif
