// docs/compatibility.md: it has every row once, and each test that it names is a test whose name carries the row's id.
import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const page = fs.readFileSync(path.join(root, 'docs/compatibility.md'), 'utf8');
const counts = {S000: 26, S001: 61, S002: 14, S003: 11, S004: 35, SX: 10};
const ids = Object.entries(counts).flatMap(
    ([group, count]) => Array.from({length: count}, (_, i) => `${group}-${String(i + 1).padStart(2, '0')}`));

// Tests of this file and of the C++ sources: the second argument of TEST, or the name of a parameter, a quoted word.
const sources = fs.readdirSync(path.join(root, 'tests'), {recursive: true})
    .filter(name => /\.(cc|mjs)$/.test(name)).map(name => fs.readFileSync(path.join(root, 'tests', name), 'utf8'));
const names = new Set(sources.flatMap(text => [
  ...text.matchAll(/\bTEST(?:_[FP])?\(\s*\w+,\s*(\w+)\)/g), ...text.matchAll(/["'](\w+)["']/g)].map(([, name]) => name)));

const rows = [...page.matchAll(/^\| (S\w+-\d\d) \| (.*) \| (.*) \| (.*) \|$/gm)].map(
    ([, id, reference, tenon, tests]) => ({id, reference, tenon, tests: [...tests.matchAll(/`(\w+)`/g)].map(([, t]) => t), text: tests}));

test('S001_61_EveryRowIsOnThePage', () => {
  assert.deepEqual(rows.map(row => row.id), ids);
  assert.match(rows.find(row => row.id === 'S001-61').reference, /tests\/python\/relay/);
});

test('each row names a test that carries its id, or says that it is open', () => {
  for (const {id, tests, text, tenon} of rows) {
    if (text === 'open') {
      assert.match(tenon, /^Open: /, `${id} is open, but does not say what is lacking`);
      continue;
    }
    assert.ok(tests.some(name => name.includes(id.replace('-', '_'))), `${id}: none of ${tests} carries the id`);
  }
});

test('each test that is named exists', () => {
  const missing = rows.flatMap(({id, tests}) => tests.filter(name => !names.has(name)).map(name => `${id}: ${name}`));
  assert.deepEqual(missing, []);
});

test('each test that carries an id is named', () => {
  const named = new Set(rows.flatMap(row => row.tests));
  const unnamed = [...names].filter(name => /^(S00[0-4]|SX)_\d\d_[A-Z]/.test(name) && !named.has(name));
  assert.deepEqual(unnamed, []);
});

test('S001_59_PassesAreDividedByTheWaysToMergeWork', () => {
  const passes = fs.readFileSync(path.join(root, 'docs/passes.md'), 'utf8');
  const section = passes.split(/^## /m).find(part => part.startsWith('Two ways to merge work'));
  assert.ok(section, 'docs/passes.md has no section "Two ways to merge work"');
  const placed = {
    Vertical: ['FuseOps', 'FoldScaleAxis', 'FoldAffine', 'FoldConstant'],
    Horizontal: ['CombineParallelConv2D', 'CombineParallelDense', 'CombineParallelBatchMatmul'],
  };
  const part = way => section.match(new RegExp(`^- \\*${way}\\*:[^]*?(?=\\n- |\\n\\n)`, 'm'))[0];
  for (const [way, passes] of Object.entries(placed)) {
    const other = way === 'Vertical' ? 'Horizontal' : 'Vertical';
    for (const pass of passes) assert.ok(part(way).includes(pass) && !part(other).includes(pass), `${pass} is not placed`);
  }
});
