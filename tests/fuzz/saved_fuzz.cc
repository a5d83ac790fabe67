// libFuzzer: any bytes as the texts of a saved executable: the manifest, a line with %%, the graph.
//
// What is accepted must stay inside its storages and be the same after it is written and read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "tenon/runtime/saved_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

// The graph's mark is made right, since no mutation would find it.
SavedTexts TextsOf(std::string_view input) {
  constexpr std::string_view kBetween = "\n%%\n";
  const std::size_t middle = std::min(input.find(kBetween), input.size());
  SavedTexts texts{
      .graph = std::string(input.substr(std::min(middle + kBetween.size(), input.size()))),
      .manifest = std::string(input.substr(0, middle))};
  auto json = nlohmann::ordered_json::parse(texts.manifest, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && json.contains("files") && json["files"].is_object()) {
    const FileMark mark = FileMark::Of(texts.graph);
    json["files"][kGraphFile] = {{"bytes", mark.bytes}, {"hash", HashText(mark.hash)}};
    texts.manifest = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return texts;
}

std::string FaultOf(const Plan& plan) {
  for (const Node& node : plan.nodes) {
    for (const Entry& output : node.outputs) {
      const auto id = static_cast<std::size_t>(output.storage_id);
      if (id >= plan.storage_bytes.size()) return StrCat(node.name, " has no storage");
      const std::size_t bytes = plan.storage_bytes[id];
      if (output.offset > bytes || output.bytes() > bytes - output.offset)
        return StrCat(node.name, " ends after its storage");
    }
  }
  return "";
}

std::string FaultOf(const PlannedProgram& program) {
  for (const PlannedPart& part : program.parts) {
    for (const PartCase& of_part : part.cases) {
      if (std::string fault = FaultOf(of_part.plan); !fault.empty()) return fault;
    }
  }
  for (const ProgramFunction& function : program.functions) {
    const auto is_there = [&](Register r) { return r < function.registers; };
    for (const Step& step : function.steps) {
      for (const auto* registers : {&step.inputs, &step.other_inputs, &step.outputs}) {
        if (!std::ranges::all_of(*registers, is_there))
          return StrCat(function.name, " names a register that is not there");
      }
    }
  }
  return "";
}

// What is wrong with an accepted plan or program; empty: nothing.
std::string FaultOf(const SavedPlan& saved) {
  std::string fault = FaultOf(saved.plan);
  if (fault.empty() && saved.program) fault = FaultOf(*saved.program);
  if (!fault.empty()) return fault;
  const SavedTexts texts = ToTexts(saved), again = ToTexts(ParseSavedPlan(texts));
  return texts.graph == again.graph && texts.manifest == again.manifest
             ? ""
             : StrCat("is another when read again:\n", texts.graph, again.graph);
}

}  // namespace
}  // namespace tenon::runtime

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<std::string> saved = tenon::CatchErrors([&] {
    return tenon::runtime::FaultOf(tenon::runtime::ParseSavedPlan(tenon::runtime::TextsOf(input)));
  });
  if (saved.ok()) {
    if (saved->empty()) return 0;
    std::fprintf(stderr, "%s\n", saved->c_str());
    std::abort();
  }
  if (saved.status().code() != absl::StatusCode::kDataLoss &&
      saved.status().code() != absl::StatusCode::kInvalidArgument &&
      saved.status().code() != absl::StatusCode::kUnimplemented) {
    std::fprintf(stderr, "%s\n", saved.status().ToString().c_str());
    std::abort();
  }
  return 0;
}
