#include "tenon/verify/check/check_refusals.h"

#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/flatten.h"
#include "tenon/ir/text_format.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/strategy.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/module_measures.h"
#include "tenon/verify/draw/random_call.h"

namespace tenon::verify {
namespace {

// No machine has so much memory.
constexpr double kTooManyBytes = 0x1p50;

double BytesOf(const ir::Type& type) {
  double bytes = 0;
  for (const ir::Type& part : ir::Flatten(type)) {
    const auto* tensor = part.As<ir::TensorTypeNode>();
    if (tensor == nullptr) continue;
    double own = tensor->dtype.bytes();
    for (const Dim& dim : tensor->shape)
      own *= dim.is_static() ? static_cast<double>(dim.value()) : 1;
    bytes += own;
  }
  return bytes;
}

bool IsRefusedInWords(const absl::Status& status) {
  return IsUserError(status) || status.code() == absl::StatusCode::kResourceExhausted;
}

// What happens to the untyped call: compiled, and run where that goes.
absl::Status OutcomeOf(const ir::Module& module, int level, Random& random) {
  const absl::StatusOr<Executable> made =
      Compile(module, {.opt_level = level, .verify = random.Chance(50)});
  if (!made.ok()) return made.status();
  runtime::Inputs inputs;
  for (const ir::Expr& param : module.Main().params) {
    const ir::Type type = ir::Var(param).type_annotation();
    inputs.emplace(ir::Var(param).name(),
                   RandomArray(ir::StaticShape(type, "an argument"),
                               type.As<ir::TensorTypeNode>()->dtype, random));
  }
  return made->Run(inputs).status();
}

}  // namespace

std::optional<std::string> CheckRefusalOf(const ir::Module& module, Random& random,
                                          const BeforeCall& before) {
  const auto finding = [&](const std::string& what) {
    return StrCat(what, "\n", ir::PrintModule(module));
  };
  const absl::StatusOr<ir::Module> typed = CatchErrors([&] { return passes::InferType(module); });
  // Types take no memory that a machine may lack.
  if (!typed.ok() && !IsUserError(typed.status()))
    return finding(StrCat("types are not refused in words: ", typed.status().ToString()));
  if (typed.ok() && BytesOf(typed->Main().body.checked_type()) < kTooManyBytes)
    return std::nullopt;  // other checks run what fits
  if (before != nullptr) before(ir::PrintModule(module));
  const int level = random.Chance(50) ? 0 : 3;
  const absl::Status outcome = OutcomeOf(module, level, random);
  if (outcome.ok())
    return finding(StrCat(
        "at level ", level, " it compiles and runs, ",
        typed.ok() ? "and no memory holds its result"
                   : StrCat("and its types are refused: ", FromStatus(typed.status()).message())));
  if (!IsRefusedInWords(outcome))
    return finding(StrCat("at level ", level, " it is not refused in words: ", outcome.ToString()));
  return std::nullopt;
}

std::optional<std::string> CheckRefusal(const std::string& op, Random& random,
                                        const BeforeCall& before) {
  UntypedCall call;
  const absl::Status drawn = CatchErrors([&] { call = AnyCall(op, random); });
  if (!drawn.ok()) return std::nullopt;
  const auto finding = CheckRefusalOf(call.module, random, before);
  return finding ? std::optional(StrCat(op, ": ", *finding)) : std::nullopt;
}

std::optional<std::string> CheckRefusals(int count, Random& random, const BeforeCall& before) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  static const std::vector<std::string>& names =
      *new std::vector<std::string>(ops::OpRegistry::Global().Names());
  for (int i = 0; i < count; ++i) {
    if (auto finding = CheckRefusal(random.Of(names), random, before)) return finding;
  }
  return std::nullopt;
}

}  // namespace tenon::verify
