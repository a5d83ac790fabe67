// As on the page of tenon explore, text becomes part of the page only by textContent.
#include "tenon/tools/tune_page.h"

#include <nlohmann/json.hpp>

#include "tenon/support/strings.h"
#include "tenon/tools/script_data.h"
#include "tenon/tune/best.h"

namespace tenon::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHead = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tenon: the course of a search</title>
<style>
:root { --line: #d5d9e0; --soft: #f5f6f8; --strong: #1f5fbf; color-scheme: light; }
body { margin: 1rem auto; padding: 0 1rem; max-width: 70rem; font: 14px/1.4 system-ui, sans-serif; color: #1c2330; background: #fff; }
h1 { font-size: 1.2rem; } h2 { font-size: 1rem; margin-top: 2rem; overflow-wrap: anywhere; }
svg { width: 100%; font: 11px system-ui, sans-serif; }
svg path { fill: none; stroke: var(--strong); stroke-width: 2; } svg path.axis { stroke: var(--line); stroke-width: 1; }
svg circle { fill: #7a8494; fill-opacity: .5; } svg circle.win { fill: #1a8a4a; fill-opacity: .9; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; vertical-align: top; }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left; overflow-wrap: anywhere; }
tr.win td:nth-child(4) { color: #1a8a4a; font-weight: 600; }
details { margin-top: .8rem; }
</style>
</head>
<body>
<h1></h1>
<script type="application/json" id="report">)html";

constexpr const char* kTail = R"html(</script>
<script>
'use strict';
const report = JSON.parse(document.getElementById('report').textContent);
const make = (parent, name, text, attributes = {}) => {
  const space = parent.namespaceURI && parent.namespaceURI.endsWith('svg') || name === 'svg' ? 'http://www.w3.org/2000/svg' : 'http://www.w3.org/1999/xhtml';
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return parent.appendChild(made);
};
const milliseconds = seconds => (seconds * 1e3).toPrecision(4);
const short = name => name.replace(/^tvmgen_default_fused_/, '');
const isWin = outcome => outcome && outcome.ratio + outcome.noise < 1 - report.min_gain;
document.querySelector('h1').textContent = `The search for faster kernels of ${report.model}`;

// Dots are candidates: their time over that of the default, against when they were raced. The line is the model's time by the
// best of each kernel so far, over its time by default.
function course(parent, machine, names) {
  const width = 1000, height = 260, left = 50, bottom = 30, top = 10;
  const raced = machine.tries.filter(entry => entry.outcome);
  const end = Math.max(1, ...machine.tries.map(entry => entry.seconds));
  const x = seconds => left + seconds / end * (width - left - 10);
  const y = ratio => top + (1 - Math.min(ratio, 2) / 2) * (height - top - bottom);
  const svg = make(parent, 'svg', undefined, {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'candidates and the best so far'});
  for (const ratio of [0, .5, 1, 1.5, 2]) {
    make(svg, 'path', undefined, {class: 'axis', d: `M${left} ${y(ratio)}H${width - 10}`});
    make(svg, 'text', `${ratio}${ratio === 2 ? ' or more' : ''} x`, {x: 4, y: y(ratio) + 4});
  }
  make(svg, 'text', `${end.toFixed(0)} s`, {x: width - 10, y: height - 8, 'text-anchor': 'end'});
  for (const entry of raced) {
    const dot = make(svg, 'circle', undefined, {cx: x(entry.seconds), cy: y(entry.outcome.ratio), r: 4, class: isWin(entry.outcome) ? 'win' : 'other'});
    make(dot, 'title', `${names.get(entry.content)}: ${entry.choice}: ${entry.outcome.ratio.toFixed(3)} ± ${entry.outcome.noise.toFixed(3)} x, worker ${entry.worker}`);
  }
  const share = new Map(), best = new Map();
  let total = 0;
  for (const kernel of machine.kernels) {
    share.set(kernel.content, (share.get(kernel.content) || 0) + kernel.model_s);
    total += kernel.model_s;
  }
  let now = total, d = `M${x(0)} ${y(1)}`;
  for (const entry of raced) {
    const before = best.get(entry.content) ?? 1;
    if (!isWin(entry.outcome) || entry.outcome.ratio >= before) continue;
    best.set(entry.content, entry.outcome.ratio);
    now -= share.get(entry.content) * (before - entry.outcome.ratio);
    d += `H${x(entry.seconds)}V${y(now / total)}`;
  }
  make(svg, 'path', undefined, {d: `${d}H${x(end)}`});
}

for (const machine of report.machines) {
  make(document.body, 'h2', `${machine.target}, ${machine.threads} ${machine.threads === 1 ? 'thread' : 'threads'}`);
  const tried = machine.tries.length;
  make(document.body, 'p', machine.model
      ? `The whole model: ${milliseconds(machine.model_s)} ms instead of ${milliseconds(machine.default_model_s)} ms, ` +
        `${machine.model.ratio.toFixed(3)} ± ${machine.model.noise.toFixed(3)} x, ${machine.kept ? 'kept' : 'slower as a whole, so nothing is kept'}. ` +
        `${machine.raced} of ${tried} candidates were raced.`
      : `Nothing beats the default in the whole model. ${machine.raced} of ${tried} candidates were raced.`);
  const names = new Map(machine.kernels.map(kernel => [kernel.content, short(kernel.name)]));
  course(document.body, machine, names);
  const table = make(document.body, 'table');
  const head = make(make(table, 'thead'), 'tr');
  for (const title of ['kernel', 'calls', 'default ms', 'best', 'of floor', 'raced', 'choice']) make(head, 'th', title);
  const rows = make(table, 'tbody');
  for (const kernel of machine.kernels) {
    const won = isWin(kernel.outcome), row = make(rows, 'tr', undefined, {class: won ? 'win' : ''});
    const time = kernel.model_s * (won ? kernel.outcome.ratio : 1);
    for (const text of [short(kernel.name), kernel.calls, milliseconds(kernel.model_s), won ? `${kernel.outcome.ratio.toFixed(3)} x` : '',
                        time > 0 ? `${(100 * kernel.floor_s / time).toFixed(0)} %` : '', kernel.raced || '', won ? kernel.choice : kernel.over])
      make(row, 'td', String(text));
  }
  const all = make(document.body, 'details');
  make(all, 'summary', 'every candidate');
  const list = make(make(all, 'table'), 'tbody');
  for (const entry of machine.tries) {
    const row = make(list, 'tr');
    for (const text of [names.get(entry.content), `${entry.seconds.toFixed(1)} s`, entry.outcome ? `${entry.outcome.ratio.toFixed(3)} ± ${entry.outcome.noise.toFixed(3)} x` : '',
                        entry.words ? `${entry.choice}: ${entry.words}` : entry.choice])
      make(row, 'td', text);
  }
}
</script>
</body>
</html>
)html";

Json ToJson(const std::optional<tune::MedianRatio>& outcome) {
  return outcome ? Json{{"ratio", outcome->ratio}, {"noise", outcome->noise}} : Json(nullptr);
}

Json ToJson(const tune::KernelReport& kernel) {
  const std::optional<tune::Record>& counts = kernel.in_model ? kernel.in_model : kernel.alone;
  std::optional<tune::MedianRatio> outcome;
  if (counts) outcome = {counts->ratio, counts->noise};
  return {{"name", kernel.name},       {"content", kernel.content},
          {"calls", kernel.calls},     {"model_s", kernel.model_s},
          {"floor_s", kernel.floor_s}, {"raced", kernel.raced},
          {"over", kernel.over},       {"choice", counts ? counts->choice : ""},
          {"outcome", ToJson(outcome)}};
}

Json ToJson(const tune::TuneReport& report) {
  Json kernels = Json::array(), tries = Json::array();
  for (const tune::KernelReport& kernel : report.kernels) kernels.push_back(ToJson(kernel));
  for (const tune::TryReport& entry : report.tries)
    tries.push_back({{"seconds", entry.seconds},
                     {"worker", entry.worker},
                     {"content", entry.content},
                     {"choice", entry.choice},
                     {"outcome", ToJson(entry.outcome)},
                     {"words", entry.words}});
  return {{"target", report.target},   {"threads", report.threads},
          {"raced", report.raced},     {"model", ToJson(report.model)},
          {"model_s", report.model_s}, {"default_model_s", report.default_model_s},
          {"kept", report.kept},       {"kernels", std::move(kernels)},
          {"tries", std::move(tries)}};
}

}  // namespace

std::string TunePage(const std::string& model, const std::vector<tune::TuneReport>& reports) {
  Json machines = Json::array();
  for (const tune::TuneReport& report : reports) machines.push_back(ToJson(report));
  const Json page = {
      {"model", model}, {"min_gain", tune::kMinGain}, {"machines", std::move(machines)}};
  return StrCat(kHead, InScript(page.dump(1, ' ', false, Json::error_handler_t::replace)), kTail);
}

}  // namespace tenon::tools
