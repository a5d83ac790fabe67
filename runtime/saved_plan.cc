#include "tenon/runtime/saved_plan.h"

#include <set>
#include <utility>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/runtime/json_reader.h"
#include "tenon/runtime/plan_json.h"
#include "tenon/runtime/saved_program.h"
#include "tenon/runtime/verify_plan.h"
#include "tenon/runtime/verify_program.h"
#include "tenon/support/error.h"
#include "tenon/support/hash.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

using Reader = JsonReader;

// Of plans, and of programs.
constexpr std::int64_t kFormat = 2, kProgramFormat = 4;

Json MarkJson(const FileMark& mark) {
  return {{"bytes", mark.bytes}, {"hash", HashText(mark.hash)}};
}

FileMark ReadMark(const Reader& json) {
  return {static_cast<std::size_t>(json["bytes"].Integer()), json["hash"].Hex()};
}

// A run reads the values of variables off its inputs.
void RequireShownVariables(const Plan& plan) {
  const std::set<std::string> shown = ShownVariables(plan);
  for (const std::string& symbol : plan.symbols) {
    if (!shown.contains(symbol))
      throw DataLoss(StrCat(kManifestFile, ": no input has the extent ", symbol, " alone"));
  }
}

// `name` is the constant's.
void RequireInParams(const SavedPlan& saved, std::size_t constant, const Entry& entry,
                     const std::string& name) {
  const std::size_t at = saved.constants_at[constant];
  if (at > saved.params.bytes || entry.bytes() > saved.params.bytes - at)
    throw DataLoss(StrCat(kManifestFile, ": the constant ", name, " ends after ", kParamsFile,
                          ", which has ", saved.params.bytes, " bytes"));
  if (at % entry.dtype.bytes() != 0)
    throw DataLoss(StrCat(kManifestFile, ": the constant ", name, " begins inside an element of ",
                          kParamsFile));
}

// Verifies a plan of `saved` and assigns its storage.
void Accept(Plan* plan, const SavedPlan& saved) {
  VerifyPlan(*plan, saved.kernels.size(), saved.constants_at.size());
  for (const Node& node : plan->nodes) {
    if (node.kind == NodeKind::kConstant)
      RequireInParams(saved, static_cast<std::size_t>(node.constant), node.outputs[0], node.name);
  }
  AssignStorage(plan);
}

void AcceptProgram(SavedPlan* saved) {
  PlannedProgram& program = *saved->program;
  for (std::size_t p = 0; p < program.parts.size(); ++p) {
    for (std::size_t c = 0; c < program.parts[p].cases.size(); ++c) {
      try {
        Accept(&program.parts[p].cases[c].plan, *saved);
      } catch (Error& error) {
        throw error.AddNote(StrCat("case ", c, " of part ", p, " of the program"));
      }
    }
  }
  for (std::size_t c = 0; c < program.constants.size(); ++c) {
    const PlannedConstant& constant = program.constants[c];
    if (constant.constant >= saved->constants_at.size())
      throw DataLoss(StrCat(kManifestFile, ": the program's constant ", c, " is constant ",
                            constant.constant, "; there are ", saved->constants_at.size()));
    RequireInParams(*saved, constant.constant, constant.type, StrCat(c, " of the program"));
  }
  VerifyProgram(program, saved->plan);
  FindFacts(&program.functions);
}

}  // namespace

FileMark FileMark::Of(std::string_view bytes) { return {bytes.size(), HashBytes(bytes)}; }

SavedTexts ToTexts(const SavedPlan& saved) {
  Json json;
  json["format"] = saved.program ? kProgramFormat : kFormat;
  json["threads"] = saved.threads;
  SavedTexts texts{.graph = ToGraphJson(saved.plan), .manifest = {}};
  json["files"] = {{kGraphFile, MarkJson(FileMark::Of(texts.graph))},
                   {kParamsFile, MarkJson(saved.params)},
                   {kKernelsFile, MarkJson(saved.kernels_file)}};
  json["kernels"] = saved.kernels;
  json["constants_at"] = saved.constants_at;
  json["results"] = saved.result_names;
  AddPlanJson(saved.plan, &json);
  if (saved.program) json["program"] = ProgramJson(*saved.program);
  texts.manifest = json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  return texts;
}

SavedPlan ParseSavedPlan(const SavedTexts& texts) {
  const Json manifest_json = ParsedJson(texts.manifest, kManifestFile);
  const Reader manifest(manifest_json, kManifestFile);
  const std::int64_t format = manifest["format"].Integer();
  if (format != kFormat && format != kProgramFormat)
    throw Unimplemented(StrCat(kManifestFile, " has format ", format,
                               "; this version of Tenon reads the formats ", kFormat, " and ",
                               kProgramFormat));
  const Reader files = manifest["files"];
  if (ReadMark(files[kGraphFile]) != FileMark::Of(texts.graph))
    throw DataLoss(StrCat(kGraphFile, " is not the file that was saved"));
  const Json graph_json = ParsedJson(texts.graph, kGraphFile);
  const Reader graph(graph_json, kGraphFile);
  const auto string = [](const Reader& json) { return json.String(); };
  SavedPlan saved{.plan = ReadPlan(graph, manifest),
                  .kernels = manifest["kernels"].List(string),
                  .constants_at = manifest["constants_at"].List(
                      [](const Reader& at) { return static_cast<std::size_t>(at.Integer()); }),
                  .result_names = manifest["results"].List(string),
                  .threads = static_cast<int>(manifest["threads"].Integer(0, jit::kMaxThreads)),
                  .params = ReadMark(files[kParamsFile]),
                  .kernels_file = ReadMark(files[kKernelsFile]),
                  .program = {}};
  RequireShownVariables(saved.plan);
  Accept(&saved.plan, saved);
  if (format == kProgramFormat) {
    saved.program = ReadProgram(manifest["program"]);
    AcceptProgram(&saved);
  }
  return saved;
}

}  // namespace tenon::runtime
