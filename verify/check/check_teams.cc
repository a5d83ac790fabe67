#include "tenon/verify/check/check_teams.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/text_format.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/callers.h"

namespace tenon::verify {
namespace {

using Arrays = std::vector<NDArray>;

// Other orders of sums.
constexpr double kTolerance = 1e-4;

// Extents of which threads get unequal shares, too.
std::int64_t AnyExtent(Random& random) {
  return random.Of(std::vector<std::int64_t>{16, 31, 48, 48, 64, 67, 96, 131});
}

std::string AnyModule(Random& random) {
  const auto tensor = [](const std::vector<std::int64_t>& shape) {
    return StrCat("Tensor[(", StrJoin(shape, ", "), "), float32]");
  };
  const std::int64_t m = AnyExtent(random), n = AnyExtent(random), k = AnyExtent(random);
  const std::int64_t batch = 1 + random.Below(3);
  std::vector<std::int64_t> x = {m, k}, w = {n, k};
  std::string call = "nn.dense(%x, %w)";
  switch (random.Below(4)) {
    case 0:
      x.insert(x.begin(), batch);
      w = {batch, k, n};
      call = "nn.batch_matmul(%x, %w)";
      break;
    case 1:
      x = {batch, 16, 5 + random.Below(20), 5 + random.Below(20)};
      w = {n, 16, 3, 3};
      call =
          StrCat("nn.conv2d(%x, %w, padding=[1, 1, 1, 1], kernel_size=[3, 3], channels=", n, ")");
      break;
    default:
      break;
  }
  if (random.Chance(40)) call = StrCat("nn.relu(", call, ")");
  return StrCat("def @main(%x: ", tensor(x), ", %w: ", tensor(w), ") { ", call, " }");
}

Executable Compiled(const ir::Module& module, int threads) {
  CompileOptions options;
  options.library = LibraryChoice::kLibrary;
  options.threads = threads;
  return ValueOrThrow(Compile(module, options));
}

}  // namespace

std::optional<std::string> CheckTeams(Random& random) {
  const std::string text = AnyModule(random);
  ir::Module module = passes::InferType(
      ValueOrThrow(ir::ParseModule(text, ops::OpRegistry::Global().Resolver(), "teams")));
  runtime::Inputs inputs;
  for (const ir::Expr& param : module.Main().params)
    inputs[ir::Var(param).name()] =
        RandomArray(ir::StaticShape(param.checked_type(), "an input"), Float32, random);
  const auto any_threads = [&] { return random.Of(std::vector<int>{1, 2, 2, 3}); };
  // A weight that is known is packed when the kernel is made.
  const bool is_known = random.Chance(50);
  if (is_known) {
    const NDArray weight = inputs.at("w");
    module = passes::InferType(passes::BindParams(module, "main", {{"w", weight}}));
    inputs.erase("w");
  }
  const int made_for = any_threads(), run_on = any_threads();
  const Executable executable = Compiled(module, made_for);
  // Results are kept until all have run: memory that is given back may hold right ones.
  std::vector<std::pair<const char*, Arrays>> runs;
  Callers callers(executable, inputs, run_on);
  const auto add = [&](const char* how, std::vector<Arrays> all) {
    for (Arrays& results : all) runs.emplace_back(how, std::move(results));
  };
  add("in a team of one", callers.InATeamOfOne());
  add("inside a parallel region", callers.InARegion());
  runtime::Session alone(executable, {.threads = run_on});
  add("alone", {ValueOrThrow(alone.Run(inputs))});
  runtime::Session one(Compiled(module, 1), {.threads = 1});
  const NDArray expected = ValueOrThrow(one.Run(inputs)).at(0);
  for (const auto& [how, results] : runs) {
    const auto difference = FirstDifference(results.at(0), expected,
                                            kTolerance * std::max(1.0, LargestMagnitude(expected)));
    if (!difference) continue;
    return StrCat(is_known ? "with a known weight, " : "", "made for ", made_for,
                  " threads and run on ", run_on, " ", how, ", element (",
                  StrJoin(difference->index, ", "), ") is ", difference->actual,
                  "; made for one thread and run on one it is ", difference->expected, "\n", text);
  }
  return std::nullopt;
}

}  // namespace tenon::verify
