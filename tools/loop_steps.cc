#include "tenon/tools/loop_steps.h"

#include <filesystem>
#include <system_error>

#include "tenon/loop/print.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"
#include "tenon/tools/formatted.h"

namespace tenon::tools {
namespace {

void MakeFolder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    throw NotFound(StrCat("the folder ", folder.string(), " cannot be made: ", failure.message()));
}

std::string Numbered(const loop::PipelineStep& step) {
  return StrCat(step.number < 10 ? "0" : "", step.number, "_", step.name);
}

std::string Milliseconds(std::int64_t nanoseconds) {
  return Formatted("%.3f", static_cast<double>(nanoseconds) / 1e6);
}

}  // namespace

LoopSteps::LoopSteps(std::string after, std::string folder)
    : after_(std::move(after)), folder_(std::move(folder)) {
  if (!folder_.empty()) MakeFolder(folder_);
}

loop::PipelineObserver LoopSteps::Observer() {
  if (after_.empty() && folder_.empty()) return nullptr;
  return [this](const loop::PipelineStep& step) { Keep(step); };
}

void LoopSteps::Keep(const loop::PipelineStep& step) {
  const bool is_dumped = !folder_.empty() && step.changed, is_asked_for = step.name == after_;
  const std::string text = is_dumped || is_asked_for ? loop::Print(step.function) : "";
  const std::lock_guard lock(mutex_);
  Totals& totals = totals_[step.number];
  totals.name = step.name;
  totals.changed += step.changed ? 1 : 0;
  totals.nanoseconds += step.nanoseconds;
  if (is_asked_for) loops_after_[step.function.name] = text;
  if (is_dumped) dumps_[{step.function.name, Numbered(step)}] = text;
}

std::string LoopSteps::LoopsAfter(const std::string& function) const {
  const auto found = loops_after_.find(function);
  return found == loops_after_.end() ? "// made without this step" : found->second;
}

void LoopSteps::WriteDumps() const {
  if (folder_.empty()) return;
  const std::filesystem::path folder = folder_;
  for (const auto& [place, text] : dumps_) {
    MakeFolder(folder / place.first);
    WriteFile(folder / place.first / (place.second + ".txt"), {text});
  }
  std::string table = "step  functions changed  milliseconds\n";
  for (const auto& [number, totals] : totals_)
    StrAppend(&table, number, " ", totals.name, "  ", totals.changed, "  ",
              Milliseconds(totals.nanoseconds), "\n");
  WriteFile(folder / "steps.txt", {table});
}

}  // namespace tenon::tools
