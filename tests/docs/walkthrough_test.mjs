// docs/walkthrough.md: each command prints the lines that stand below it, in this order.
//   node --test walkthrough_test.mjs, with the program's path in TENON
import assert from 'node:assert';
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const page = fs.readFileSync(path.join(root, 'docs/walkthrough.md'), 'utf8');
const stations = [...page.matchAll(/^```\n\$ tenon (.*)\n([^]*?)^```$/gm)].map(([, command, lines]) => ({command, lines}));
// The page's tiles fill vectors of 256 bits.
const cpu = fs.readFileSync('/proc/cpuinfo', 'utf8');
const has256 = /\bavx2\b/.test(cpu) && /\bfma\b/.test(cpu);

// Whether the parts between "..." of `line` stand in `text`, in order.
function shows(text, line) {
  let at = 0;
  for (const part of line.split('...').map(part => part.trim()).filter(Boolean)) {
    at = text.indexOf(part, at);
    if (at < 0) return false;
    at += part.length;
  }
  return true;
}

test('the page has at most ten stations, each with a command', () => {
  const headings = page.match(/^## \d+\. /gm);
  assert.ok(headings.length <= 10);
  assert.ok(stations.length >= headings.length);
});

test('the files that the page names are there', () => {
  const files = [...page.matchAll(/`([a-z]+\/[\w/]+\.(?:cc|h|mjs))`/g)].map(([, file]) => file);
  assert.ok(files.length >= 9);
  assert.deepEqual(files.filter(file => !fs.existsSync(path.join(root, file))), []);
});

for (const {command, lines} of stations) {
  test(`tenon ${command}`, {skip: has256 ? false : 'the CPU lacks AVX2 or FMA'}, () => {
    const run = spawnSync(process.env.TENON, command.split(' '),
                          {cwd: root, encoding: 'utf8', maxBuffer: 1 << 26});
    assert.equal(run.status, 0, run.stderr);
    const printed = (run.stderr + run.stdout).split('\n');
    let next = 0;
    for (const line of lines.split('\n').filter(line => line && line !== '...')) {
      const found = printed.findIndex((text, i) => i >= next && shows(text, line));
      assert.notEqual(found, -1, `not printed after line ${next}: ${line}`);
      next = found + 1;
    }
  });
}
