#include "tenon/runtime/saved_executable.h"

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tenon/runtime/input_symbols.h"
#include "tenon/runtime/part_cases.h"
#include "tenon/runtime/program.h"
#include "tenon/runtime/saved_kernels.h"
#include "tenon/runtime/saved_plan.h"
#include "tenon/runtime/symbolic_executable.h"
#include "tenon/support/error.h"
#include "tenon/support/mapped_file.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

namespace fs = std::filesystem;

using Params = std::shared_ptr<const MappedFile>;

NDArray ConstantAt(std::size_t at, const Entry& entry, const Params& params) {
  return NDArray::View(entry.shape, entry.dtype, params->data() + at, params);
}

// Those of a plan, in the places where it counts them.
std::vector<NDArray> ConstantsOf(const Plan& plan, const std::vector<std::size_t>& constants_at,
                                 const Params& params) {
  std::vector<NDArray> constants(constants_at.size());
  for (const Node& node : plan.nodes) {
    if (node.kind != NodeKind::kConstant) continue;
    const auto index = static_cast<std::size_t>(node.constant);
    constants[index] = ConstantAt(constants_at[index], node.outputs[0], params);
  }
  return constants;
}

Executable PlanOf(SavedPlan saved, const SavedKernels& kernels, const Params& params) {
  std::vector<NDArray> constants = ConstantsOf(saved.plan, saved.constants_at, params);
  if (!saved.plan.symbols.empty())
    return MakeSymbolicExecutable(
        kernels.PartsFor(std::move(saved.plan), std::move(constants), saved.threads));
  for (const Node& node : saved.plan.nodes) {
    if (node.kind == NodeKind::kKernel) kernels.RequireFits(saved.plan, node, node.kernel, {});
  }
  return Executable({.plan = std::move(saved.plan),
                     .kernels = kernels.All(),
                     .constants = std::move(constants),
                     .threads = saved.threads,
                     .bind = nullptr});
}

Executable ProgramOf(SavedPlan saved, const SavedKernels& kernels, const Params& params) {
  PlannedProgram planned = *std::move(saved.program);
  const auto program = std::make_shared<Program>();
  program->functions = std::move(planned.functions);
  program->extents = std::move(planned.extents);
  for (const PlannedConstant& constant : planned.constants)
    program->constants.push_back(
        ConstantAt(saved.constants_at[constant.constant], constant.type, params));
  for (PlannedPart& part : planned.parts) {
    std::vector<BoundCase> cases;
    for (PartCase& of_part : part.cases) {
      std::vector<NDArray> constants = ConstantsOf(of_part.plan, saved.constants_at, params);
      cases.push_back({.known = std::move(of_part.known),
                       .binder = std::make_shared<PlanBinder>(kernels.PartsFor(
                           std::move(of_part.plan), std::move(constants), saved.threads))});
    }
    program->parts.push_back(MakePart(std::move(part.symbols), std::move(cases)));
  }
  const auto symbols =
      std::make_shared<const InputSymbols>(InputsOf(saved.plan), saved.plan.conditions);
  if (!symbols->names().empty())
    program->solve = [symbols](const Inputs& given) { return symbols->Solve(given); };
  return Executable({.plan = {},
                     .kernels = kernels.All(),
                     .constants = {},
                     .threads = saved.threads,
                     .bind = nullptr,
                     .inputs = symbols->inputs(),
                     .program = program});
}

void RequireFiles(const fs::path& folder) {
  const std::vector<std::string> files = {kManifestFile, kGraphFile, kParamsFile, kKernelsFile};
  std::error_code unknown;
  const std::string what =
      StrCat("a saved executable has ", StrJoin(files, ", "),
             ", which SaveExecutable and tenon compile --emit=executable write");
  if (!fs::is_directory(folder, unknown))
    throw NotFound(StrCat(folder.string(), " is no folder; ", what));
  for (const std::string& file : files) {
    if (!fs::exists(folder / file, unknown) && !unknown)
      throw NotFound(StrCat("the folder ", folder.string(), " has no ", file, "; ", what));
  }
}

SavedExecutable Load(const fs::path& folder, const LoadOptions& options) {
  const auto text = [&](const char* file) {
    return std::string(MappedFile::Open((folder / file).string())->bytes());
  };
  SavedPlan saved = ParseSavedPlan({.graph = text(kGraphFile), .manifest = text(kManifestFile)});
  const Params params = MappedFile::Open((folder / kParamsFile).string());
  if (params->size() != saved.params.bytes ||
      (options.check_params && FileMark::Of(params->bytes()) != saved.params))
    throw DataLoss(StrCat(kParamsFile, " is not the file that was saved"));
  // The dynamic linker trusts a library to be whole. What is checked here is what it gets.
  const auto library = MappedFile::Open((folder / kKernelsFile).string());
  if (FileMark::Of(library->bytes()) != saved.kernels_file)
    throw DataLoss(StrCat(kKernelsFile, " is not the file that was saved"));
  const SavedKernels kernels(library->bytes(), saved.kernels);
  std::vector<std::string> names = std::move(saved.result_names);
  Executable executable = saved.program ? ProgramOf(std::move(saved), kernels, params)
                                        : PlanOf(std::move(saved), kernels, params);
  if (!names.empty()) executable = executable.WithResultNames(names);
  return {std::move(executable), std::move(names)};
}

}  // namespace

bool IsSavedExecutable(const std::string& folder) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(folder) / kManifestFile, ignored);
}

absl::StatusOr<SavedExecutable> LoadExecutable(const std::string& folder,
                                               const LoadOptions& options) {
  return CatchErrors([&] {
    RequireFiles(folder);
    try {
      return Load(folder, options);
    } catch (Error& error) {
      throw error.AddNote(StrCat("the saved executable ", folder));
    }
  });
}

}  // namespace tenon::runtime
