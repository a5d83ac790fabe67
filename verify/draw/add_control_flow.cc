#include "tenon/verify/draw/add_control_flow.h"

#include <utility>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

using ir::Expr;

constexpr char kLoop[] = "loop";

// A function with ifs for some of its calls, each under a condition of its own.
class Brancher {
 public:
  Brancher(const RandomModule& given, Random& random)
      : random_(random), params_(given.module.Main().params), inputs_(given.inputs) {}

  Expr Branched(const Expr& body) {
    return ir::RewritePostOrder(body, [&](const Expr& original, const Expr& e) -> Expr {
      const Expr typed = ir::KeepType(original, e);
      const auto* call = typed.As<ir::CallNode>();
      const auto* type = original.checked_type().As<ir::TensorTypeNode>();
      if (call == nullptr || type == nullptr || !random_.Chance(25)) return typed;
      const bool is_first = random_.Chance(50);
      const bool is_copy = random_.Chance(50);
      const Expr other = is_copy ? ir::Call::Make(call->callee, call->args, call->attrs, {},
                                                  original.checked_type())
                                 : OtherThan(typed, *call);
      const Expr condition = Condition(is_copy ? random_.Chance(50) : is_first);
      return ir::If::Make(condition, is_first ? typed : other, is_first ? other : typed, {},
                          original.checked_type());
    });
  }
  const std::vector<Expr>& params() const { return params_; }
  const std::vector<NDArray>& inputs() const { return inputs_; }

 private:
  Expr Condition(bool value) {
    params_.push_back(
        ir::Var::MakeChecked(StrCat("c", params_.size()), ir::TensorType({}, Bool), {}));
    inputs_.push_back(NDArray::Scalar(value));
    return params_.back();
  }
  // A value of the same type: an argument of the call, or zeros.
  Expr OtherThan(const Expr& e, const ir::CallNode& call) {
    for (const Expr& arg : call.args) {
      if (ir::Equal(arg.checked_type(), e.checked_type())) return arg;
    }
    const auto& type = *e.checked_type().As<ir::TensorTypeNode>();
    const Expr zeros = ir::Constant::Make(
        NDArray::Zeros(ir::StaticShape(e.checked_type(), "a value"), type.dtype));
    return zeros;
  }

  Random& random_;
  std::vector<Expr> params_;
  std::vector<NDArray> inputs_;
};

std::vector<Expr> Fresh(const std::vector<Expr>& params) {
  std::vector<Expr> fresh;
  for (const Expr& param : params)
    fresh.push_back(ir::Var::MakeChecked(ir::Var(param).name(), param.checked_type(), {}));
  return fresh;
}

// @main calls @loop(count, ...), which calls itself that often and then computes the body.
ir::Module Looped(const ir::Module& module, const std::vector<Expr>& params, const Expr& body,
                  Random& random) {
  const Expr left = ir::Var::MakeChecked("left", ir::TensorType({}, Int64), {});
  const auto integer = [](std::int64_t value) {
    return ir::Constant::Make(NDArray::Scalar<std::int64_t>(value));
  };
  std::vector<Expr> next = {ops::Subtract(left, integer(1))};
  next.insert(next.end(), params.begin(), params.end());
  const auto call = [](std::vector<Expr> args) {
    return ir::Call::Make(ir::GlobalVar::Make(kLoop), std::move(args));
  };
  const Expr goes_on = ir::Call::Make(ops::Known().greater, {left, integer(0)});
  std::vector<Expr> loop_params = {left};
  loop_params.insert(loop_params.end(), params.begin(), params.end());
  const Expr loop = ir::Function::Make(
      loop_params, ir::If::Make(goes_on, call(std::move(next)), body), body.checked_type());
  const std::vector<Expr> outer = Fresh(params);
  std::vector<Expr> given = {integer(random.Below(4))};
  given.insert(given.end(), outer.begin(), outer.end());
  return module.With("main", ir::Function::Make(outer, call(std::move(given)))).With(kLoop, loop);
}

}  // namespace

RandomModule AddControlFlow(const RandomModule& given, Random& random) {
  Brancher brancher(given, random);
  const Expr body = brancher.Branched(given.module.Main().body);
  const ir::Module module =
      random.Chance(30) ? Looped(given.module, brancher.params(), body, random)
                        : given.module.With("main", ir::Function::Make(brancher.params(), body));
  return {passes::InferType(module), brancher.inputs(), given.floats};
}

}  // namespace tenon::verify
