// Elementwise operators of one input.
#include <cmath>
#include <optional>

#include "tenon/ops/builtin.h"
#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/layout/layout_columns.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

OpBuilder Unary(OpRegistry& registry, const char* name, const char* help, int level) {
  OpBuilder op = registry.Register(name);
  op.Describe(help).Argument("data", "Tensor", "input").Level(level);
  op.Pattern(OpPattern::kElemWise).TypeRelation(Identity, "Identity").Column(IgnoresPlaces());
  return op;
}

void Cast(TypeCall& call) {
  if (const auto* x = call.tensor(0))
    call.LearnResult(ir::TensorType(x->shape, call.attrs<CastAttrs>().dtype));
}

void Reinterpret(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const DataType to = call.attrs<CastAttrs>().dtype;
  if (x->dtype.is_bool() || to.is_bool()) call.Refuse("bool has no bits that another type shares");
  if (x->dtype.bits() != to.bits())
    call.Refuse(StrCat("elements of ", x->dtype.ToString(), " have ", x->dtype.bits(),
                       " bits and those of ", to.ToString(), " ", to.bits()));
  call.LearnResult(ir::TensorType(x->shape, to));
}

void Clip(TypeCall& call) {
  const auto& attrs = call.attrs<ClipAttrs>();
  if (std::isnan(attrs.a_min) || std::isnan(attrs.a_max))
    call.Refuse("a_min and a_max must be numbers, not NaN");
  Identity(call);
}

void CastLike(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* like = call.tensor(1);
  if (x != nullptr && like != nullptr) call.LearnResult(ir::TensorType(x->shape, like->dtype));
}

void FullLike(TypeCall& call) {
  if (call.tensor(0) != nullptr) call.LearnResult(call.input(0));
  if (const auto* value = call.tensor(1); value != nullptr && !value->shape.empty())
    call.Refuse("fill_value must have rank 0");
}

void PRelu(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const int axis = NormalizeAxis(call, call.attrs<PReluAttrs>().axis, x->shape.size());
  call.LearnInput(1, ir::TensorType({x->shape[static_cast<std::size_t>(axis)]}, x->dtype));
  call.LearnResult(call.input(0));
}

void BoolOnly(TypeCall& call) {
  if (const auto* x = call.tensor(0); x != nullptr && !x->dtype.is_bool())
    call.Refuse("the input must be bool");
  Identity(call);
}

}  // namespace

void RegisterUnaryOps(OpRegistry& registry) {
  struct Row {
    const char* name;
    const char* help;
    int level;
    std::optional<PrecisionRule> precision = {};
  };
  constexpr PrecisionRule kFollow = PrecisionRule::kFollow, kNever = PrecisionRule::kNever;
  for (const Row& row : {
           Row{"acos", "arc cosine", 1},
           Row{"acosh", "inverse hyperbolic cosine", 1},
           Row{"asin", "arc sine", 1},
           Row{"asinh", "inverse hyperbolic sine", 1},
           Row{"atan", "arc tangent", 1},
           Row{"atanh", "inverse hyperbolic tangent", 1},
           Row{"cos", "cosine", 1},
           Row{"cosh", "hyperbolic cosine", 1},
           Row{"erf", "Gauss error function", 1, kNever},
           Row{"exp", "exponential", 1, kNever},
           Row{"fast_erf", "Gauss error function; the same code as erf", 1, kNever},
           Row{"fast_exp", "exponential; the same code as exp", 1, kNever},
           Row{"fast_tanh", "hyperbolic tangent; the same code as tanh", 1, kFollow},
           Row{"log", "natural logarithm", 1, kNever},
           Row{"log10", "logarithm to base 10", 1},
           Row{"log2", "logarithm to base 2", 1},
           Row{"nn.relu", "max(x, 0)", 1, kFollow},
           Row{"rsqrt", "1 / sqrt(x)", 1, kNever},
           Row{"sigmoid", "1 / (1 + exp(-x))", 1, kFollow},
           Row{"sin", "sine", 1},
           Row{"sinh", "hyperbolic sine", 1},
           Row{"sqrt", "square root", 1, kFollow},
           Row{"tan", "tangent", 1},
           Row{"tanh", "hyperbolic tangent", 1, kFollow},
           Row{"abs", "absolute value", 3, kFollow},
           Row{"ceil", "round up", 3, kFollow},
           Row{"copy", "the input itself", 3, kFollow},
           Row{"floor", "round down", 3, kFollow},
           Row{"nearbyint", "round to nearest, ties to even", 3, kFollow},
           Row{"negative", "-x", 3, kFollow},
           Row{"round", "round to nearest, ties away from zero", 3, kFollow},
           Row{"sign", "-1, 0 or 1", 3, kFollow},
           Row{"trunc", "round toward zero", 3, kFollow},
           Row{"bitwise_not", "all bits inverted", 4},
           Row{"ones_like", "ones of the input's type", 4},
           Row{"zeros_like", "zeros of the input's type", 4},
       }) {
    OpBuilder op = Unary(registry, row.name, row.help, row.level);
    if (row.precision) op.Column(*row.precision);
  }
  for (const char* name : {"isfinite", "isinf", "isnan"})
    Unary(registry, name, "whether a floating value has the property in the name", 3)
        .TypeRelation(IdentityToBool, "IdentityCompRel");
  Unary(registry, "logical_not", "true where the input is false", 4)
      .TypeRelation(BoolOnly, "Identity");
  Unary(registry, "clip", "min(max(x, a_min), a_max); the bounds are cast to the input's type", 3)
      .Attrs<ClipAttrs>()
      .TypeRelation(Clip, "Identity")
      .Column(PrecisionRule::kFollow);
  Unary(registry, "cast", "convert the element type; floats truncate toward zero", 3)
      .Attrs<CastAttrs>()
      .TypeRelation(Cast, "Cast")
      .Column(PrecisionRule::kNever);
  Unary(registry, "reinterpret", "the bits of the elements under another type of the same width", 3)
      .Attrs<CastAttrs>()
      .TypeRelation(Reinterpret, "Reinterpret");
  Unary(registry, "nn.leaky_relu", "x > 0 ? x : alpha * x", 3)
      .Attrs<LeakyReluAttrs>()
      .Column(PrecisionRule::kFollow);
  registry.Register("cast_like")
      .Describe("convert to the element type of the second input")
      .Argument("data", "Tensor", "input")
      .Argument("dtype_like", "Tensor", "gives the element type")
      .Level(3)
      .Pattern(OpPattern::kElemWise)
      .TypeRelation(CastLike, "CastLike")
      .Column(IgnoresPlaces());
  registry.Register("full_like")
      .Describe("fill_value in the shape of the first input")
      .Argument("data", "Tensor", "gives the type")
      .Argument("fill_value", "Tensor", "a value of rank 0")
      .Level(3)
      .Pattern(OpPattern::kElemWise)
      .TypeRelation(FullLike, "FullLike");
  registry.Register("nn.prelu")
      .Describe("x > 0 ? x : alpha[channel] * x")
      .Argument("data", "Tensor", "input")
      .Argument("alpha", "Tensor", "one slope per channel")
      .Attrs<PReluAttrs>()
      .Level(3)
      .Pattern(OpPattern::kBroadcast)
      .TypeRelation(PRelu, "PRelu")
      .Column(PrecisionRule::kFollow)
      .Column(LayoutInference{LayoutsAlongAxis<PReluAttrs>});
  registry.Register("annotation.stop_fusion")
      .Describe("the input; fusion does not cross it")
      .Argument("data", "Tensor", "input")
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(Identity, "Identity")
      .Column(PrecisionRule::kFollow);
}

}  // namespace tenon::ops
