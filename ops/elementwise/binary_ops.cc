// Operators of two broadcast inputs, and where, which has three.
#include <optional>

#include "tenon/ops/builtin.h"
#include "tenon/ops/pass_rules.h"

namespace tenon::ops {
namespace {

void Where(TypeCall& call) {
  const auto* condition = call.tensor(0);
  const auto* x = call.tensor(1);
  const auto* y = call.tensor(2);
  if (condition == nullptr || x == nullptr || y == nullptr) return;
  if (x->dtype != y->dtype) call.Refuse("x and y must have one element type");
  call.LearnResult(ir::TensorType(
      BroadcastShapes(call, condition->shape, BroadcastShapes(call, x->shape, y->shape)),
      x->dtype));
}

void LogicalBroadcast(TypeCall& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (const auto* x = call.tensor(i); x != nullptr && !x->dtype.is_bool())
      call.Refuse("both inputs must be bool");
  }
  Broadcast(call);
}

// Operations on single bits take bools, too.
template <bool kTakesBools>
void IntegerBroadcast(TypeCall& call) {
  if (const auto* x = call.tensor(0);
      x != nullptr && !x->dtype.is_integral() && !(kTakesBools && x->dtype.is_bool()))
    call.Refuse("the inputs must be integers");
  Broadcast(call);
}
constexpr auto kShiftBroadcast = IntegerBroadcast<false>;
constexpr auto kBitwiseBroadcast = IntegerBroadcast<true>;

}  // namespace

void RegisterBinaryOps(OpRegistry& registry) {
  struct Row {
    const char* name;
    const char* help;
    int level;
    void (*relation)(TypeCall&);
    std::optional<PrecisionRule> precision = {};
  };
  for (const Row& row : {
           Row{"add", "lhs + rhs", 1, Broadcast, PrecisionRule::kFollow},
           Row{"subtract", "lhs - rhs", 1, Broadcast, PrecisionRule::kFollow},
           Row{"multiply", "lhs * rhs", 1, Broadcast, PrecisionRule::kFollow},
           Row{"divide", "lhs / rhs; integers are rounded toward zero", 1, Broadcast,
               PrecisionRule::kFollow},
           Row{"trunc_divide", "lhs / rhs; integers are rounded toward zero", 1, Broadcast},
           Row{"floor_divide", "lhs / rhs, rounded down", 1, Broadcast},
           Row{"mod", "remainder of divide", 1, Broadcast},
           Row{"trunc_mod", "remainder of trunc_divide", 1, Broadcast},
           Row{"floor_mod", "remainder of floor_divide", 1, Broadcast},
           Row{"power", "lhs to the power of rhs", 4, Broadcast, PrecisionRule::kNever},
           Row{"maximum", "the greater one; NaN when either is NaN", 4, Broadcast,
               PrecisionRule::kFollow},
           Row{"minimum", "the smaller one; NaN when either is NaN", 4, Broadcast,
               PrecisionRule::kFollow},
           Row{"left_shift", "lhs << rhs; distances count modulo the bits", 4, kShiftBroadcast},
           Row{"right_shift", "lhs >> rhs, keeping the sign; distances count modulo the bits", 4,
               kShiftBroadcast},
           Row{"bitwise_and", "bits in both", 4, kBitwiseBroadcast},
           Row{"bitwise_or", "bits in one", 4, kBitwiseBroadcast},
           Row{"bitwise_xor", "bits in exactly one", 4, kBitwiseBroadcast},
           Row{"logical_and", "both", 4, LogicalBroadcast},
           Row{"logical_or", "one or both", 4, LogicalBroadcast},
           Row{"logical_xor", "exactly one", 4, LogicalBroadcast},
           Row{"equal", "lhs == rhs", 4, BroadcastToBool},
           Row{"not_equal", "lhs != rhs", 4, BroadcastToBool},
           Row{"less", "lhs < rhs", 4, BroadcastToBool},
           Row{"less_equal", "lhs <= rhs", 4, BroadcastToBool},
           Row{"greater", "lhs > rhs", 4, BroadcastToBool},
           Row{"greater_equal", "lhs >= rhs", 4, BroadcastToBool},
       }) {
    OpBuilder op = registry.Register(row.name);
    op.Describe(row.help)
        .Argument("lhs", "Tensor", "left operand")
        .Argument("rhs", "Tensor", "right operand")
        .Level(row.level)
        .Pattern(OpPattern::kBroadcast)
        .TypeRelation(row.relation, row.relation == BroadcastToBool ? "BroadcastComp" : "Broadcast")
        .Column(IgnoresPlaces());
    if (row.precision) op.Column(*row.precision);
  }
  registry.Register("where")
      .Describe("x where the condition holds, else y")
      .Argument("condition", "Tensor", "bool, or a number that is not zero")
      .Argument("x", "Tensor", "taken where the condition holds")
      .Argument("y", "Tensor", "taken elsewhere")
      .Level(4)
      .Pattern(OpPattern::kBroadcast)
      .TypeRelation(Where, "Where")
      .Column(PrecisionRule::kFollow)
      .Column(IgnoresPlaces());
}

}  // namespace tenon::ops
