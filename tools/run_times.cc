#include "tenon/tools/run_times.h"

#include <algorithm>
#include <cstdint>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"
#include "tenon/tools/formatted.h"

namespace tenon::tools {
namespace {

std::vector<double> Sorted(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times;
}

// The percentile `hundredths` of the sorted times.
double Percentile(const std::vector<double>& sorted, std::size_t hundredths) {
  return sorted[std::min(sorted.size() - 1, sorted.size() * hundredths / 100)];
}

std::int64_t PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr std::int64_t kKibi = 1024;  // the unit of ru_maxrss
  return usage.ru_maxrss * kKibi;
}

}  // namespace

std::string ToText(const RunTimes& times) {
  const std::string text = Formatted(
      "%d fused kernels; import %.1f ms, compile %.1f ms, run %.3f ms", times.kernels,
      times.import_s * 1e3, times.compile_s * 1e3, Percentile(Sorted(times.run_s), 50) * 1e3);
  const std::size_t runs = times.run_s.size();
  return runs > 1 ? StrCat(text, " (median of ", runs, ")") : text;
}

std::string SummaryText(const RunTimes& times) {
  const std::vector<double> sorted = Sorted(times.run_s);
  const auto ms = [&](std::size_t hundredths) { return Percentile(sorted, hundredths) * 1e3; };
  std::string text = Formatted(
      "run      least %.4f ms, median %.4f, 90 %% within %.4f, 99 %% within %.4f (%zu runs, "
      "%.1f/s)\n"
      "before   import %.1f ms, compile %.1f ms\n"
      "model    %d kernels, peak memory %.1f MB\n",
      ms(0), ms(50), ms(90), ms(99), times.run_s.size(), 1e3 / ms(50), times.import_s * 1e3,
      times.compile_s * 1e3, times.kernels, static_cast<double>(PeakBytes()) * 1e-6);
  if (!times.threads.empty()) StrAppend(&text, "threads  ", times.threads, "\n");
  if (times.shapes) StrAppend(&text, "shapes   ", ToText(*times.shapes), "\n");
  return text;
}

std::string SummaryJson(const RunTimes& times) {
  const std::vector<double> sorted = Sorted(times.run_s);
  nlohmann::ordered_json summary = {
      {"kernels", times.kernels},         {"import_s", times.import_s},
      {"compile_s", times.compile_s},     {"runs", times.run_s.size()},
      {"least_s", Percentile(sorted, 0)}, {"median_s", Percentile(sorted, 50)},
      {"p90_s", Percentile(sorted, 90)},  {"p99_s", Percentile(sorted, 99)},
      {"peak_bytes", PeakBytes()}};
  if (!times.threads.empty()) summary["threads"] = times.threads;
  if (times.shapes) summary["remade_kernels"] = times.shapes->remade;
  if (times.shapes && times.shapes->hot) {
    const DynamicModel::Statistics& hot = *times.shapes->hot;
    summary["hot"] = {{"compiled", hot.hot_compiled},
                      {"kept", hot.hot_kept},
                      {"dropped", hot.hot_dropped},
                      {"common_runs", hot.common}};
  }
  return summary.dump(1) + "\n";
}

void WriteReport(const std::string& path, const RunTimes& times) {
  const nlohmann::ordered_json report = {{"kernels", times.kernels},
                                         {"import_s", times.import_s},
                                         {"compile_s", times.compile_s},
                                         {"run_s", times.run_s},
                                         {"peak_bytes", PeakBytes()}};
  WriteFile(path, {report.dump(1), "\n"});
}

}  // namespace tenon::tools
