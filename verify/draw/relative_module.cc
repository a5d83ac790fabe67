#include "tenon/verify/draw/relative_module.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/op.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/verify/draw/random_attributes.h"

namespace tenon::verify {
namespace {

using ir::Expr;
using Words = std::vector<std::string>;

constexpr int kTries = 8;

// Operators whose kernels are alike.
const std::vector<Words>& Kinds() {
  static const auto& kinds = *new std::vector<Words>{
      {"add", "subtract", "multiply", "maximum", "minimum", "divide"},
      {"exp", "tanh", "sigmoid", "sqrt", "negative", "abs", "floor", "nn.relu"},
      {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"},
      {"sum", "mean", "max", "min", "prod"},
      {"nn.max_pool2d", "nn.avg_pool2d"}};
  return kinds;
}

bool IsNumbers(const Expr& e) {
  const auto* constant = e.As<ir::ConstantNode>();
  return constant != nullptr && !constant->data.dtype().is_half() &&
         !constant->data.dtype().is_bool() && constant->data.size() > 0;
}

// Floats are halved, which makes other numbers of all but zero and infinities. Of integers, all or
// one change in their last bit.
Expr OtherNumbers(const ir::ConstantNode& constant, Random& random) {
  const NDArray& x = constant.data;
  if (x.dtype().is_float())
    return ir::Constant::Make(ArrayOf(x.shape(), x.dtype(), [&](std::int64_t i) {
      const double number =
          x.dtype() == Float32 ? static_cast<double>(x.data<float>()[i]) : x.data<double>()[i];
      return number / 2;
    }));
  const NDArray changed = x.Clone();
  auto* bytes = static_cast<unsigned char*>(changed.raw());
  const bool all = random.Chance(50);
  const std::int64_t one = random.Below(x.size());
  for (std::int64_t i = all ? 0 : one; i < (all ? x.size() : one + 1); ++i)
    bytes[i * x.dtype().bytes()] ^= 1;
  return ir::Constant::Make(changed);
}

Expr Changed(const Expr& e, Random& random) {
  if (const auto* constant = e.As<ir::ConstantNode>()) return OtherNumbers(*constant, random);
  const auto& call = *e.As<ir::CallNode>();
  const ops::OpDef& op = *ops::OpOf(call.callee);
  const auto has_op = [&](const Words& kind) { return std::ranges::count(kind, op.name) != 0; };
  const auto kind = std::ranges::find_if(Kinds(), has_op);
  const bool may_rename = kind != Kinds().end();
  if (may_rename && (!call.attrs.defined() || random.Chance(50))) {
    const std::string& other = random.Of(*kind);
    const Expr& callee = ops::OpRegistry::Global().Get(other);
    const bool is_alike = ops::OpOf(callee)->schema == op.schema;
    return is_alike ? ir::Call::Make(callee, call.args, call.attrs, call.span) : e;
  }
  return ir::Call::Make(call.callee, call.args, WithOtherField(op, call.attrs, random), call.span);
}

}  // namespace

std::optional<ir::Module> RelativeOf(const ir::Module& module, Random& random) {
  const ir::FunctionNode& main = module.Main();
  std::vector<Expr> places;
  ir::VisitPostOrder(main.body, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (IsNumbers(e) || (call != nullptr && call->op() != nullptr)) places.push_back(e);
  });
  for (int i = 0; i < kTries && !places.empty(); ++i) {
    const Expr place = random.Of(places);
    std::optional<ir::Module> made;
    const absl::Status status = CatchErrors([&] {
      bool is_other = false;
      const Expr body = ir::RewritePostOrder(main.body, [&](const Expr& original, const Expr& e) {
        if (original.get() != place.get()) return e;
        const Expr other = Changed(e, random);
        is_other = !ir::StructuralEqual(other, e);
        return other;
      });
      if (!is_other) return;
      made = passes::InferType(module.With("main", ir::Function::Make(main.params, body)));
    });
    if (!status.ok() || !made) continue;
    if (ir::ToString(made->Main().body.checked_type()) == ir::ToString(main.body.checked_type()))
      return made;
  }
  return std::nullopt;
}

}  // namespace tenon::verify
