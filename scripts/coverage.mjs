// Reads what llvm-cov exports and prints a table of lines and branches by room:
//   node coverage.mjs FILE.lcov NEVER_RUN.txt PAGE.md [ROOM...]
// NEVER_RUN.txt gets the functions that never ran. The table of PAGE.md, between the marks, is replaced. Where rooms are
// named, the others are left out.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import readline from 'node:readline';

const [lcov, neverRun, page, ...wanted] = process.argv.slice(2);
const root = path.resolve(path.dirname(process.argv[1]), '..');
const begin = '<!-- written by scripts/coverage -->', end = '<!-- end -->';

// A line or branch that several instances of a template have has run where one of them did.
class Counts {
  runs = new Map();
  add(key, count) { this.runs.set(key, Math.max(this.runs.get(key) ?? 0, count)); }
  get all() { return this.runs.size; }
  get run() { return [...this.runs.values()].filter(count => count > 0).length; }
}

const files = new Map();
let file;
for await (const line of readline.createInterface({input: fs.createReadStream(lcov)})) {
  const at = line.indexOf(':');
  const kind = line.slice(0, at), fields = line.slice(at + 1).split(',');
  if (kind === 'SF') {
    const name = path.relative(root, fields[0]).replace(/^.*include\/tenon\//, '');
    if (!files.has(name)) files.set(name, {lines: new Counts(), branches: new Counts(), starts: new Map(), functions: new Map()});
    file = files.get(name);
  } else if (kind === 'DA') {
    file.lines.add(fields[0], Number(fields[1]));
  } else if (kind === 'BRDA') {
    file.branches.add(fields.slice(0, 3).join(), fields[3] === '-' ? 0 : Number(fields[3]));
  } else if (kind === 'FN') {
    file.starts.set(fields.slice(1).join(), Number(fields[0]));
  } else if (kind === 'FNDA') {
    const name = fields.slice(1).join(), start = file.starts.get(name);
    const known = file.functions.get(start) ?? {name, count: 0};
    known.count = Math.max(known.count, Number(fields[0]));
    file.functions.set(start, known);
  }
}

const part = (run, all) => all === 0 ? '' : `${(100 * run / all).toFixed(1)} %`;
const rooms = new Map();
const never = [];
for (const [name, {lines, branches, functions}] of [...files].sort()) {
  const room = name.split('/')[0];
  if (wanted.length > 0 && !wanted.includes(room)) continue;
  if (name.startsWith('..') || !fs.existsSync(path.join(root, room, 'CMakeLists.txt'))) continue;
  const sum = rooms.get(room) ?? {lines: 0, linesRun: 0, branches: 0, branchesRun: 0, functions: 0, never: 0};
  sum.lines += lines.all;
  sum.linesRun += lines.run;
  sum.branches += branches.all;
  sum.branchesRun += branches.run;
  sum.functions += functions.size;
  for (const [start, {name: mangled, count}] of functions) {
    if (count > 0) continue;
    ++sum.never;
    never.push({place: `${name}:${start}`, mangled: mangled.replace(/^.*[:;]/, '')});
  }
  rooms.set(room, sum);
}
const names = execFileSync('llvm-cxxfilt-19', {input: never.map(f => f.mangled).join('\n')}).toString().split('\n');
fs.writeFileSync(neverRun, never.map(({place}, i) => `${place}: ${names[i]}\n`).join(''));

const table = ['| room | lines | of them ran | branches | of them ran | functions | never ran |', '|---|---|---|---|---|---|---|'];
const all = {lines: 0, linesRun: 0, branches: 0, branchesRun: 0, functions: 0, never: 0};
const row = (name, s) =>
  table.push(`| ${name} | ${s.lines} | ${part(s.linesRun, s.lines)} | ${s.branches} | ${part(s.branchesRun, s.branches)} | ${s.functions} | ${s.never} |`);
for (const [room, sum] of rooms) {
  row(`${room}/`, sum);
  for (const key of Object.keys(all)) all[key] += sum[key];
}
row('all', all);
console.log(table.join('\n'));
const text = fs.readFileSync(page, 'utf8');
const from = text.indexOf(begin), to = text.indexOf(end);
if (from < 0 || to < from) throw new Error(`${page} has no "${begin}" ... "${end}"`);
fs.writeFileSync(page, `${text.slice(0, from)}${begin}\n${table.join('\n')}\n${text.slice(to)}`);
