#include "tenon/verify/fuzz_operator.h"

#include <algorithm>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/text_format.h"
#include "tenon/loop/visit.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/expand_run_time_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/precision/widen_half_floats.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/check_refusals.h"
#include "tenon/verify/define/plain_definition.h"
#include "tenon/verify/draw/module_measures.h"
#include "tenon/verify/draw/random_call.h"
#include "tenon/verify/draw/random_operator.h"
#include "tenon/verify/fuzz_passes.h"
#include "tenon/verify/interpret.h"
#include "tenon/verify/verify_schedule.h"

namespace tenon::verify {
namespace {

// Libraries and Winograd's algorithm sum in other orders.
constexpr double kTolerance = 1e-4;
// Calls beside each that fits.
constexpr int kRefusals = 4;
// Calls with one change.
constexpr int kNear = 3;

// Whether positions that are read depend on the contents of inputs, as in a gather.
bool ReadsByData(const std::vector<te::Tensor>& outputs) {
  bool by_data = false;
  for (const te::Operation& op : te::PostOrder(outputs)) {
    by_data = by_data || (!op->is_compute() && !op->is_placeholder());
    for (const te::Expr& value : op->body) {
      loop::VisitExpr(value, [&](const te::Expr& e) {
        const auto* load = e.As<loop::LoadNode>();
        if (load == nullptr) return;
        for (const te::Expr& index : load->indices) {
          loop::VisitExpr(index, [&](const te::Expr& part) {
            by_data = by_data || part.kind() == loop::ExprKind::kLoad;
          });
        }
      });
    }
  }
  return by_data;
}

// Whether rounding may decide between two integer results.
bool MayBeEither(const NDArray& result, const std::vector<NDArray>& inputs) {
  return !result.dtype().is_float() && !result.dtype().is_bool() &&
         std::any_of(inputs.begin(), inputs.end(),
                     [](const NDArray& input) { return input.dtype().is_float(); });
}

// `is_defined`: any values are right, since the operator has a plain definition for all.
std::vector<NDArray> RandomArguments(const OperatorCall& call, bool is_defined,
                                     std::uint64_t seed) {
  Random random(seed);
  std::vector<NDArray> arrays;
  for (const ir::Expr& param : call.module.Main().params) {
    const std::vector<NDArray>& known = call.graph.values;
    if (arrays.size() < known.size() && known[arrays.size()].defined()) {
      arrays.push_back(known[arrays.size()]);
      continue;
    }
    const ir::Type& type = param.checked_type();
    NDArray array = RandomArray(ir::StaticShape(type, "an argument"),
                                type.As<ir::TensorTypeNode>()->dtype, random);
    if (is_defined && random.Chance(40)) array = WithTies(array, random);
    if (is_defined && random.Chance(40)) array = WithEnds(array, random);
    if (is_defined && array.dtype().is_float() && random.Chance(20))
      array = WithSpecialValues(array, random);
    arrays.push_back(std::move(array));
  }
  return arrays;
}

// Of a module that is a call over its parameters; fields of a tuple are parameters, too.
std::optional<std::string> WrongByDefinition(const OperatorCall& call,
                                             const std::vector<NDArray>& arrays,
                                             const std::vector<NDArray>& results) {
  const ir::FunctionNode& main = call.module.Main();
  const auto* node = main.body.As<ir::CallNode>();
  if (node == nullptr) return std::nullopt;
  std::vector<ir::Expr> read;
  for (const ir::Expr& arg : node->args) {
    const auto* tuple = arg.As<ir::TupleNode>();
    const std::vector<ir::Expr> fields = tuple == nullptr ? std::vector{arg} : tuple->fields;
    read.insert(read.end(), fields.begin(), fields.end());
  }
  std::vector<NDArray> args;
  for (const ir::Expr& arg : read) {
    const auto param = std::find(main.params.begin(), main.params.end(), arg);
    if (param == main.params.end()) return std::nullopt;
    args.push_back(arrays[static_cast<std::size_t>(param - main.params.begin())]);
  }
  return DifferenceFromDefinition(*node, args, results);
}

// The call with some of its parameters as constants, for which passes and forms have rules of their
// own.
ir::Module WithConstants(const OperatorCall& call, const std::vector<NDArray>& arrays,
                         Random& random) {
  passes::ParamValues values;
  const std::vector<ir::Expr>& params = call.module.Main().params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (random.Chance(60)) values.emplace_back(ir::Var(params[i]).name(), arrays[i]);
  }
  return passes::InferType(passes::BindParams(call.module, "main", values));
}

// `module` is the call, of whose parameters some may be constants. `expected` are the interpreter's
// results for `arrays`, which are in the order of the call's parameters. `is_defined` is as in
// RandomArguments.
std::optional<std::string> CheckKernels(const OperatorCall& call, const ir::Module& module,
                                        const std::vector<NDArray>& arrays,
                                        const std::vector<NDArray>& expected, bool is_defined,
                                        LibraryChoice library) {
  const auto& params = module.Main().params;
  runtime::Inputs inputs;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const ir::Expr& param = call.module.Main().params[i];
    if (std::find(params.begin(), params.end(), param) != params.end())
      inputs.emplace(ir::Var(param).name(), arrays[i]);
  }
  const CompileOptions options = {
      .library = library, .keep_nan = true, .verify = true, .check_bounds = true};
  const absl::StatusOr<Lowered> lowered = Lower(module, options);
  if (lowered.status().code() == absl::StatusCode::kUnimplemented) return std::nullopt;
  const auto results = CatchErrors(
      [&] { return ValueOrThrow(ValueOrThrow(Link(ValueOrThrow(lowered), options)).Run(inputs)); });
  if (!results.ok()) return StrCat("compile and run: ", FromStatus(results.status()).message());
  if (const auto wrong = WrongByDefinition(call, arrays, *results))
    return StrCat("wrong result: ", *wrong);
  const std::vector<te::Tensor>& outputs = call.graph.outputs;
  const double relative =
      outputs.empty() ? 0 : std::max(kTolerance, jit::DefaultTolerance(outputs, loop::ExprMap()));
  for (std::size_t i = 0; i < results->size(); ++i) {
    const NDArray& got = (*results)[i];
    const NDArray& wanted = expected[i];
    if (got.shape() != wanted.shape())
      return StrCat("wrong result: result ", i, " is ", ShapeToString(got.shape()), "; it must be ",
                    ShapeToString(wanted.shape()));
    // The interpreter rounds every step, which may overflow; the definition has checked the result.
    if (is_defined && wanted.dtype().is_half() && !IsFinite(wanted)) continue;
    const auto d = FirstDifference(got, wanted, relative * std::max(1.0, LargestMagnitude(wanted)));
    const bool may_be_either =
        !outputs.empty() && (MayBeEither(wanted, arrays) || TruncatesFloats(outputs[i]));
    if (!d || (may_be_either && LargestDifference(got, wanted) <= 1)) continue;
    std::string made;
    for (const LoweredKernel& kernel : lowered->kernels)
      StrAppend(&made, made.empty() ? "" : ", ", kernel.choice.implementation);
    return StrCat("wrong result of ", made, ": element (", StrJoin(d->index, ", "), ") of result ",
                  i, " is ", d->actual, "; it must be ", d->expected);
  }
  return std::nullopt;
}

// Operators whose results have as many elements as values say are those that they stand for, and
// sums of halves are rounded once, as they are at every level.
std::vector<NDArray> Interpreted(const ir::Module& module, const std::vector<NDArray>& arrays) {
  const ir::Module expanded = passes::InferType(passes::ExpandRunTimeOps(module));
  return Interpret(passes::WidenHalfFloats(expanded), arrays);
}

// What the interpreter, the definition and the kernels of the call give.
std::optional<std::string> CheckResults(const OperatorCall& call, std::uint64_t seed,
                                        Random& random) {
  const auto describe = [&](const std::string& finding) {
    return StrCat(call.text, "\nfinding of seed ", seed, ": ", finding, "\n",
                  ir::PrintModule(call.module));
  };
  const bool is_defined = TakesAnyValues(call.module.Main().body.As<ir::CallNode>()->op()->name);
  const std::vector<NDArray> arrays = RandomArguments(call, is_defined, seed);
  const auto expected = CatchErrors([&] { return Interpreted(call.module, arrays); });
  if (!expected.ok()) {
    if (ReadsByData(call.graph.outputs) && !ReadsNoElements(expected.status()))
      return std::nullopt;  // FuzzSchedule counts such cases
    return describe(StrCat("whatever the inputs hold: ", FromStatus(expected.status()).message()));
  }
  if (const auto wrong = WrongByDefinition(call, arrays, *expected))
    return describe(StrCat("the interpreter is wrong: ", *wrong));
  for (const LibraryChoice library : {LibraryChoice::kAuto, LibraryChoice::kLibrary}) {
    const auto finding = CheckKernels(call, call.module, arrays, *expected, is_defined, library);
    if (finding) return describe(*finding);
  }
  const ir::Module bound = WithConstants(call, arrays, random);
  const auto finding =
      CheckKernels(call, bound, arrays, *expected, is_defined, LibraryChoice::kAuto);
  if (finding) return describe(StrCat("with constants: ", *finding, "\n", ir::PrintModule(bound)));
  if (!is_defined || !std::ranges::all_of(arrays, IsFinite)) return std::nullopt;
  PassFuzzStatistics ignored;
  return CheckForAllValues({call.module, arrays}, seed, &ignored);
}

// The call with one change: it is refused in words, or it has the results of its definition. What
// is too large to run is compiled.
std::optional<std::string> CheckNear(const OperatorCall& call, std::uint64_t seed, Random& random,
                                     FuzzStatistics* statistics, const BeforeCall& before) {
  const UntypedCall near = WithOneChange({call.module, call.graph.values}, random);
  if (before != nullptr) before(ir::PrintModule(near.module));
  const auto describe = [&](const std::string& finding) {
    return StrCat("finding of seed ", seed, ": with one change: ", finding);
  };
  if (const auto finding = CheckRefusalOf(near.module, random)) return describe(*finding);
  OperatorCall fits;
  const absl::Status status = CatchErrors([&] { fits = Completed(near); });
  if (status.ok()) {
    ++statistics->near;
    return CheckResults(fits, seed, random);
  }
  ++statistics->misfits;
  const absl::Status compiled = Compile(near.module, {.verify = true}).status();
  for (const absl::Status& end : {status, compiled}) {
    if (!end.ok() && !IsUserError(end) && end.code() != absl::StatusCode::kResourceExhausted)
      return describe(StrCat(FromStatus(end).message(), "\n", ir::PrintModule(near.module)));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FuzzOperator(const std::string& op, std::uint64_t seed,
                                        FuzzStatistics* statistics, const BeforeCall& before) {
  Random random(seed);
  std::string refusal;
  const std::optional<OperatorCall> call = MakeRandomCall(op, random, &refusal);
  if (!call) {
    ++statistics->uncalled;
    return std::nullopt;
  }
  if (call->graph.outputs.empty()) {
    ++statistics->cases;
  } else if (const auto finding = FuzzSchedule(call->graph, seed, statistics)) {
    return StrCat(call->text, "\n", *finding);
  }
  for (int i = 0; i < kRefusals; ++i) {
    if (const auto finding = CheckRefusal(op, random, before))
      return StrCat("finding of seed ", seed, ": ", *finding);
  }
  if (before != nullptr) before("");
  if (auto finding = CheckResults(*call, seed, random)) return finding;
  for (int i = 0; i < kNear; ++i) {
    if (auto finding = CheckNear(*call, seed, random, statistics, before)) return finding;
  }
  if (before != nullptr) before("");
  return std::nullopt;
}

}  // namespace tenon::verify
