// Joins the results of one run of scripts/bench:
//   node report.mjs FOLDER [DOCUMENT.md]
// FOLDER holds Google Benchmark's JSON files and those of onnxruntime.mjs; report.json and
// report.txt are written there, and the tables in DOCUMENT filled, unless the machine was busy with
// other work. Exits with 1 when a row failed.
import fs from 'node:fs';
import path from 'node:path';

import {fillTables, grid} from './document.mjs';
import {missesText} from './page.mjs';
import {aimOf, busyText, isMet, number, percent, rateOf, tables, time} from './tables.mjs';

const [folder, documentPath] = process.argv.slice(2);
const rows = new Map();  // by table, name and threads
const contexts = {};

function rowOf(table, name, threads) {
  const key = [table, name, threads].join('/');
  if (!rows.has(key)) rows.set(key, {table, name, threads});
  return rows.get(key);
}

// Of several runs the least counts.
function addTime(row, role, what, min, median) {
  if (row[`${role}_min_s`] <= min) return;
  Object.assign(row, {[role]: what, [`${role}_min_s`]: min, [`${role}_median_s`]: median});
}

function addBenchmark(benchmark) {
  const [table, ...rest] = benchmark.name.split('/threads:')[0].split('/');
  const row = rowOf(table, rest.join('/'), Number(benchmark.name.match(/threads:(\d+)/)[1]));
  if (benchmark.error_occurred) {
    row.error = benchmark.error_message;
    return;
  }
  for (const part of benchmark.label.split('|')) {
    const [role, what] = part.split(/=(.*)/);
    addTime(row, role, what, benchmark[`${role}_min_s`], benchmark[`${role}_median_s`]);
  }
  for (const key of ['bytes', 'flops', 'aim_of_floor', 'aim_of_peer', 'aim_s'])
    if (benchmark[key] !== undefined) row[key] = benchmark[key];
}

function readAll() {
  const names = fs.readdirSync(folder).filter(name => name.endsWith('.json') && name !== 'report.json');
  for (const name of names.sort()) {
    const text = fs.readFileSync(path.join(folder, name), 'utf8');
    if (!text.trim()) continue;  // the filter matched nothing
    const data = JSON.parse(text);
    if (data.context) Object.assign(contexts, {[name]: data.context});
    for (const benchmark of data.benchmarks ?? []) addBenchmark(benchmark);
    for (const m of data.measured ?? [])
      addTime(rowOf(m.table, m.name, m.threads), m.role, m.what, m.min_s, m.median_s);
  }
  for (const row of rows.values()) {
    for (const role of ['floor', 'peer'])
      if (row[`${role}_min_s`]) row[`of_${role}`] = row[`${role}_min_s`] / row.tenon_min_s;
    row.met = isMet(row);
  }
}

// What a column compares with: its one name, or the role when there are several.
function namesOf(members, role) {
  const names = new Set(members.map(row => row[role]?.replace(/^oneDNN .*/, 'oneDNN')).filter(Boolean));
  return names.size > 1 ? `the ${role}` : [...names][0];
}

const reason = table => {
  const file = path.join(folder, `${table.id}.skipped`);
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : 'not part of this run';
};

function tableText(table) {
  const members = [...rows.values()].filter(row => row.table === table.id);
  if (members.length === 0) return `Skipped: ${reason(table)}.`;
  const threads = [1, 2].filter(n => members.some(row => row.threads === n));
  const floor = namesOf(members, 'floor'), peer = namesOf(members, 'peer');
  const header = ['case'];
  for (const n of threads) {
    header.push(`${n} thread${n > 1 ? 's' : ''}, ${table.unit === 'us' ? 'µs' : table.unit}`);
    if (table.rate) header.push(table.rate);
    if (floor) header.push(`of ${floor}`);
    if (peer) header.push(`of ${peer}`);
  }
  header.push('aim');
  const body = [];
  for (const name of new Set(members.map(row => row.name))) {
    const cells = [name];
    const of = threads.map(n => members.find(row => row.name === name && row.threads === n));
    for (const row of of) {
      const measured = row?.tenon_min_s !== undefined;
      cells.push(measured ? time(row.tenon_min_s, table.unit) : row?.error ? `failed: ${row.error}` : '');
      if (table.rate) cells.push(measured ? rateOf(row, table.rate) : '');
      if (floor) cells.push(measured ? percent(row.of_floor) : '');
      if (peer) cells.push(measured ? percent(row.of_peer) : '');
    }
    const aim = aimOf(of.find(Boolean));
    const missed = of.filter(row => row?.met === false).map(row => row.threads);
    cells.push(missed.length ? `${aim}: **missed** on ${missed.join(' and ')} thread${missed.at(-1) > 1 ? 's' : ''}` : aim);
    body.push(cells);
  }
  return grid(header, body);
}

// The fastest that a floor ran in memory: at most one row a floor and number of threads.
function floorsText() {
  const best = new Map();
  for (const row of rows.values()) {
    if (!row.floor_min_s || !(row.flops >= 1e8 || row.bytes >= 5e7)) continue;
    if (row.floor === 'libmvec loop') continue;
    const rate = (row.flops ?? row.bytes) / row.floor_min_s / 1e9;
    const floor = best.get(row.floor) ?? {unit: row.flops ? 'GFLOP/s' : 'GB/s'};
    floor[row.threads] = Math.max(floor[row.threads] ?? 0, rate);
    best.set(row.floor, floor);
  }
  const cell = (floor, n) => floor[n] ? `${number(floor[n])} ${floor.unit}` : '';
  const threads = [1, 2].filter(n => [...best.values()].some(floor => floor[n]));
  return grid(['floor', ...threads.map(n => `${n} thread${n > 1 ? 's' : ''}`)],
              [...best].map(([name, floor]) => [name, ...threads.map(n => cell(floor, n))]));
}

// The load of the first program when it began, and the most of the later ones. The programs before them are a load of
// their own, of one to two threads.
function loads() {
  const [before = 0, ...meanwhile] = Object.values(contexts)
      .sort((a, b) => a.date.localeCompare(b.date)).map(c => c.load_avg?.[0] ?? 0);
  return {before, later: meanwhile.length ? Math.max(...meanwhile) : undefined};
}

function machineText() {
  const context = Object.values(contexts).find(c => c.vector_bits) ?? Object.values(contexts)[0];
  if (!context) return 'Nothing was measured.';
  const caches = (context.kibibytes ?? 'caches not told').replace(/\d+(?=,|$)/g, k => k >= 1024 ? `${k >> 10} MiB` : `${k} KiB`);
  const {before, later} = loads();
  return `Measured ${context.date.slice(0, 10)} on ${context.num_cpus} cores with ` +
      `${context.vector_bits}-bit vectors (${caches}), oneDNN ${context.onednn}, ` +
      `glibc ${context.glibc}. Load average when it began: ${before.toFixed(1)}` +
      `${later === undefined ? '' : `; later, with its own load, at most ${later.toFixed(1)}`}.`;
}

function summaryText() {
  const body = tables.map(table => {
    const judged = [...rows.values()].filter(row => row.table === table.id && row.met !== undefined);
    return [table.title, judged.filter(row => row.met).length, judged.length];
  }).filter(cells => cells[2] > 0);
  return grid(['table', 'aims met', 'of'], body);
}

readAll();
const texts = {machine: machineText(), floors: floorsText(), summary: summaryText()};
for (const table of tables) texts[table.id] = tableText(table);

texts.misses = missesText(texts);

const {before, later = 0} = loads();
const busy = busyText(before, 0) || busyText(later, 1);
const shown = tables.filter(table => !texts[table.id].endsWith('not part of this run.'));
const plain = [busy, texts.machine, `Missed aims\n${texts.misses}`, texts.summary, texts.floors,
               ...shown.map(table => `${table.title}\n${texts[table.id]}`)].filter(Boolean).join('\n\n') + '\n';
fs.writeFileSync(path.join(folder, 'report.txt'), plain);
fs.writeFileSync(path.join(folder, 'report.json'), JSON.stringify({contexts, rows: [...rows.values()]}, null, 1));
if (documentPath && !busy) fillTables(documentPath, texts);
process.stdout.write(plain);
const failed = [...rows.values()].filter(row => row.error);
for (const row of failed) console.error(`failed: ${row.table}/${row.name}, ${row.threads} threads: ${row.error}`);
process.exitCode = failed.length ? 1 : 0;
