#include "tenon/strategies/strategy.h"

#include <algorithm>
#include <mutex>

#include "tenon/ir/visit.h"
#include "tenon/schedule/lower.h"
#include "tenon/strategies/auto_schedule.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/onednn/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

Built BuildFromTe(const Group& group) {
  const TeFunction function = LowerFunction(*group.function);
  std::vector<te::Tensor> args = function.params;
  args.insert(args.end(), function.outputs.begin(), function.outputs.end());
  Built built;
  for (std::size_t i = 0; i < function.params.size(); ++i)
    built.arguments.push_back(static_cast<int>(i));
  built.kernel = schedule::Lower(AutoSchedule(function.outputs), args, group.name);
  return built;
}

Implementation FromTe() {
  return {.name = "te",
          .priority = 0,
          .refusal = [](const Group&) { return std::optional<std::string>(); },
          .build = BuildFromTe};
}

}  // namespace

const ir::CallNode* Group::Anchor() const {
  const ir::CallNode* anchor = nullptr;
  ir::VisitPostOrder(function->body, [&](const ir::Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr &&
        ops::OpOf(*call)->pattern == ops::OpPattern::kOutEWiseFusable)
      anchor = call;
  });
  return anchor;
}

Choice Choose(const Group& asked, const StrategyOptions& options) {
  Group group = asked;
  group.library = options.library;
  std::vector<Implementation> candidates = {FromTe()};
  const ir::CallNode* anchor = group.Anchor();
  const auto* strategy = anchor == nullptr ? nullptr : ops::OpOf(*anchor)->Column<Strategy>();
  if (strategy != nullptr)
    candidates.insert(candidates.end(), strategy->implementations.begin(),
                      strategy->implementations.end());
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.priority > b.priority; });
  if (options.library == LibraryChoice::kTe)
    std::erase_if(candidates, [](const auto& c) { return c.name != "te"; });
  std::optional<Choice> choice;
  std::string explanation;
  std::string reason;
  for (const Implementation& candidate : candidates) {
    StrAppend(&explanation, "  ", candidate.name, " (priority ", candidate.priority, "): ");
    if (choice) {
      explanation += "not needed\n";
      continue;
    }
    if (const auto refusal = candidate.refusal(group)) {
      StrAppend(&explanation, "no, ", *refusal, "\n");
      continue;
    }
    try {
      choice = Choice{candidate.build(group), candidate.name, ""};
      explanation += "chosen, the first whose condition holds\n";
    } catch (const Error& error) {
      if (error.code() != absl::StatusCode::kUnimplemented) throw;
      reason = error.message();
      StrAppend(&explanation, "no, ", error.message(), "\n");
    }
  }
  if (!choice)
    throw Unimplemented(StrCat("no implementation can make the kernel ", group.name, ": ", reason))
        .AddNote(explanation);
  choice->explanation = std::move(explanation);
  return *std::move(choice);
}

void RegisterStrategies(ops::OpRegistry& registry) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (registry.Definition("add").Column<TeCompute>() != nullptr) return;
  AttachUnaryComputes(registry);
  AttachBinaryComputes(registry);
  AttachReduceComputes(registry);
  AttachShapeComputes(registry);
  AttachIndexComputes(registry);
  AttachScanComputes(registry);
  AttachScatterComputes(registry);
  AttachConvComputes(registry);
  AttachBlockedConvComputes(registry);
  AttachLayoutComputes(registry);
  AttachMatmulComputes(registry);
  AttachPoolComputes(registry);
  AttachNormComputes(registry);
  onednn::AttachStrategies(registry);
}

}  // namespace tenon::strategies
