// Text is put into the page only by textContent, and the data is in a script element that no
// browser runs, so a model's names cannot become markup.
#include "tenon/tools/explore_page.h"

#include "tenon/support/strings.h"
#include "tenon/tools/script_data.h"

namespace tenon::tools {
namespace {

constexpr const char* kHead = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tenon: kernels of a model</title>
<style>
:root { --line: #d5d9e0; --soft: #f5f6f8; --strong: #1f5fbf; color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; font: 14px/1.4 system-ui, sans-serif; color: #1c2330; background: #fff; height: 100vh;
       display: grid; grid-template: auto minmax(0, 1fr) / minmax(20rem, 34rem) minmax(0, 1fr); }
header { grid-column: 1 / 3; padding: .6rem 1rem; border-bottom: 1px solid var(--line); display: flex; gap: 1.5rem; align-items: baseline; }
h1 { font-size: 1rem; margin: 0; }
nav { overflow: auto; border-right: 1px solid var(--line); }
nav button { display: grid; grid-template-columns: 5rem 3.2rem minmax(0, 1fr); gap: .5rem; width: 100%; padding: .25rem 1rem; border: 0;
             background: none; text-align: left; font: inherit; cursor: pointer; position: relative; }
nav button span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; position: relative; }
nav button span:first-child, nav button span:nth-child(2) { text-align: right; font-variant-numeric: tabular-nums; }
nav button i { position: absolute; inset: 0 auto 0 0; background: #dfe9f8; }
nav button:hover { background: var(--soft); }
nav button[aria-current=true] { outline: 2px solid var(--strong); outline-offset: -2px; }
main { display: grid; grid-template-rows: auto auto minmax(0, 1fr); min-width: 0; }
main h2 { font-size: 1rem; margin: .6rem 1rem .1rem; overflow-wrap: anywhere; }
.tabs { display: flex; gap: .25rem; padding: .3rem 1rem; border-bottom: 1px solid var(--line); flex-wrap: wrap; }
.tabs button { font: inherit; padding: .2rem .7rem; border: 1px solid var(--line); border-radius: 4px; background: var(--soft); cursor: pointer; }
.tabs button[aria-selected=true] { background: var(--strong); border-color: var(--strong); color: #fff; }
svg { width: 100%; height: 100%; font: 11px system-ui, sans-serif; }
svg path { fill: none; stroke: #7a8494; }
svg circle { fill: var(--strong); fill-opacity: .55; cursor: pointer; }
pre { margin: 0; padding: .6rem 1rem; overflow: auto; font: 12.5px/1.45 ui-monospace, monospace; }
</style>
</head>
<body>
<header><h1></h1><span id="total"></span></header>
<nav aria-label="kernels by time"></nav>
<main><h2></h2><div class="tabs" role="tablist"></div><pre tabindex="0"></pre></main>
<script type="application/json" id="report">)html";

constexpr const char* kTail = R"html(</script>
<script>
'use strict';
const report = JSON.parse(document.getElementById('report').textContent);
const byId = id => document.getElementById(id), first = name => document.querySelector(name);
const milliseconds = ns => (ns / 1e6).toFixed(4);
const stages = {choice: 'why', graph: 'graph', te: 'tensor expressions', schedule: 'schedule', loops: 'loops', llvm: 'LLVM IR', asm: 'assembly'};
let stage = 'loops', shown = null;

const extents = Object.entries(report.extents).map(([name, value]) => `${name} = ${value}`).join(', ');
first('h1').textContent = report.model;
byId('total').textContent = `${milliseconds(report.nanoseconds)} ms in ${report.nodes.length} calls of ${report.kernels.length} ` +
    `kernels on ${report.threads || 'all'} ${report.threads === 1 ? 'thread' : 'threads'}` +
    `${extents && `, where ${extents}`}; the fastest of ${report.repeat} runs`;

function button(parent, texts, action) {
  const made = document.createElement('button');
  for (const text of texts) made.appendChild(document.createElement('span')).textContent = text;
  made.addEventListener('click', action);
  return parent.appendChild(made);
}

function show(entry) {
  shown = entry;
  for (const other of entries) other.button.setAttribute('aria-current', other === entry);
  first('h2').textContent = entry.title;
  const tabs = first('.tabs'), names = Object.keys(entry.texts);
  tabs.replaceChildren();
  if (!names.includes(stage) && names.length > 1) stage = names[0];
  const current = names.includes(stage) ? stage : names[0];
  for (const name of names) {
    const tab = button(tabs, [stages[name] || name], () => { stage = name; show(entry); });
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-selected', name === current);
  }
  first('pre').textContent = entry.texts[current] || '';
  first('pre').scrollTop = 0;
  if (entry.draw) first('pre').replaceChildren(entry.draw());
}

// Kernels between the roofs of arithmetic and of each memory: operations per second over operations per byte, logarithmic.
function roofline() {
  const {machine, kernels} = report.floors, width = 900, height = 520, left = 60, bottom = 40;
  const points = kernels.filter(k => k.operations > 0).map(k => ({kernel: k, x: k.operations / k.bytes, y: k.operations / k.seconds}));
  const low = Math.min(0.05, ...points.map(p => p.x)), high = Math.max(200, ...points.map(p => p.x));
  const top = machine.operations_per_s * 2, least = Math.min(top / 1e4, ...points.map(p => p.y)) / 1.5;
  const part = (value, from, to) => Math.log(value / from) / Math.log(to / from);
  const x = value => left + part(value, low, high) * (width - left - 10);
  const y = value => height - bottom - part(value, least, top) * (height - bottom - 10);
  const make = (parent, name, attributes, text) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return parent ? parent.appendChild(made) : made;
  };
  const svg = make(null, 'svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'roofline of the kernels'});
  machine.copied_per_s.forEach((speed, i) => {
    const knee = machine.operations_per_s / speed, start = Math.max(low, least / speed);
    make(svg, 'path', {d: `M${x(start)} ${y(start * speed)}L${x(Math.min(knee, high))} ${y(Math.min(knee, high) * speed)}`});
    make(svg, 'text', {x: x(start) + 4, y: y(start * speed) - 6}, `${['L2', 'L3', 'memory'][i]} ${(speed / 1e9).toFixed(0)} GB/s`);
    if (i === 0) make(svg, 'path', {d: `M${x(Math.min(knee, high))} ${y(machine.operations_per_s)}L${x(high)} ${y(machine.operations_per_s)}`});
  });
  make(svg, 'text', {x: width - 10, y: y(machine.operations_per_s) - 6, 'text-anchor': 'end'}, `${(machine.operations_per_s / 1e9).toFixed(0)} GFLOP/s on ${machine.threads} thread(s)`);
  make(svg, 'text', {x: width - 10, y: height - 8, 'text-anchor': 'end'}, 'operations a byte');
  make(svg, 'text', {x: 4, y: 14}, 'operations a second');
  const slow = Math.max(...kernels.map(k => k.seconds));
  for (const {kernel, ...at} of points) {
    const dot = make(svg, 'circle', {cx: x(at.x), cy: y(at.y), r: 3 + 12 * Math.sqrt(kernel.seconds / slow)});
    make(dot, 'title', {}, `${kernel.node}: ${(kernel.seconds * 1e3).toFixed(4)} ms, ${(100 * kernel.floor_s / kernel.seconds).toFixed(0)} % of its floor (${kernel.bound})`);
    dot.addEventListener('click', () => { const entry = entries.find(e => e.node === kernel.node); if (entry) show(entry); });
  }
  return svg;
}

const entries = [];
function add(columns, title, texts, share) {
  const entry = {title, texts};
  entry.button = button(first('nav'), columns, () => show(entry));
  const bar = document.createElement('i');
  bar.style.width = `${100 * share}%`;
  entry.button.prepend(bar);
  entries.push(entry);
  return entry;
}

add(['', '', 'the fused module'], 'The fused module', {graph: report.module}, 0);
add(['', '', 'folded and fused, or why not'], 'Folded and fused, or why not', {choice: report.decisions || 'nothing to say'}, 0);
const roof = add(['', '', 'roofline'], 'Operations a second over operations a byte; the larger a kernel, the longer it takes', {}, 0);
roof.draw = roofline;
const floors = new Map(report.floors.kernels.map(kernel => [kernel.node, kernel]));
function floorOf(node) {
  const floor = floors.get(node.name);
  return floor ? ` — ${(100 * floor.floor_s / floor.seconds).toFixed(0)} % of its floor (${floor.bound})` : '';
}
const slowest = Math.max(1, ...report.nodes.map(node => node.ns));
for (const node of [...report.nodes].sort((a, b) => b.ns - a.ns)) {
  const kernel = report.kernels[node.kernel], texts = {};
  for (const name of Object.keys(stages)) {
    if (kernel.texts[name]) texts[name] = kernel.texts[name];
  }
  const share = node.ns / Math.max(1, report.nanoseconds);
  add([milliseconds(node.ns), `${(100 * share).toFixed(1)} %`, node.name.replace(/^tvmgen_default_fused_/, '')],
      `${node.name} — ${kernel.implementation}${kernel.library ? `: ${kernel.library}` : ''}${node.origins ? ` — ${node.origins}` : ''}${floorOf(node)}`,
      texts, node.ns / slowest).node = node.name;
}
show(entries[3] || entries[0]);
</script>
</body>
</html>
)html";

}  // namespace

std::string ExplorePage(const std::string& json) { return StrCat(kHead, InScript(json), kTail); }

}  // namespace tenon::tools
