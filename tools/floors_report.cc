#include "tenon/tools/floors_report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/runtime/origins_text.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/explain.h"
#include "tenon/tools/formatted.h"
#include "tenon/tune/kernel.h"

namespace tenon::tools {
namespace {

// The fused function that a node runs, with numbers for the variables that it has of its own.
ir::Expr FunctionOf(const runtime::Node& node, const LoweredKernel& kernel,
                    const Dim::Values& extents) {
  const auto* code = std::get_if<loop::Function>(&kernel.choice.built.kernel);
  if (node.arguments.empty() || code == nullptr) return kernel.function;
  Dim::Values values;
  for (std::size_t i = 0; i < node.arguments.size(); ++i)
    values[code->scalars[i].name()] = node.arguments[i].Evaluate(extents).value();
  return compiler::WithExtents(ir::Module::FromExpr(kernel.function), values).module.Get("main");
}

// What the records know of the kernel of each node.
std::map<std::string, tune::KnownBest> BestByNode(const Lowered& lowered,
                                                  const Dim::Values& extents,
                                                  const std::vector<tune::Record>& records) {
  std::map<std::string, tune::KnownBest> best;
  if (records.empty()) return best;
  const std::map<std::string, tune::KnownBest> by_content = tune::KnownBestOf(records);
  for (const tune::ModelKernel& kernel : tune::KernelsOf(lowered, {extents})) {
    const auto known = by_content.find(kernel.content);
    if (known == by_content.end()) continue;
    for (const std::string& node : kernel.nodes) best.emplace(node, known->second);
  }
  return best;
}

std::string BestText(const NodeFloor& node) {
  return node.best ? Formatted("%.2f ", node.best->ratio) + node.best->choice : "-";
}

// `text` in a column of `width`.
std::string Padded(const std::string& text, std::size_t width) {
  return text + std::string(width - text.size(), ' ');
}

double BytesOf(const NodeFloor& node) { return node.work.bytes_read + node.work.bytes_written; }

}  // namespace

std::map<std::string, std::int64_t> LeastTimes(const Executable& exe, const runtime::Inputs& inputs,
                                               int repeat) {
  Session session(exe);
  std::map<std::string, std::int64_t> least;
  for (int i = 0; i < repeat; ++i) {
    std::vector<runtime::NodeTime> times;
    (void)ValueOrThrow(session.RunProfiled(inputs, &times));
    for (const runtime::NodeTime& time : times) {
      const auto [found, is_new] = least.try_emplace(time.node, time.nanoseconds);
      if (!is_new) found->second = std::min(found->second, time.nanoseconds);
    }
  }
  return least;
}

std::vector<NodeFloor> FloorsOf(const Lowered& lowered,
                                const std::map<std::string, std::int64_t>& times,
                                const Dim::Values& extents, const Target& target,
                                const tune::MachineSpeed& machine,
                                const std::vector<tune::Record>& records) {
  const std::map<std::string, tune::KnownBest> best = BestByNode(lowered, extents, records);
  std::vector<NodeFloor> floors;
  for (const runtime::Node& node : lowered.plan.nodes) {
    const auto time = times.find(node.name);
    if (time == times.end() || node.kernel < 0) continue;
    const LoweredKernel& kernel = lowered.kernels[static_cast<std::size_t>(node.kernel)];
    const tune::Work work = tune::WorkOf(FunctionOf(node, kernel, extents), target);
    floors.push_back({.node = node.name,
                      .implementation = kernel.choice.implementation,
                      .origins = runtime::OriginsText(node.origins),
                      .seconds = static_cast<double>(time->second) * 1e-9,
                      .work = work,
                      .floor = tune::FloorOf(work, machine)});
    if (const auto known = best.find(node.name); known != best.end())
      floors.back().best = known->second;
  }
  std::ranges::stable_sort(floors, std::greater(),
                           [](const NodeFloor& node) { return node.seconds - node.floor.seconds; });
  return floors;
}

std::string FloorsText(const std::vector<NodeFloor>& nodes, const tune::MachineSpeed& machine) {
  std::string text = Formatted(
      "machine, %d %s: %.1f GFLOP/s; copies %.1f, %.1f, %.1f GB/s and reads %.1f, %.1f, %.1f GB/s "
      "in "
      "L2, L3, memory\n",
      machine.threads, machine.threads == 1 ? "thread" : "threads", machine.operations_per_s * 1e-9,
      machine.copied_per_s[0] * 1e-9, machine.copied_per_s[1] * 1e-9,
      machine.copied_per_s[2] * 1e-9, machine.read_per_s[0] * 1e-9, machine.read_per_s[1] * 1e-9,
      machine.read_per_s[2] * 1e-9);
  const std::string implementation = "implementation", best = "best by records";
  std::size_t width = implementation.size(), best_width = best.size();
  for (const NodeFloor& node : nodes) {
    width = std::max(width, node.implementation.size());
    best_width = std::max(best_width, BestText(node).size());
  }
  StrAppend(&text, "   time ms  floor ms  of floor  bound by         MFLOP        MB  ",
            Padded(implementation, width), "  ", Padded(best, best_width), "  kernel\n");
  double seconds = 0, floors = 0;
  for (const NodeFloor& node : nodes) {
    seconds += node.seconds;
    floors += node.floor.seconds;
    StrAppend(&text,
              Formatted("%10.4f%10.4f%8.0f %%  %-10s%12.3f%10.3f  ", node.seconds * 1e3,
                        node.floor.seconds * 1e3, 100 * node.floor.seconds / node.seconds,
                        std::string(tune::NameOf(node.floor.bound)).c_str(),
                        node.work.operations * 1e-6, BytesOf(node) * 1e-6),
              Padded(node.implementation, width), "  ", Padded(BestText(node), best_width), "  ",
              node.node, node.origins.empty() ? "" : ": ", node.origins, "\n");
  }
  StrAppend(&text, Formatted("%10.4f%10.4f%8.0f %%  all\n", seconds * 1e3, floors * 1e3,
                             seconds > 0 ? 100 * floors / seconds : 100.0));
  return text;
}

std::string FloorsJson(const std::vector<NodeFloor>& nodes, const tune::MachineSpeed& machine) {
  using Json = nlohmann::ordered_json;
  Json kernels = Json::array();
  for (const NodeFloor& node : nodes) {
    kernels.push_back({{"node", node.node},
                       {"implementation", node.implementation},
                       {"origins", node.origins},
                       {"seconds", node.seconds},
                       {"floor_s", node.floor.seconds},
                       {"bound", tune::NameOf(node.floor.bound)},
                       {"operations", node.work.operations},
                       {"bytes", BytesOf(node)},
                       {"best", nullptr}});
    if (node.best)
      kernels.back()["best"] = {
          {"choice", node.best->choice}, {"ratio", node.best->ratio}, {"raced", node.best->raced}};
  }
  const Json report = {{"machine",
                        {{"threads", machine.threads},
                         {"operations_per_s", machine.operations_per_s},
                         {"copied_per_s", machine.copied_per_s},
                         {"read_per_s", machine.read_per_s}}},
                       {"kernels", std::move(kernels)}};
  return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::tools
