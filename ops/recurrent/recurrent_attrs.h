// Attributes of recurrent layers.
#ifndef TENON_OPS_RECURRENT_RECURRENT_ATTRS_H_
#define TENON_OPS_RECURRENT_RECURRENT_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

// What gates and states may go through.
inline constexpr const char* kRecurrentFunctions = "sigmoid tanh relu";

inline constexpr const char* kReverseHelp = "each sequence is read from its last step on";

struct RnnAttrs {
  static constexpr const char* kTypeKey = "tenon.attrs.RnnAttrs";
  std::string activation = "tanh";
  bool reverse = false;
  static constexpr auto Fields() {
    using A = RnnAttrs;
    return attrs::Fields(attrs::Field("activation", &A::activation, "function of the state")
                             .OneOf(kRecurrentFunctions),
                         attrs::Field("reverse", &A::reverse, kReverseHelp));
  }
};

struct GruAttrs {
  static constexpr const char* kTypeKey = "tenon.attrs.GruAttrs";
  std::string gate_activation = "sigmoid";
  std::string activation = "tanh";
  bool reset_after = false;
  bool reverse = false;
  static constexpr auto Fields() {
    using A = GruAttrs;
    return attrs::Fields(
        attrs::Field("gate_activation", &A::gate_activation, "function of both gates")
            .OneOf(kRecurrentFunctions),
        attrs::Field("activation", &A::activation, "function of the new state")
            .OneOf(kRecurrentFunctions),
        attrs::Field("reset_after", &A::reset_after,
                     "the reset gate multiplies the product with the state, not the state"),
        attrs::Field("reverse", &A::reverse, kReverseHelp));
  }
};

struct LstmAttrs {
  static constexpr const char* kTypeKey = "tenon.attrs.LstmAttrs";
  std::string gate_activation = "sigmoid";
  std::string activation = "tanh";
  std::string output_activation = "tanh";
  bool reverse = false;
  static constexpr auto Fields() {
    using A = LstmAttrs;
    return attrs::Fields(
        attrs::Field("gate_activation", &A::gate_activation, "function of the three gates")
            .OneOf(kRecurrentFunctions),
        attrs::Field("activation", &A::activation, "function of what enters the cell")
            .OneOf(kRecurrentFunctions),
        attrs::Field("output_activation", &A::output_activation, "function of what leaves it")
            .OneOf(kRecurrentFunctions),
        attrs::Field("reverse", &A::reverse, kReverseHelp));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_RECURRENT_RECURRENT_ATTRS_H_
