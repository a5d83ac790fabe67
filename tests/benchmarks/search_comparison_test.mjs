import assert from 'node:assert';
import test from 'node:test';

import {compareSearches} from '../../benchmarks/search_comparison.mjs';

const record = (content, choice, ratio, second, scope = 'kernel') =>
    ({content, choice, ratio, scope, date: `2026-11-30T10:00:${String(second).padStart(2, '0')}Z`});

test('what both have raced is compared choice by choice', () => {
  const one = [record('k', 'a', 0.9, 0), record('k', 'b', 0.8, 10), record('k', 'c', 1.5, 30)];
  const two = [record('k', 'a', 0.92, 0), record('k', 'b', 0.9, 5), record('k', 'd', 0.5, 10)];
  const compared = compareSearches(one, two);
  assert.equal(compared.shared, 2);
  assert.equal(compared.alike, 1);
  assert.ok(Math.abs(compared.median - 0.125) < 1e-9);
  assert.deepEqual(compared.perMinute, [4, 12]);
});

test('the best of each kernel is compared, or the default where nothing beat it', () => {
  const one = [record('k', 'a', 0.8, 0), record('l', 'a', 1.2, 1), record('m', 'a', 0.9, 2)];
  const two = [record('k', 'b', 0.82, 0), record('l', 'b', 1.01, 1)];
  const compared = compareSearches(one, two);
  assert.deepEqual(compared.kernels, [{content: 'k', ratios: [0.8, 0.82]}, {content: 'l', ratios: [1, 1]}]);
  assert.equal(compared.kernelsAlike, 2);
  assert.equal(compared.shared, 0);
  assert.equal(compared.median, undefined);
});

test('races inside a model are no candidates, and searches of one race have no rate', () => {
  const compared = compareSearches([record('k', 'a', 0.9, 0), record('k', 'a', 0.7, 9, 'model')], [record('k', 'a', 0.9, 0)]);
  assert.deepEqual(compared.perMinute, [undefined, undefined]);
  assert.equal(compared.alike, 1);
});
