// libFuzzer: any bytes as the texts of a saved executable: the manifest, a line with %%, the graph.
//
// What is accepted is run with kernels that do nothing, which shows whether the plan stays inside
// its storages.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "tenon/runtime/executable.h"
#include "tenon/runtime/saved_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

class NoKernel : public jit::Callable {
 public:
  void Call(void* const*, void*) const override {}
  std::string implementation() const override { return "none"; }
};

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

void RunWithoutKernels(SavedPlan saved) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  std::size_t bytes = 0;
  for (const Node& node : saved.plan.nodes) {
    for (const Entry& output : node.outputs) {
      if (output.bytes() > kMostBytes - bytes) return;
      bytes += output.bytes();
    }
  }
  std::vector<NDArray> constants(saved.constants_at.size());
  Inputs inputs;
  for (const Node& node : saved.plan.nodes) {
    if (!IsGiven(node.kind)) continue;
    NDArray zeros = NDArray::Zeros(node.outputs[0].shape, node.outputs[0].dtype);
    if (node.kind == NodeKind::kInput) inputs[node.name] = std::move(zeros);
    if (node.kind == NodeKind::kConstant)
      constants[static_cast<std::size_t>(node.constant)] = std::move(zeros);
  }
  const std::vector<std::shared_ptr<const jit::Callable>> kernels(saved.kernels.size(),
                                                                  std::make_shared<NoKernel>());
  const Executable executable({.plan = std::move(saved.plan),
                               .kernels = kernels,
                               .constants = std::move(constants),
                               .threads = 1,
                               .bind = nullptr});
  const absl::Status status = executable.Run(inputs).status();
  if (!status.ok()) {
    std::fprintf(stderr, "accepted, but: %s\n", status.ToString().c_str());
    std::abort();
  }
}

}  // namespace
}  // namespace tenon::runtime

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tenon::runtime::SavedPlan;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<SavedPlan> saved = tenon::CatchErrors(
      [&] { return tenon::runtime::ParseSavedPlan(tenon::runtime::TextsOf(input)); });
  if (saved.ok()) {
    tenon::runtime::RunWithoutKernels(*saved);
  } else if (saved.status().code() != absl::StatusCode::kDataLoss &&
             saved.status().code() != absl::StatusCode::kInvalidArgument &&
             saved.status().code() != absl::StatusCode::kUnimplemented) {
    std::fprintf(stderr, "%s\n", saved.status().ToString().c_str());
    std::abort();
  }
  return 0;
}
