#include "tenon/verify/check/compiled_run.h"

#include <optional>
#include <string_view>

#include "tenon/ir/text_format.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/check/temporary_folder.h"
#include "tenon/verify/draw/callers.h"
#include "tenon/verify/draw/relative_module.h"
#include "tenon/verify/draw/symbolic_module.h"

namespace tenon::verify {
namespace {

using Arrays = std::vector<NDArray>;

void RequireSameBits(const Arrays& actual, const Arrays& expected, std::string_view what) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!actual.at(i).SameBytes(expected[i]))
      throw DataLoss(StrCat("result ", i, " has other bits ", what));
  }
}

CompileOptions RelativeOptions(CompileOptions options, Random& random) {
  switch (random.Below(8)) {
    case 0:
      options.keep_nan = !options.keep_nan;
      break;
    case 1:
      options.reassociate_reductions = !options.reassociate_reductions;
      break;
    case 2:
      options.check_bounds = !options.check_bounds;
      break;
    case 3:
      options.threads = options.threads == 1 ? 2 : 1;
      break;
    case 4:
      options.generic = !options.generic;
      break;
    case 5:
      options.winograd = !options.winograd;
      break;
    case 6:
      options.reproducible = !options.reproducible;
      break;
    default:
      options.opt_level = options.opt_level == 3 ? 2 : 3;
      break;
  }
  return options;
}

std::string_view NameOf(LibraryChoice library) {
  switch (library) {
    case LibraryChoice::kAuto:
      return "auto";
    case LibraryChoice::kTe:
      return "te";
    case LibraryChoice::kLibrary:
      return "onednn";
  }
  return "";
}

std::string_view NameOf(Caller caller) {
  switch (caller) {
    case Caller::kAlone:
      return "alone";
    case Caller::kThreads:
      return "on several threads at once";
    case Caller::kRegion:
      return "inside a parallel region";
    case Caller::kLimited:
      return "in a team of one";
  }
  return "";
}

}  // namespace

std::vector<Arrays> CompiledRun::Of(const ir::Module& module, const Arrays& inputs) const {
  runtime::Inputs named;
  const auto& params = module.Main().params;
  for (std::size_t i = 0; i < params.size(); ++i)
    named.emplace(ir::Var(params[i]).name(), inputs[i]);
  const auto compiled = [&](const std::string& cache_dir) {
    CompileOptions changed = options;
    changed.cache_dir = cache_dir;
    if (const auto symbolic = symbols ? WithSymbols(module, *symbols) : std::nullopt) {
      if (in_steps) {
        const auto lowered = Lower(*symbolic, changed);
        if (lowered.ok()) return ValueOrThrow(Link(*lowered, changed));
        // Not all models have one plan for all values.
        if (lowered.status().code() == absl::StatusCode::kInternal) ValueOrThrow(lowered);
      }
      absl::StatusOr<Executable> executable = Compile(*symbolic, changed);
      // Types may not follow from variables, or contradict each other where numbers agree.
      const absl::StatusCode code = executable.status().code();
      if (code != absl::StatusCode::kUnimplemented && code != absl::StatusCode::kInvalidArgument)
        return ValueOrThrow(std::move(executable));
    }
    return ValueOrThrow(Compile(module, changed));
  };
  const Executable executable = compiled("");
  runtime::Session session(executable, {.threads = run_threads});
  Arrays results = ValueOrThrow(session.Run(named));
  RequireSameBits(ValueOrThrow(session.Run(named)), results, "in a second run");
  if (cache == CacheUse::kColdAndWarm) {
    const TemporaryFolder folder;
    for (const char* what : {"from an empty cache", "from a warm cache"}) {
      runtime::Session other(compiled(folder.path().string()), {.threads = run_threads});
      RequireSameBits(ValueOrThrow(other.Run(named)), results, what);
    }
    if (relatives) CheckRelatives(module, named, folder.path().string());
  }
  std::vector<Arrays> all = {results};
  if (exported) {
    const auto symbolic = symbols ? WithSymbols(module, *symbols) : std::nullopt;
    if (const auto other =
            RunExported(symbolic.value_or(module), inputs, options, *exported, export_seed))
      all.push_back(*other);
  }
  if (caller == Caller::kAlone) return all;
  Callers callers(executable, named, run_threads);
  const std::vector<Arrays> others = caller == Caller::kThreads  ? callers.OnThreads()
                                     : caller == Caller::kRegion ? callers.InARegion()
                                                                 : callers.InATeamOfOne();
  for (const Arrays& one : others) {
    // Library kernels of another team may sum in another order.
    if (options.library == LibraryChoice::kTe) RequireSameBits(one, results, NameOf(caller));
    all.push_back(one);
  }
  return all;
}

void CompiledRun::CheckRelatives(const ir::Module& module, const runtime::Inputs& named,
                                 const std::string& cache_dir) const {
  Random random(*relatives);
  const auto check = [&](const ir::Module& other, CompileOptions changed, const char* what) {
    const auto results = [&](const std::string& folder) -> absl::StatusOr<Arrays> {
      changed.cache_dir = folder;
      return CatchErrors([&] {
        runtime::Session session(ValueOrThrow(Compile(other, changed)), {.threads = run_threads});
        return ValueOrThrow(session.Run(named));
      });
    };
    const absl::StatusOr<Arrays> expected = results("");
    if (expected.ok()) RequireSameBits(ValueOrThrow(results(cache_dir)), *expected, what);
  };
  const std::optional<ir::Module> relative = RelativeOf(module, random);
  if (relative)
    check(*relative, options,
          StrCat("from the cache of a module that differs in one place; without it:\n",
                 ir::PrintModule(*relative))
              .c_str());
  check(module, RelativeOptions(options, random), "from the cache of other options");
}

std::string CompiledRun::ToString() const {
  return StrCat(
      "level ", options.opt_level, ", library ", NameOf(options.library), ", ",
      options.winograd ? "" : "no Winograd, ", options.keep_nan ? "NaN kept, " : "",
      options.reassociate_reductions ? "" : "sums in order, ",
      options.check_bounds ? "bounds checked, " : "",
      symbols ? StrCat("symbolic (", *symbols, "), ") : std::string(),
      in_steps ? "lowered and linked, " : "",
      exported ? StrCat("as ", NameOf(*exported), " (", export_seed, "), ") : std::string(),
      "compiled for ", options.threads, " threads and run on ", run_threads, ", ",
      cache == CacheUse::kNone ? "" : "from a cache, too, ",
      relatives ? StrCat("and relatives (", *relatives, "), ") : std::string(), NameOf(caller));
}

void CompiledRun::KeepAllFloats() {
  options.winograd = false;
  options.keep_nan = true;
  // A library has ways of its own to lose them.
  if (options.threads % 2 == 1) options.library = LibraryChoice::kLibrary;
}

namespace {

// All but exports.
CompiledRun RandomRunInProcess(Random& random) {
  CompiledRun run;
  run.options.verify = true;
  run.options.check_bounds = random.Chance(80);
  run.options.threads = 1;
  if (random.Chance(30)) run.symbols = random.Below(1000000);
  run.in_steps = run.symbols && random.Chance(40);
  if (random.Chance(30)) run.cache = CacheUse::kColdAndWarm;
  if (random.Chance(50)) return run;
  run.options.opt_level = static_cast<int>(random.Below(5));
  run.options.library = random.Of(std::vector<LibraryChoice>{
      LibraryChoice::kAuto, LibraryChoice::kTe, LibraryChoice::kLibrary, LibraryChoice::kLibrary});
  if (random.Chance(30))
    run.options.fusion = random.Chance(50) ? FusionMode::kRelay : FusionMode::kExtended;
  run.options.winograd = random.Chance(70);
  run.options.keep_nan = random.Chance(30);
  run.options.reassociate_reductions = random.Chance(80);
  run.options.verify = random.Chance(80);
  run.options.threads = static_cast<int>(1 + random.Below(3));
  run.run_threads = static_cast<int>(1 + random.Below(3));
  if (random.Chance(60))
    run.caller =
        random.Of(std::vector<Caller>{Caller::kThreads, Caller::kRegion, Caller::kLimited});
  return run;
}

}  // namespace

CompiledRun RandomRun(Random& random, bool always_exported) {
  CompiledRun run = RandomRunInProcess(random);
  // The system's C compiler takes longer than all the rest.
  if (random.Chance(8) || always_exported) run.exported = RandomForm(random);
  run.export_seed = random.Below(1000000);
  // Draws nothing, so that seeds of earlier findings still make them.
  if (run.cache == CacheUse::kColdAndWarm && run.export_seed % 5 < 3)
    run.relatives = run.export_seed;
  return run;
}

}  // namespace tenon::verify
