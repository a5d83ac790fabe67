// A report as text: what was raced, what is kept.
#include <cstdio>

#include "tenon/support/strings.h"
#include "tenon/tune/best.h"
#include "tenon/tune/tune.h"

namespace tenon::tune {
namespace {

std::string Ratio(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", ratio);
  return text;
}

std::string Milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f ms", seconds * 1e3);
  return text;
}

}  // namespace

std::string ToText(const TuneReport& report) {
  std::string text;
  int won = 0;
  for (const KernelReport& kernel : report.kernels) {
    if (!kernel.unmeasured.empty())
      StrAppend(&text, kernel.name, ": cannot be measured alone: ", kernel.unmeasured, "\n");
    for (const std::string& crashed : kernel.crashed)
      StrAppend(&text, kernel.name, ": given up: ", crashed, "\n");
    for (const std::string& wrong : kernel.wrong)
      StrAppend(&text, kernel.name, ": refused for its results: ", wrong, "\n");
    const std::optional<Record>& counts = kernel.in_model ? kernel.in_model : kernel.alone;
    if (!counts) continue;
    const bool is_win = IsWin(*counts);
    won += is_win ? 1 : 0;
    StrAppend(&text, kernel.name, " [", kernel.content, "], ", kernel.calls,
              kernel.calls == 1 ? " call, " : " calls, ", Milliseconds(kernel.model_s), "\n  ",
              counts->choice, " instead of ", kernel.over, ": ");
    if (kernel.alone) StrAppend(&text, Ratio(kernel.alone->ratio), " alone, ");
    if (kernel.in_model) StrAppend(&text, Ratio(kernel.in_model->ratio), " in the model, ");
    StrAppend(&text, is_win ? "kept" : "not kept", "\n");
  }
  StrAppend(&text, report.raced, " candidates raced; ", won,
            won == 1 ? " kernel is faster" : " kernels are faster", " than the default\n");
  if (report.model)
    StrAppend(&text, "model: ", Milliseconds(report.model_s), " against ",
              Milliseconds(report.default_model_s), ", ", Ratio(report.model->ratio), " +- ",
              Ratio(report.model->noise), " x of default; ",
              report.kept ? "kept\n" : "slower as a whole, so nothing is kept\n");
  return text;
}

}  // namespace tenon::tune
