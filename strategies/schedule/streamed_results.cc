#include "tenon/strategies/schedule/streamed_results.h"

#include "tenon/loop/transform/stream_results.h"
#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {

using te::OperationNode;

bool IsStreamed(const schedule::Stage& stage, Accesses& accesses, std::int64_t distance) {
  const OperationNode& op = *stage.op();
  if (!stage.is_output() || op.is_reduction() || op.outputs.size() > 1) return false;
  const te::Tensor result(stage.op(), 0);
  const auto element = static_cast<std::int64_t>(result.dtype().bytes());
  // A loop that calls mathematics is slower than memory, and waiting streaming stores would hold it
  // up.
  return BytesOf(result) >= loop::kStreamedBytes && loop::AreRunsOfLines(distance * element) &&
         accesses.MathCallsOf(stage) == 0 && !accesses.IsRead(op);
}

}  // namespace tenon::strategies
