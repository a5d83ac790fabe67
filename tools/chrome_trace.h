// A run as a trace that browsers show: chrome://tracing, or ui.perfetto.dev.
#ifndef TENON_TOOLS_CHROME_TRACE_H_
#define TENON_TOOLS_CHROME_TRACE_H_

#include <string>
#include <vector>

#include "tenon/jit/runtime/timeline.h"
#include "tenon/runtime/executable.h"

namespace tenon::tools {

// A row for each thread. `times` are those of the same run: they say what kernels are. The format
// is Google's "Trace Event Format", as JSON.
std::string ChromeTrace(const jit::Timeline& timeline, const std::vector<runtime::NodeTime>& times);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_CHROME_TRACE_H_
