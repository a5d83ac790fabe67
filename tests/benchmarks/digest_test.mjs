// benchmarks/digest.mjs: from the pages of the CPUs to docs/performance.md; and that the committed pages are up to date.
import assert from 'node:assert';
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

import {missesText, sectionsOf} from '../../benchmarks/page.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const pages = ['intel-amx', 'amd-zen5', 'amd-zen4', 'amd-zen3', 'amd-zen5-onednn3', 'amd-zen3-onednn3']
    .map(name => path.join(root, `docs/performance/${name}.md`));
const section = (id, lines) => `<!-- bench:${id} -->\n\n${lines.join('\n')}\n\n<!-- /bench:${id} -->\n`;

function runDigest(document, paths) {
  const {stderr, status} = spawnSync(process.execPath, [path.join(root, 'benchmarks/digest.mjs'), document, ...paths],
                                     {encoding: 'utf8'});
  assert.equal(stderr, '');
  assert.equal(status, 0);
}

// The lines that the digest has of a page named "cpu".
function digest(page) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'digest-test-'));
  try {
    const [document, cpu] = ['digest.md', 'cpu.md'].map(name => path.join(folder, name));
    fs.writeFileSync(document, section('cpu', ['old']) + section('other', ['kept']));
    fs.writeFileSync(cpu, page);
    runDigest(document, [cpu]);
    const sections = sectionsOf(fs.readFileSync(document, 'utf8'));
    assert.equal(sections.other, 'kept');
    return sections.cpu.split('\n');
  } finally {
    fs.rmSync(folder, {recursive: true});
  }
}

test('whole models have a line for each peer and number of threads, over the models that the peer ran', () => {
  const lines = digest(section('whole-models', [
    '| model | 1 thread, ms | ORT 1, ms | speed | Torch 2, ms | speed | 2 threads, ms | ORT 1, ms | speed | Torch 2, ms | speed |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    '| a | 1 / 1 | 2 / 2 | 2.00 x | 3 / 3 | 3.00 x | 1 / 1 | 4 / 4 | 4.00 x | 5 / 5 | 5.00 x |',
    '| b | 2 / 2 | 1 / 1 | **0.50 x** | no operator If |  | 2 / 2 | 2 / 2 | 1.00 x | no operator If |  |',
    '| geometric mean |  |  | 1.00 x |  | 3.00 x |  |  | 2.00 x |  | 5.00 x |',
  ]));
  assert.deepEqual(lines.slice(2), [
    '| ORT 1, 1 thread | 2 | 1.00 x | 2.00 x (a) | 0.50 x (b) |', '| Torch 2, 1 thread | 1 | 3.00 x | 3.00 x (a) | 3.00 x (a) |',
    '| ORT 1, 2 threads | 2 | 2.00 x | 4.00 x (a) | 1.00 x (b) |', '| Torch 2, 2 threads | 1 | 5.00 x | 5.00 x (a) | 5.00 x (a) |',
  ]);
});

test('a table of kernels has a line for its peer: range, missed aims, slowest row', () => {
  const lines = digest(section('conv2d', [
    '| case | 1 thread, ms | of FMA loop | of oneDNN | 2 threads, ms | of FMA loop | of oneDNN | aim |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    '| fast | 1 | 70 % | 110 % | 1 | 70 % | 120 % | peer ≥ 80 % |',
    '| slow | 1 | 60 % | 90 % | 1 | 50 % | 70 % | peer ≥ 80 %: **missed** on 2 threads |',
    '| alone | 1 | 10 % |  | 1 | 10 % |  |  |',
  ]));
  assert.deepEqual(lines.slice(2), ['| Convolutions | oneDNN | 90 to 110 % | 70 to 120 % | 1 | slow, 2 threads |']);
});

test('a floor that is aimed at has a line beside the one of the peer', () => {
  const lines = digest(section('matmul', [
    '| case | 1 thread, ms | of FMA loop | of oneDNN | aim |', '| --- | --- | --- | --- | --- |',
    '| a | 1 | 70 % | 90 % | floor ≥ 75 %, peer ≥ 80 %: **missed** on 1 thread |',
  ]));
  assert.deepEqual(lines.slice(2), ['| Matrix products | FMA loop | 70 % |  | 1 | a, 1 thread |',
                                    '| Matrix products | oneDNN | 90 % |  |  | a, 1 thread |']);
});

test('without a peer the ratios are those to the floor', () => {
  const lines = digest(section('layout', ['| case | 1 thread, µs | of memcpy | aim |', '| --- | --- | --- | --- |',
                                          '| t | 6 | 75 % | floor ≥ 80 %: **missed** on 1 thread |']));
  assert.deepEqual(lines.slice(2), ['| Transposes and concatenations | memcpy | 75 % |  | 1 | t, 1 thread |']);
});

test('the times of compiling are a sentence', () => {
  const lines = digest(section('whole-models-costs', ['| model | compile, ms | from the cache, ms |', '| --- | --- | --- |',
                                                      '| a | 735 | 55 |', '| b | 54.9 | 17.6 |']));
  assert.equal(lines[0], 'From the file to the first run: 54.9 ms (b) to 735 ms (a); from the cache of kernels ' +
      '17.6 ms (b) to 55 ms (a).');
});

test('the committed digest is what the pages say', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'digest-test-'));
  try {
    const committed = fs.readFileSync(path.join(root, 'docs/performance.md'), 'utf8');
    const copy = path.join(folder, 'performance.md');
    fs.writeFileSync(copy, committed.replace(/(<!-- bench:(\S+) -->\n)[^]*?(<!-- \/bench:\2 -->)/g, '$1$3'));
    runDigest(copy, pages);
    assert.equal(fs.readFileSync(copy, 'utf8'), committed);
  } finally {
    fs.rmSync(folder, {recursive: true});
  }
});

for (const page of pages) {
  test(`${path.basename(page)} lists what its tables miss`, () => {
    const sections = sectionsOf(fs.readFileSync(page, 'utf8'));
    assert.ok(sections.matmul.startsWith('| case'));
    assert.equal(sections.misses, missesText(sections));
  });
}
