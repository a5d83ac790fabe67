// The page of tenon tune: a dot for each race, a row for each kernel, and no address of a network.
//   node tune_page_test.mjs TENON PLUGIN FOLDER
import assert from 'node:assert';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {open} from './page_testing.mjs';

const [tenon, plugin, folder] = process.argv.slice(2);
fs.mkdirSync(folder, {recursive: true});
const file = path.join(folder, 'page.html'), records = path.join(folder, 'records.sqlite');
fs.rmSync(records, {force: true});
execFileSync(tenon, ['tune', '--op', 'my.matmul', '--plugin', plugin, '--shape', 'a=64,96', '--shape', 'b=96,80', '--threads', '1',
                     '--minutes', '0.25', '--records', records, '--report', file], {stdio: ['ignore', 'ignore', 'inherit']});
const {page, report, at, body} = open(file);
const [machine] = report.machines;

test('the page says what won by how much', () => {
  assert.equal(report.machines.length, 1);
  assert.match(at('h1').textContent, /my\.matmul/);
  assert.ok(machine.raced > 0);
  const cells = body.all('td').map(cell => cell.text);
  assert.ok(cells.some(text => text.startsWith('te.plain ')), 'a choice');
  assert.ok(cells.some(text => /^\d+ %$/.test(text)), 'how near the floor it is');
});

test('each race is a dot, and the line of the best falls', () => {
  const dots = body.all('circle');
  assert.equal(dots.length, machine.tries.filter(entry => entry.outcome).length);
  for (const dot of dots) assert.ok(Number.isFinite(dot.attributes.cx) && Number.isFinite(dot.attributes.cy));
  const line = body.all('path').at(-1).attributes.d;
  const heights = [...line.matchAll(/V([\d.]+)/g)].map(([, y]) => Number(y));
  assert.ok(heights.length > 0 && heights.every((y, i) => i === 0 || y > heights[i - 1]), line);
});

test('the page needs no network', () => assert.doesNotMatch(page.replaceAll('http://www.w3.org/', ''), /https?:/));
