#include "tenon/verify/draw/random_operator.h"

#include <algorithm>
#include <utility>

#include "tenon/ir/expr.h"
#include "tenon/ir/flatten.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/fusion/groups.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/quantize/canonicalize_qnn.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/schedule/accesses.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

constexpr int kDraws = 2000;
// The interpreter computes this many in a few seconds.
constexpr std::int64_t kMaxTerms = 1 << 22;

// "float32 (3, 5), int64 (4,)"
std::string TypesOf(const std::vector<ir::Expr>& params) {
  return StrJoin(params, ", ", [](std::string* text, const ir::Expr& param) {
    const ir::Type& type = param.checked_type();
    StrAppend(text, type.As<ir::TensorTypeNode>()->dtype.ToString(), " ",
              ShapeToString(ir::StaticShape(type, "an argument")));
  });
}

// The number of elements and terms that all computations take.
std::int64_t TermsOf(const std::vector<te::Tensor>& outputs) {
  std::int64_t terms = 0;
  for (const te::Operation& op : te::PostOrder(outputs)) {
    if (op->is_compute())
      terms +=
          strategies::ProductOfExtents(op->axes) * strategies::ProductOfExtents(op->reduce_axes);
  }
  return terms;
}

// The function from which a kernel is made: operators that others stand for have no compute of
// their own, and kernels read constants as parameters, whose values it adds.
ir::Expr AsKernel(const ir::Module& module, std::vector<NDArray>* values) {
  const ir::Module lowered = passes::CanonicalizeQnn(module);
  const ir::FunctionNode& main = lowered.Main();
  const ir::Expr kernel =
      ir::Function::Make(main.params, main.body, main.body.checked_type(),
                         {{"Primitive", attrs::Value(std::int64_t{1})}}, {}, main.checked_type);
  const ir::Expr call = passes::WithConstantsAsArguments(
      ir::Call::Make(kernel, main.params, {}, {}, main.body.checked_type()));
  const auto& made = *call.As<ir::CallNode>();
  for (std::size_t i = main.params.size(); i < made.args.size(); ++i) {
    values->resize(i);  // those of parameters that are not known are null
    values->push_back(made.args[i].As<ir::ConstantNode>()->data);
  }
  return made.callee;
}

// Whether values decide extents of the results, so that no one kernel computes them.
bool HasRunTimeExtents(const ir::Type& type) {
  return std::ranges::any_of(ir::Flatten(type), [](const ir::Type& part) {
    return part.As<ir::TensorTypeNode>() != nullptr && !ir::IsStaticTensor(part);
  });
}

}  // namespace

OperatorCall Completed(UntypedCall drawn) {
  const ir::Module module = passes::InferType(drawn.module);
  const auto& call = *module.Main().body.As<ir::CallNode>();
  const std::string attribute_text = call.attrs.defined() ? call.attrs.ToText() : "";
  const std::string text = StrCat(call.op()->name, "(", TypesOf(module.Main().params),
                                  attribute_text.empty() ? "" : ", ", attribute_text, ")");
  if (HasRunTimeExtents(module.Main().body.checked_type()))
    return {{.values = std::move(drawn.values)}, module, text};
  const strategies::TeFunction made =
      strategies::LowerFunction(*AsKernel(module, &drawn.values).As<ir::FunctionNode>());
  for (const te::Tensor& output : made.outputs) {
    if (NumElements(strategies::ShapeOf(output)) > 16 * kMaxArgumentElements)
      throw InvalidArgument("the result is too large to check");
    if (output.op()->is_placeholder()) throw InvalidArgument("nothing is computed");
  }
  if (TermsOf(made.outputs) > kMaxTerms)
    throw InvalidArgument("the result takes too long to check");
  return {{.inputs = made.params, .outputs = made.outputs, .values = std::move(drawn.values)},
          module,
          text};
}

std::optional<OperatorCall> MakeRandomCall(const std::string& name, Random& random,
                                           std::string* refusal) {
  ops::OpRegistry& registry = ops::OpRegistry::Global();
  strategies::RegisterStrategies(registry);
  (void)registry.Get(name);  // which throws for an unknown operator
  for (int draw = 0; draw < kDraws; ++draw) {
    absl::StatusOr<OperatorCall> call =
        CatchErrors([&] { return Completed(DrawCall(name, draw % 4 == 1, random)); });
    if (call.ok()) return *std::move(call);
    if (call.status().code() == absl::StatusCode::kInternal) throw FromStatus(call.status());
    *refusal = FromStatus(call.status()).message();
  }
  return std::nullopt;
}

}  // namespace tenon::verify
