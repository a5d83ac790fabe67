// What one call of "tenon run" took.
#ifndef TENON_TOOLS_RUN_TIMES_H_
#define TENON_TOOLS_RUN_TIMES_H_

#include <string>
#include <vector>

namespace tenon::tools {

struct RunTimes {
  double import_s = 0;
  double compile_s = 0;
  std::vector<double> run_s;  // at least one
  int kernels = 0;            // launched by a run
};

// One line, with the median run.
std::string ToText(const RunTimes& times);
// JSON with these fields and the most memory that the process has held, peak_bytes. Throws NotFound
// when the file cannot be written.
void WriteReport(const std::string& path, const RunTimes& times);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_RUN_TIMES_H_
