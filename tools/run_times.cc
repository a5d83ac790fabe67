#include "tenon/tools/run_times.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::tools {

std::string ToText(const RunTimes& times) {
  std::vector<double> sorted = times.run_s;
  std::sort(sorted.begin(), sorted.end());
  char text[200];
  std::snprintf(text, sizeof text, "%d fused kernels; import %.1f ms, compile %.1f ms, run %.3f ms",
                times.kernels, times.import_s * 1e3, times.compile_s * 1e3,
                sorted[sorted.size() / 2] * 1e3);
  return sorted.size() > 1 ? StrCat(text, " (median of ", sorted.size(), ")") : text;
}

void WriteReport(const std::string& path, const RunTimes& times) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr std::int64_t kKibi = 1024;  // ru_maxrss counts them
  const nlohmann::ordered_json report = {{"kernels", times.kernels},
                                         {"import_s", times.import_s},
                                         {"compile_s", times.compile_s},
                                         {"run_s", times.run_s},
                                         {"peak_bytes", usage.ru_maxrss * kKibi}};
  std::ofstream file(path);
  file << report.dump(1) << "\n";
  file.close();
  if (!file) throw NotFound(StrCat("the file ", path, " cannot be written"));
}

}  // namespace tenon::tools
