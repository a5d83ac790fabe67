// Text is put into the page only by textContent, and the data is in a script element that no
// browser runs, so a model's names cannot become markup.
#include "tenon/tools/explore_page.h"

#include "tenon/support/strings.h"

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

first('h1').textContent = report.model;
byId('total').textContent = `${milliseconds(report.nanoseconds)} ms in ${report.nodes.length} calls of ${report.kernels.length} ` +
    `kernels on ${report.threads || 'all'} ${report.threads === 1 ? 'thread' : 'threads'}; the fastest of ${report.repeat} runs`;

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
  first('pre').textContent = entry.texts[current];
  first('pre').scrollTop = 0;
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
const slowest = Math.max(1, ...report.nodes.map(node => node.ns));
for (const node of [...report.nodes].sort((a, b) => b.ns - a.ns)) {
  const kernel = report.kernels[node.kernel], texts = {};
  for (const name of Object.keys(stages)) {
    if (kernel.texts[name]) texts[name] = kernel.texts[name];
  }
  const share = node.ns / Math.max(1, report.nanoseconds);
  add([milliseconds(node.ns), `${(100 * share).toFixed(1)} %`, node.name.replace(/^tvmgen_default_fused_/, '')],
      `${node.name} — ${kernel.implementation}${kernel.library ? `: ${kernel.library}` : ''}${node.origins ? ` — ${node.origins}` : ''}`, texts, node.ns / slowest);
}
show(entries[2] || entries[0]);
</script>
</body>
</html>
)html";

// "</script>" within a string would end the data.
std::string InScript(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string ExplorePage(const std::string& json) { return StrCat(kHead, InScript(json), kTail); }

}  // namespace tenon::tools
