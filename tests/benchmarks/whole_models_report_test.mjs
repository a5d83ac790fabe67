// benchmarks/whole_models_report.mjs: from what whole_models.mjs measured to tables.
import assert from 'node:assert';
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

const program = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../benchmarks/whole_models_report.mjs');

const ran = (what, more = {}) => ({
  what, create_s: 0.02, peak_bytes: 90e6, idle_bytes: 50e6, difference: {largest: 1e-6, of: 2}, agrees: true, ...more,
});

// One model's row; times of all programs in seconds, the same with one thread and with two.
function row(name, peers, times) {
  return {name, kernels: 3, bytes: 4e6, cold_s: 0.5, warm_s: 0.1, peak_bytes: 70e6, peers, times: {1: times, 2: times}};
}

// {text, page, rows} of the report, and the cells of the times' table by the model's name. The document has marks for it.
function report(rows, absent = {}, load = 0.5) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'whole-models-report-test-'));
  try {
    const measured = {date: '2026-01-02T03:04:05Z', cores: 2, rounds: 1, load, absent, rows};
    fs.writeFileSync(path.join(folder, 'measured.json'), JSON.stringify(measured));
    const page = path.join(folder, 'page.md');
    fs.writeFileSync(page, '<!-- bench:whole-models -->\nold\n<!-- /bench:whole-models -->\n');
    const {stdout, stderr, status} = spawnSync(process.execPath, [program, folder, page], {encoding: 'utf8'});
    assert.equal(stderr, '');
    assert.equal(status, 0);
    const table = stdout.split('\n\n').find(part => part.startsWith('| model')).split('\n');
    const lines = table.map(line => line.split('|').slice(1, -1).map(cell => cell.trim()));
    return {text: stdout, page: fs.readFileSync(page, 'utf8'),
            rows: JSON.parse(fs.readFileSync(path.join(folder, 'report.json'))).rows,
            header: lines[0], cells: Object.fromEntries(lines.slice(2).map(([name, ...cells]) => [name, cells]))};
  } finally {
    fs.rmSync(folder, {recursive: true});
  }
}

const noGru = {what: 'PyTorch 2', error: 'no operator Gru'};
const both = {onnxruntime: ran('ONNX Runtime 1'), pytorch: ran('PyTorch 2', {library: 'blas/libblas.so.3'})};

test('each peer has a column of times and one of the ratio of the least times', () => {
  const {header, cells, text} = report([row('mlp', both, {
    tenon: [3e-3, 1e-3, 2e-3], onnxruntime: [4e-3, 4e-3, 3e-3], pytorch: [0.5e-3, 0.5e-3, 0.5e-3],
  })]);
  assert.deepEqual(header.slice(0, 6),
                   ['model', '1 thread, ms', 'ONNX Runtime 1, ms', 'speed', 'PyTorch 2, ms', 'speed']);
  assert.deepEqual(cells.mlp.slice(0, 5), ['1 / 2', '3 / 4', '3.00 x', '0.5 / 0.5', '**0.50 x**']);
  assert.match(text, /PyTorch 2 multiplies matrices with blas\/libblas\.so\.3\./);
});

test('the geometric mean of a peer is over the models that it ran', () => {
  const {cells} = report([
    row('mlp', both, {tenon: [1e-3], onnxruntime: [2e-3], pytorch: [3e-3]}),
    row('lstm', {...both, pytorch: noGru}, {tenon: [1e-3], onnxruntime: [8e-3]}),
  ]);
  assert.deepEqual(cells['geometric mean'].slice(0, 5), ['', '', '4.00 x', '', '3.00 x']);
});

test('the cell of a model that a peer cannot run says why', () => {
  const {cells, text} = report([row('lstm', {...both, pytorch: noGru}, {tenon: [1e-3], onnxruntime: [2e-3]})]);
  assert.deepEqual(cells.lstm.slice(3, 5), ['no operator Gru', '']);
  assert.ok(!/undefined|NaN/.test(text), text);
});

test('a peer that is not installed has no columns, and the report says so', () => {
  const {header, text} = report([row('mlp', {onnxruntime: both.onnxruntime}, {tenon: [1e-3], onnxruntime: [2e-3]})],
                                {PyTorch: "No module named 'torch'"});
  assert.equal(header.length, 7);
  assert.match(text, /PyTorch is not installed \(No module named 'torch'\)\./);
});

test('a busy machine leaves the page alone and says so', () => {
  const rows = [row('mlp', both, {tenon: [1e-3], onnxruntime: [2e-3], pytorch: [3e-3]})];
  const quiet = report(rows);
  assert.doesNotMatch(quiet.text, /busy/);
  assert.match(quiet.page, /\| mlp \| 1 \/ 1 /);
  const busy = report(rows, {}, 4);  // two cores are the benchmark's own
  assert.match(busy.text, /busy with other work \(load average 4\.0\); the page is left as it is/);
  assert.match(busy.page, /\nold\n/);
});
