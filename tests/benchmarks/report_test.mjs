// benchmarks/report.mjs: from the JSON of the benchmark programs to ratios, verdicts and documents.
import assert from 'node:assert';
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

const program = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../benchmarks/report.mjs');
const context = {date: '2026-01-02T03:04:05+00:00', num_cpus: 2, caches: [], load_avg: [0.1]};

// One row as Google Benchmark writes it; times in seconds.
function row(name, threads, {tenon, floor, peer, ...more}) {
  const times = {tenon, floor, peer};
  const roles = Object.keys(times).filter(role => times[role] !== undefined);
  const counters = Object.fromEntries(roles.flatMap(
      role => [[`${role}_min_s`, times[role]], [`${role}_median_s`, 2 * times[role]]]));
  return {
    name: `${name}/threads:${threads}/iterations:20/manual_time`,
    label: roles.map(role => `${role}=${role} name`).join('|'),
    ...counters,
    ...more,
  };
}

// Runs the program on files given by name; the document holds marks for table "matmul" and for what is missed.
function report(files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'report-test-'));
  try {
    for (const [name, content] of Object.entries(files))
      fs.writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    const document = path.join(folder, 'page.md');
    fs.writeFileSync(document, 'before\n<!-- bench:matmul -->\nold\n<!-- /bench:matmul -->\nafter\n' +
        '<!-- bench:misses -->\n<!-- /bench:misses -->\n');
    const run = spawnSync(process.execPath, [program, folder, document], {encoding: 'utf8'});
    const read = name => fs.existsSync(path.join(folder, name)) ? fs.readFileSync(path.join(folder, name), 'utf8') : '';
    return {status: run.status, error: run.stderr, text: run.stdout, page: read('page.md'),
            rows: JSON.parse(read('report.json') || '{"rows": []}').rows};
  } finally {
    fs.rmSync(folder, {recursive: true});
  }
}

const rowsOf = (...benchmarks) => ({'a.json': {context, benchmarks}});

test('ratios are speeds against the floor and the peer', () => {
  const [only] = report(rowsOf(row('matmul/m', 1, {tenon: 4e-3, floor: 2e-3, peer: 3e-3}))).rows;
  assert.equal(only.of_floor, 0.5);
  assert.equal(only.of_peer, 0.75);
});

test('the least time of several files counts', () => {
  const [only] = report({
    'a.json': {context, benchmarks: [row('matmul/m', 1, {tenon: 4e-3, floor: 2e-3})]},
    'b.json': {context, benchmarks: [row('matmul/m', 1, {tenon: 5e-3, floor: 1e-3})]},
  }).rows;
  assert.equal(only.tenon_min_s, 4e-3);
  assert.equal(only.floor_min_s, 1e-3);
});

test('a peer that another program measured joins the row of its name', () => {
  const peer = {table: 'model', name: 'net', threads: 2, role: 'peer', what: 'other', min_s: 3e-3, median_s: 3e-3};
  const rows = report({...rowsOf(row('model/net', 2, {tenon: 2e-3})), 'z.json': {measured: [peer]}}).rows;
  assert.equal(rows.length, 1);
  assert.equal(rows[0].of_peer, 1.5);
});

test('an aim is met exactly when every ratio that it names is reached', () => {
  const aims = {aim_of_floor: 0.75, aim_of_peer: 0.8};
  const {rows} = report(rowsOf(row('matmul/both', 1, {tenon: 1, floor: 0.75, peer: 0.8, ...aims}),
                               row('matmul/floor', 1, {tenon: 1, floor: 0.75, peer: 0.7, ...aims}),
                               row('matmul/peer', 1, {tenon: 1, floor: 0.7, peer: 0.8, ...aims}),
                               row('matmul/none', 1, {tenon: 1, floor: 0.1})));
  assert.deepEqual(rows.map(r => r.met), [true, false, false, undefined]);
});

test('an aim in seconds is met up to and with that time', () => {
  const {rows} = report(rowsOf(row('overhead/a', 1, {tenon: 1e-7, aim_s: 1e-7}),
                               row('overhead/b', 1, {tenon: 1.1e-7, aim_s: 1e-7})));
  assert.deepEqual(rows.map(r => r.met), [true, false]);
});

test('a table replaces what stands between its markers and nothing else', () => {
  const {page, status} = report(rowsOf(row('matmul/m', 1, {tenon: 4e-3, floor: 2e-3, flops: 8e6})));
  assert.equal(status, 0);
  assert.match(page, /^before\n<!-- bench:matmul -->\n\n\| case/);
  assert.match(page, /\| m \| 4 \| 2 \| 50 % \|/);
  assert.match(page, /<!-- \/bench:matmul -->\nafter\n/);
  assert.doesNotMatch(page, /old/);
});

test('a table without rows says why', () => {
  assert.match(report({'matmul.skipped': 'the library is missing\n'}).page, /Skipped: the library is missing\./);
});

test('the text leaves out what a filter left out', () => {
  const {text} = report(rowsOf(row('matmul/m', 1, {tenon: 1})));
  assert.match(text, /Matrix products/);
  assert.doesNotMatch(text, /Convolutions/);
});

test('a failed row is shown and fails the run', () => {
  const failed = {name: 'matmul/m/threads:1/iterations:1', error_occurred: true, error_message: 'wrong result'};
  const {status, error, page} = report(rowsOf(failed));
  assert.equal(status, 1);
  assert.match(error, /matmul\/m, 1 threads: wrong result/);
  assert.match(page, /failed: wrong result/);
});

test('a program whose filter matched nothing leaves an empty file, which is passed over', () => {
  const {status, rows} = report({...rowsOf(row('matmul/m', 1, {tenon: 1})), 'b.json': ''});
  assert.equal(status, 0);
  assert.equal(rows.length, 1);
});

test('only what misses its aim is marked, with its numbers of threads', () => {
  const reached = row('matmul/reached', 1, {tenon: 1, floor: 0.8, aim_of_floor: 0.75});
  const missed = n => row('matmul/missed', n, {tenon: 1, floor: 0.7, aim_of_floor: 0.75});
  const {page} = report(rowsOf(reached, missed(1), missed(2)));
  assert.match(page, /\| floor ≥ 75 % \|/);
  assert.match(page, /\| floor ≥ 75 %: \*\*missed\*\* on 1 and 2 threads \|/);
  assert.doesNotMatch(page, /: met/);
});

test('what misses its aim is listed by the ratio or the time that misses it', () => {
  const aims = {aim_of_floor: 0.75, aim_of_peer: 0.8};
  const {page, text} = report(rowsOf(row('matmul/peer', 2, {tenon: 1, floor: 0.75, peer: 0.7, ...aims}),
                                     row('matmul/both', 2, {tenon: 1, floor: 0.1, peer: 0.2, ...aims}),
                                     row('overhead/slow', 1, {tenon: 1.1e-7, aim_s: 1e-7})));
  const misses = page.slice(page.indexOf('<!-- bench:misses -->')).match(/^\| .*\d.*$/gm);
  assert.deepEqual(misses, [
    '| Matrix products | peer | 2 | 70 % | ≥ 80 % of peer name |',
    '| Matrix products | both | 2 | 10 % | ≥ 75 % of floor name |',
    '| Matrix products | both | 2 | 20 % | ≥ 80 % of peer name |',
    '| Calls | slow | 1 | 110 ns | ≤ 100 ns |',
  ]);
  assert.ok(text.includes(misses.join('\n')));
});

test('a page without misses says so', () => {
  assert.match(report(rowsOf(row('matmul/m', 1, {tenon: 1, floor: 1, aim_of_floor: 1}))).page, /Every aim is met\./);
});

test('a busy machine leaves the page alone and says so', () => {
  const quiet = report(rowsOf(row('matmul/m', 1, {tenon: 1})));
  assert.doesNotMatch(quiet.text, /busy/);
  const busy = report({'a.json': {context: {...context, load_avg: [4]}, benchmarks: [row('matmul/m', 1, {tenon: 1})]}});
  assert.match(busy.text, /busy with other work \(load average 4\.0\); the page is left as it is/);
  assert.match(busy.text, /Matrix products\n\| case/);
  assert.match(busy.page, /^before\n<!-- bench:matmul -->\nold\n/);
  assert.equal(busy.status, 0);
  // The load of the first program is no work of others.
  for (const [load, isBusy] of [[2, false], [3, true]]) {
    const later = {...context, date: '2026-01-02T04:00:00+00:00', load_avg: [load]};
    const both = report({'a.json': {context: later, benchmarks: []}, 'b.json': {context, benchmarks: []}});
    assert.match(both.text, new RegExp(`when it began: 0.1; later, with its own load, at most ${load}`));
    assert.equal(/busy/.test(both.text), isBusy);
    assert.equal(/\nold\n/.test(both.page), isBusy);
  }
});
