#include "tenon/strategies/generic_schedule.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_set>

#include "tenon/strategies/schedule/inline_stages.h"
#include "tenon/strategies/schedule/register_tile.h"

namespace tenon::strategies {
namespace {

using schedule::Schedule;
using schedule::Stage;
using te::IterVar;
using te::OperationNode;

// Makes one parallel loop of the leading axes. The more axes there are, the more of them it takes.
void ShareOut(Stage& stage) {
  const std::vector<IterVar>& axes = stage.op()->axes;
  const std::size_t outer = axes.size() >= 5 ? 3 : axes.size() >= 3 ? 2 : 1;
  stage.Parallel(stage.Fuse(std::span(axes).first(outer)));
}

// The last axis goes in vectors, and whatever is left outside of it is shared out.
void Injective(Stage& stage) {
  const std::vector<IterVar>& axes = stage.op()->axes;
  if (axes.empty()) return;
  if (axes.size() > 1) ShareOut(stage);
  const auto [vectors, lanes] = stage.Split(axes.back(), kGenericVector);
  stage.Vectorize(lanes);
  if (axes.size() == 1) stage.Parallel(vectors);
}

void Reduction(Stage& stage) {
  if (!stage.op()->axes.empty()) ShareOut(stage);
}

struct Row {
  std::string_view tag;
  void (*schedule)(Stage& stage);
};
constexpr Row kRows[] = {
    {"conv2d_nchw", Reduction},
    {"conv2d_nhwc", Reduction},
    {"conv2d_hwcn", Reduction},
    {"group_conv2d_nchw", Reduction},
    {"group_conv2d_nhwc", Reduction},
    {"group_conv2d_hwcn", Reduction},
    {"matmul", Reduction},
    {"pool", Reduction},
    {"comm_reduce", Reduction},
    {"reduction", Reduction},
    {"injective", Injective},
};

const Row& RowOf(std::string_view tag, bool is_reduction) {
  const auto find = [](std::string_view name) {
    return std::find_if(std::begin(kRows), std::end(kRows),
                        [&](const Row& row) { return row.tag == name; });
  };
  const auto* row = find(tag);
  if (row == std::end(kRows)) row = find(is_reduction ? "reduction" : "injective");
  return *row;
}

// Stages that readers other than computes need stored: external functions and scans.
std::unordered_set<const OperationNode*> ReadByOthers(const Schedule& schedule) {
  std::unordered_set<const OperationNode*> read;
  for (const auto& stage : schedule.stages()) {
    if (stage->op()->is_compute() && !ReadsRepeatedly(*stage->op())) continue;
    for (const te::Tensor& input : te::InputsOf(*stage->op())) read.insert(input.op().get());
  }
  return read;
}

}  // namespace

Schedule GenericSchedule(const std::vector<te::Tensor>& outputs) {
  Schedule schedule(outputs);
  const auto stored = ReadByOthers(schedule);
  for (const auto& stage : schedule.stages()) {
    const OperationNode& op = *stage->op();
    if (!op.is_compute() || !op.target.empty()) continue;
    if (!op.is_reduction() && !stage->is_output() && !stored.contains(&op)) {
      stage->ComputeInline();
    } else if (!IsRegisterTile(op)) {
      RowOf(op.label.tag, op.is_reduction()).schedule(*stage);
    }
  }
  return schedule;
}

std::string GenericScheduleName(const std::string& tag, bool is_reduction) {
  return std::string(RowOf(tag, is_reduction).tag);
}

}  // namespace tenon::strategies
