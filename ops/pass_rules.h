// What passes do with calls of an operator: columns that operators of users fill as built-in ones
// fill tables.
//
//   registry.Definition("my.qadd").SetColumn(LoweringRule{[](const LoweringCall& call) {
//     return Add(call.args[0], call.args[1]);
//   }});
#ifndef TENON_OPS_PASS_RULES_H_
#define TENON_OPS_PASS_RULES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/expr.h"

namespace tenon::ops {

// What ToMixedPrecision does with an operator.
enum class PrecisionRule {
  kAlways,  // low operands, a float32 sum: for operators with the attribute out_dtype
  kFollow,  // low where the operands are
  kNever,   // float32
};

// An operator that adds up many elements. WidenHalfFloats makes it add halves in float32.
enum class HalfSums {
  kPlain,
  kOfProducts,  // for which a CPU may have instructions that take bfloat16
};

// Folding of scales may move a factor that is greater than zero from the argument of a call to its
// result, as of relu.
struct KeepsPositiveScale {};

// An operator of the pattern kElemWise or kBroadcast: each element of its result depends only on
// the elements of the arguments at the same place, to which these are broadcast as by Broadcast,
// and not on where that is. So one call on joined values gives what a call on each gives, joined.
struct IgnoresPlaces {};

// Axes of channels: one, or two (count of blocks, then block) when the layout cuts them into
// blocks.
struct ChannelAxes {
  std::vector<std::size_t> data, result;     // of args[0] and of the result
  std::vector<std::size_t> inputs, outputs;  // of args[1], the weight
  std::int64_t groups = 1;
  // If true, the weight's input axis runs over all input channels and its output axis over those of
  // one group. If false, the other way round.
  bool is_transposed = false;
  // Zeros may be read around the data, and nothing is added to those.
  bool is_padded = false;
};

// For operators that are linear in args[0] and in a weight, args[1], as convolutions are: where
// their channels are. Scales and shifts of channels are folded into constant weights.
struct ChannelRule {
  // Of a call with checked types; nothing where it takes no part.
  std::function<std::optional<ChannelAxes>(const ir::CallNode& call)> axes;
};

struct LoweringCall {
  const attrs::Attrs& attrs;
  std::vector<ir::Expr> args;  // with checked types; variables for all but constants
  ir::Type type;               // of the call, and of what takes its place
};

// Calls are replaced by other operators before any other pass (CanonicalizeQnn); so the operator
// needs no compute.
struct LoweringRule {
  std::function<ir::Expr(const LoweringCall& call)> lower;
};

}  // namespace tenon::ops

#endif  // TENON_OPS_PASS_RULES_H_
