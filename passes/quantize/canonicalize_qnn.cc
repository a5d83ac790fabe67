#include "tenon/passes/quantize/canonicalize_qnn.h"

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/quantize/qnn_attrs.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/legalize.h"
#include "tenon/passes/quantize/qnn_arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;

// Scale and zero point of the result, from the arguments `scale` and `scale + 1`. The result has
// the channels of the argument 0 where they are vectors.
QnnTensor ResultParameters(const QnnCall& call, std::size_t scale, std::int64_t axis = -1) {
  return {.data = {},
          .scale = AlongAxis(call, scale, 0, axis),
          .zero_point = AlongAxis(call, scale + 1, 0, axis),
          .dtype = call.result().dtype,
          .scale_dtype = call.type(scale).dtype,
          .zero_point_dtype = call.type(scale + 1).dtype};
}

Expr Quantize(const QnnCall& call) {
  const auto& attrs = call.now.attrs.As<ops::QuantizeAttrs>();
  return Quantized(call.arg(0), call.type(0).dtype, ResultParameters(call, 1, attrs.axis));
}

Expr Dequantize(const QnnCall& call) {
  const auto& attrs = call.now.attrs.As<ops::DequantizeAttrs>();
  return Dequantized(TensorAt(call, 0, 1, attrs.axis), attrs.out_dtype);
}

Expr Requantize(const QnnCall& call) {
  const auto& attrs = call.now.attrs.As<ops::RequantizeAttrs>();
  return Requantized(TensorAt(call, 0, 1, attrs.axis), ResultParameters(call, 3),
                     {.rounding = attrs.rounding, .compute_dtype = attrs.compute_dtype});
}

Expr Binary(const QnnCall& call, const Expr& op) {
  const auto& attrs = call.now.attrs.As<ops::QnnBinaryAttrs>();
  const Expr a = Dequantized({.data = call.arg(0),
                              .scale = AlongAxis(call, 2, 0, attrs.lhs_axis),
                              .zero_point = AlongAxis(call, 3, 0, attrs.lhs_axis),
                              .dtype = call.type(0).dtype,
                              .scale_dtype = call.type(2).dtype,
                              .zero_point_dtype = call.type(3).dtype},
                             Float32);
  const Expr b = Dequantized(TensorAt(call, 1, 4, attrs.rhs_axis), Float32);
  return Quantized(ir::Call::Make(op, {a, b}), Float32, ResultParameters(call, 6));
}

// Applies `function` to the real numbers that the tensor stands for.
Expr Unary(const QnnCall& call, const Expr& function) {
  const Expr x = Dequantized(TensorAt(call, 0, 1, -1), Float32);
  return Quantized(ir::Call::Make(function, {x}, call.now.attrs), Float32,
                   ResultParameters(call, 3));
}
Expr HardSwish(const QnnCall& call) {
  const Expr x = Dequantized(TensorAt(call, 0, 1, -1), Float32);
  const Expr gate = ops::Clip(ops::Add(x, ops::Scalar(3)), 0, 6);
  return Quantized(ops::Divide(ops::Multiply(x, gate), ops::Scalar(6)), Float32,
                   ResultParameters(call, 3));
}

// The mean of the stored integers, with the parameters of the data.
Expr AvgPool2D(const QnnCall& call) {
  QnnTensor mean = TensorAt(call, 0, 1, -1);
  const QnnTensor result = ResultParameters(call, 3);
  mean.data = ops::AvgPool2D(ops::Cast(mean.data, Int32), call.now.attrs.As<ops::AvgPool2DAttrs>());
  if (SameParameter(mean.scale, result.scale) && SameParameter(mean.zero_point, result.zero_point))
    return ops::Cast(mean.data, result.dtype);
  mean.dtype = Int32;
  return Requantized(mean, result);
}

Expr FieldOf(const Expr& tuple, std::size_t i) {
  if (const auto* literal = tuple.As<ir::TupleNode>()) return literal->fields[i];
  return ir::TupleGetItem::Make(tuple, static_cast<int>(i));
}

Expr Concatenate(const QnnCall& call) {
  const QnnTensor result = ResultParameters(call, 3);
  const auto types = [&](std::size_t arg) -> const std::vector<ir::Type>& {
    return call.typed.args[arg].checked_type().As<ir::TupleTypeNode>()->fields;
  };
  const auto dtype = [&](std::size_t arg, std::size_t field) {
    return types(arg)[field].As<ir::TensorTypeNode>()->dtype;
  };
  std::vector<Expr> fields;
  for (std::size_t i = 0; i < types(0).size(); ++i)
    fields.push_back(Requantized({.data = FieldOf(call.arg(0), i),
                                  .scale = FieldOf(call.arg(1), i),
                                  .zero_point = FieldOf(call.arg(2), i),
                                  .dtype = dtype(0, i),
                                  .scale_dtype = dtype(1, i),
                                  .zero_point_dtype = dtype(2, i)},
                                 result));
  return ops::Concatenate(std::move(fields), call.now.attrs.As<ops::ConcatenateAttrs>().axis);
}

void AddQnnArithmetic(QnnRules* rules) {
  const auto& known = ops::Known();
  const auto add = [&](const char* name, QnnRule rule) {
    rules->emplace(ops::OpRegistry::Global().Get(name), std::move(rule));
  };
  add("qnn.avg_pool2d", AvgPool2D);
  add("qnn.concatenate", Concatenate);
  add("qnn.dequantize", Dequantize);
  add("qnn.hardswish", HardSwish);
  add("qnn.quantize", Quantize);
  add("qnn.requantize", Requantize);
  for (const auto& [name, op] : {std::pair("qnn.add", known.add),
                                 {"qnn.mul", known.multiply},
                                 {"qnn.subtract", known.subtract}})
    add(name, [op](const QnnCall& call) { return Binary(call, op); });
  for (const auto& [name, function] : {std::pair("qnn.abs", known.abs),
                                       {"qnn.erf", known.erf},
                                       {"qnn.exp", known.exp},
                                       {"qnn.leaky_relu", known.leaky_relu},
                                       {"qnn.log", known.log},
                                       {"qnn.rsqrt", known.rsqrt},
                                       {"qnn.sigmoid", known.sigmoid},
                                       {"qnn.softmax", known.softmax},
                                       {"qnn.sqrt", known.sqrt},
                                       {"qnn.tanh", known.tanh}})
    add(name, [function](const QnnCall& call) { return Unary(call, function); });
}

const QnnRules& Rules() {
  static const QnnRules rules = [] {
    QnnRules made;
    AddQnnArithmetic(&made);
    AddQnnConvolutions(&made);
    AddQnnProducts(&made);
    return made;
  }();
  return rules;
}

// The call, lowered by a user's rule. The rule sees variables for the arguments, so that the type
// of what it makes can be compared with the call's.
Expr Lowered(const ops::LoweringRule& rule, const ir::CallNode& typed, const ir::CallNode& now) {
  ops::LoweringCall call{now.attrs, {}, typed.checked_type};
  ir::ExprMap arguments;
  for (std::size_t i = 0; i < typed.args.size(); ++i) {
    const Expr& arg = typed.args[i];
    call.args.push_back(
        arg.As<ir::ConstantNode>() != nullptr
            ? arg
            : ir::Var::MakeChecked(StrCat("arg", i), arg.checked_type(), typed.span));
    arguments.emplace(call.args.back(), now.args[i]);
  }
  const Expr lowered = rule.lower(call);
  const auto refuse = [&](const std::string& what) {
    throw InvalidArgument(StrCat(typed.op()->name, ": its lowering gives ", what)).At(typed.span);
  };
  if (!lowered) refuse("null");
  for (const Expr& var : ir::FreeVars(lowered)) {
    if (!arguments.contains(var))
      refuse(StrCat("an expression of %", var.As<ir::VarNode>()->name,
                    ", which is none of its arguments"));
  }
  if (const ir::Type type = InferType(lowered).checked_type(); !ir::Equal(type, call.type))
    refuse(StrCat(ir::ToString(type), "; the call is ", ir::ToString(call.type)));
  return ir::RewritePostOrder(lowered, [&](const Expr& original, const Expr& rewritten) {
    const auto argument = arguments.find(original);
    return argument == arguments.end() ? rewritten : argument->second;
  });
}

Expr Canonical(const Expr& original, const Expr& rebuilt) {
  const auto* call = rebuilt.As<ir::CallNode>();
  if (call == nullptr) return rebuilt;
  const auto& typed = *original.As<ir::CallNode>();
  if (const auto rule = Rules().find(call->callee); rule != Rules().end())
    return rule->second({typed, *call});
  const auto* rule =
      call->op() == nullptr ? nullptr : ops::OpOf(*call)->Column<ops::LoweringRule>();
  return rule == nullptr ? rebuilt : Lowered(*rule, typed, *call);
}

}  // namespace

ir::Module CanonicalizeQnn(const ir::Module& input, const Target& target) {
  const ir::Module module = LegalizeQnn(input, target);
  const ir::Module result =
      module.Map([&](const Expr& function) { return ir::RewritePostOrder(function, Canonical); });
  return result == module ? result : InferType(result);
}

}  // namespace tenon::passes
