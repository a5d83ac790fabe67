// Times of the runs of one call of "tenon run" or "tenon bench".
#ifndef TENON_TOOLS_RUN_TIMES_H_
#define TENON_TOOLS_RUN_TIMES_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/tools/compiled_model.h"

namespace tenon::tools {

struct RunTimes {
  double import_s = 0;
  double compile_s = 0;
  std::vector<double> run_s;  // at least one
  int kernels = 0;            // launched per run
  std::string threads;        // that runs took, and why; empty: not known
  std::optional<ShapeStatistics> shapes = std::nullopt;  // of a model with variables
};

// One line, with the median run.
std::string ToText(const RunTimes& times);
// The minimum, the median and the 90th and 99th percentile of the runs, and the other
// fields that are known.
std::string SummaryText(const RunTimes& times);
// {"kernels", "import_s", "compile_s", "runs", "least_s", "median_s", "p90_s", "p99_s",
// "peak_bytes", "threads"}; of a model with variables also "remade_kernels", and for hot shapes
// "hot": {"compiled", "kept", "dropped", "common_runs"}.
std::string SummaryJson(const RunTimes& times);
// Writes JSON with these fields; peak_bytes is the most memory that the process has held. Throws
// NotFound when the file cannot be written.
void WriteReport(const std::string& path, const RunTimes& times);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_RUN_TIMES_H_
