#include "tenon/strategies/streamed_results.h"

#include <algorithm>

#include "tenon/strategies/te_compute.h"
#include "tenon/support/alignment.h"

namespace tenon::strategies {
namespace {

using schedule::Stage;
using te::OperationNode;

// Bytes of a result. With a large third-level cache, writing and reading again took 1.0 of the time
// at 32 MiB on one thread and 1.1 on two; at 48 MiB 0.95 and 1.0, at 64 MiB 0.93 and 0.95.
constexpr std::int64_t kStreamed = std::int64_t{48} << 20;

// Bytes of a run in which lines that belong to two runs are few.
constexpr std::int64_t kLongRun = 16 * kCacheLineBytes;

}  // namespace

bool IsStreamed(const Stage& stage, Accesses& accesses, std::int64_t distance) {
  const OperationNode& op = *stage.op();
  if (!stage.is_output() || op.is_reduction() || op.outputs.size() > 1) return false;
  const te::Tensor result(stage.op(), 0);
  const auto element = static_cast<std::int64_t>(result.dtype().bytes());
  // A loop that calls mathematics is slower than memory, and streaming stores that wait hold it up.
  const std::int64_t bytes = distance * element;
  const bool has_lines = bytes % kCacheLineBytes == 0 || bytes >= kLongRun;
  return BytesOf(result) >= kStreamed && has_lines && accesses.MathCallsOf(stage) == 0 &&
         !accesses.IsRead(op);
}

}  // namespace tenon::strategies
