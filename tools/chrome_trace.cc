#include "tenon/tools/chrome_trace.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "tenon/runtime/origins_text.h"
#include "tenon/support/strings.h"
#include "tenon/tools/explain.h"

namespace tenon::tools {
namespace {

using Json = nlohmann::ordered_json;

double Microseconds(jit::Timeline::Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

}  // namespace

std::string ChromeTrace(const jit::Timeline& timeline,
                        const std::vector<runtime::NodeTime>& times) {
  std::map<std::string, const runtime::NodeTime*> kernels;
  for (const runtime::NodeTime& time : times) kernels[time.node] = &time;
  Json events = Json::array();
  std::set<int> threads;
  auto origin = jit::Timeline::Clock::time_point::max();
  for (const jit::Timeline::Entry& entry : timeline.entries())
    origin = std::min(origin, entry.start);
  for (const jit::Timeline::Entry& entry : timeline.entries()) {
    threads.insert(entry.thread);
    Json event = {{"name", entry.name},
                  {"cat", entry.is_share ? "loop" : "kernel"},
                  {"ph", "X"},
                  {"ts", Microseconds(entry.start - origin)},
                  {"dur", Microseconds(entry.end - entry.start)},
                  {"pid", 1},
                  {"tid", entry.thread}};
    if (const auto kernel = kernels.find(entry.name); kernel != kernels.end() && !entry.is_share)
      event["args"] = {{"implementation", kernel->second->implementation},
                       {"origins", runtime::OriginsText(kernel->second->origins)}};
    events.push_back(std::move(event));
  }
  for (const int thread : threads)
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", thread},
                      {"args", {{"name", StrCat("thread ", thread)}}}});
  const Json trace = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}};
  return trace.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::tools
