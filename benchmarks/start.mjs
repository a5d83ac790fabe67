// What is paid before anything is computed: sizes, times from exec to the end of a process, memory.
//   node start.mjs BUILD FOLDER [DOCUMENT.md]
// BUILD is the build folder. Writes FOLDER/report.txt and report.json, and fills the table "start" of DOCUMENT, unless the
// machine was busy with other work.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {fillTables, grid} from './document.mjs';
import {busyText, number} from './tables.mjs';

const [build, folder, documentPath] = process.argv.slice(2);
const processes = 41;
const program = path.join(build, 'tools/tenon');
const benchmark = path.join(build, 'benchmarks/start_benchmark');
const load = os.loadavg()[0];

// Milliseconds of a whole process, from before exec to after its end; median and least.
function timeOf(file, args) {
  execFileSync(file, args);
  const times = Array.from({length: processes}, () => {
    const start = process.hrtime.bigint();
    execFileSync(file, args);
    return Number(process.hrtime.bigint() - start) / 1e6;
  }).sort((a, b) => a - b);
  return {median: times[processes >> 1], least: times[0]};
}

const jsonOf = (...args) => JSON.parse(execFileSync(benchmark, args, {encoding: 'utf8'}));

function strippedSize(file) {
  const stripped = path.join(folder, path.basename(file));
  execFileSync('strip', ['-o', stripped, fs.realpathSync(file)]);
  const {size} = fs.statSync(stripped);
  fs.rmSync(stripped);
  return size;
}

const megabytes = bytes => `${(bytes / 1e6).toFixed(1)} MB`;
const milliseconds = ({median, least}) => `${number(median)} ms (least ${number(least)})`;

const cache = path.join(folder, 'cache');
const help = timeOf(program, ['--help']);
const first = timeOf(benchmark, ['first', cache]);
const nothing = timeOf('/bin/true', []);
// Of fresh processes, the medians of the first run and of those after it, in milliseconds.
function runsOn(threads) {
  const run = () => jsonOf('run', cache, String(threads));
  run();  // fills the cache
  const runs = Array.from({length: processes}, run);
  const median = key => runs.map(run => run[key]).sort((a, b) => a - b)[processes >> 1];
  return {first: median('first'), later: median('later')};
}

const runs = [1, 2].map(runsOn);
const empty = jsonOf('empty');
const resnet50 = jsonOf('resnet50');
const rows = [
  ['program, stripped', megabytes(strippedSize(program)), ''],
  ['libtenon_c.so, stripped', megabytes(strippedSize(path.join(build, 'c_api/libtenon_c.so'))), ''],
  ['/bin/true, exec to end: the floor', milliseconds(nothing), ''],
  ['tenon --help, exec to end', milliseconds(help), '≤ 20 ms'],
  ['first result of the least program, kernels in the cache, exec to end', milliseconds(first), '≤ 60 ms'],
  ...runs.map(({first, later}, i) => [`first run of a process on ${i + 1} thread${i ? 's' : ''}, a square root of 4 MB`,
                                      `${number(first)} ms (later ones ${number(later)})`, '']),
  ['memory before Compile of an empty module', megabytes(empty.before), ''],
  ['memory after it', megabytes(empty.after), ''],
  ['peak memory of compiling ResNet-50', `${megabytes(resnet50.peak)}, ${(resnet50.peak / resnet50.weights).toFixed(2)} x its weights`,
   '≤ 2 x'],
];
const table = grid(['what', 'measured', 'aim'], rows);
fs.writeFileSync(path.join(folder, 'report.json'), JSON.stringify({load, help, first, nothing, runs, empty, resnet50}, null, 1));
fs.writeFileSync(path.join(folder, 'report.txt'), `${table}\n`);
console.log(table);
const busy = busyText(load, 1);
if (busy) console.log(busy);
else if (documentPath) fillTables(documentPath, {start: table});
