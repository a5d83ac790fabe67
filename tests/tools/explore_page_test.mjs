// The page of tenon explore, in a document that knows only what its script uses: each kernel has its entry, and the
// roofline a dot for each kernel that computes, below the roof of the arithmetic.
//   node explore_page_test.mjs TENON FOLDER
import assert from 'node:assert';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {open} from './page_testing.mjs';

const [tenon, folder] = process.argv.slice(2);
fs.mkdirSync(folder, {recursive: true});
const file = path.join(folder, 'page.html');
execFileSync(tenon, ['explore', 'model:mlp', '--repeat', '2', '--no-cache', '-o', file], {stdio: ['ignore', 'ignore', 'inherit']});
const {report, at} = open(file);

test('each kernel has an entry and texts', () => {
  const buttons = at('nav').children;
  assert.equal(buttons.length, report.nodes.length + 3);
  buttons.at(-1).listeners.click();
  assert.match(at('h2').textContent, /% of its floor \(/);
  assert.ok(at('pre').textContent.length > 0);
});

test('the roofline has a dot for each kernel, below the roof', () => {
  at('nav').children[2].listeners.click();
  const [svg] = at('pre').children;
  const dots = svg.all('circle'), roof = svg.all('text').find(text => /GFLOP/.test(text.text));
  assert.equal(dots.length, report.floors.kernels.filter(kernel => kernel.operations > 0).length);
  assert.ok(dots.length > 0);
  for (const dot of dots) {
    assert.ok(Number.isFinite(dot.attributes.cx) && dot.attributes.cx >= 0 && dot.attributes.cx <= 900);
    assert.ok(dot.attributes.cy > roof.attributes.y && dot.attributes.cy <= 520);
    dot.listeners.click();
  }
});
