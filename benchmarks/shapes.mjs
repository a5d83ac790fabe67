// One compile for all shapes against a compile for each and against ONNX Runtime: runs shapes_benchmark and
// onnxruntime_shapes.mjs on models and makes a table of it.
//   node shapes.mjs PROGRAM FOLDER SHAPES DOCUMENT.md|'' [NAME 'MODEL.onnx RANGE... [INPUT=VALUE] [INPUT=EXTENT,EXTENT]']...
// Run it where the npm package onnxruntime-node is installed. Writes FOLDER/report.txt and FOLDER/NUMBER.json, and fills the
// table "shapes" of DOCUMENT, unless the machine was busy with other work. Goes on where a model fails, and exits with 1 then.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {fillTables, grid} from './document.mjs';
import {busyText, number} from './tables.mjs';

const [program, folder, shapes, documentPath, ...models] = process.argv.slice(2);
const peer = path.join(path.dirname(new URL(import.meta.url).pathname), 'onnxruntime_shapes.mjs');
const load = os.loadavg()[0];
const threads = 1;
const most = values => Math.max(...values);
const meanOf = ratios => Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);

function measure(index, words) {
  const file = path.join(folder, `${index}.json`), arrays = path.join(folder, `${index}`);
  fs.mkdirSync(arrays);
  const run = (name, args) => execFileSync(name, args, {stdio: 'inherit'});
  run(program, [...words, '--rounds', shapes, '--threads', threads, '--out', file, '--arrays', arrays]);
  const constants = words.slice(1).filter(word => !word.includes('..') && !word.includes(','));
  run(process.execPath, [peer, words[0], threads, file, arrays, ...constants]);
  fs.rmSync(arrays, {recursive: true});
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

const rows = [], failed = [];
let version = '';
for (let i = 0; i < models.length; i += 2) {
  console.log(`\n${models[i]}`);
  let figures;
  try {
    figures = measure(i / 2, models[i + 1].split(' '));
  } catch (error) {
    console.log(`${models[i]}: ${error.message}`);
    failed.push(models[i]);
    continue;
  }
  version = figures.version;
  const ratios = figures.shapes.map(({next, own}) => next / own);
  const speeds = figures.shapes.map(({next, peer}) => peer / next);
  rows.push([
    models[i], meanOf(ratios).toFixed(2), most(ratios).toFixed(2),
    `${number(most(figures.shapes.slice(1).map(({first, next}) => first - next)))} ms`,
    `${figures.recompiles}`, `${number(figures.compile)} ms, ${(figures.compile / figures['own compile']).toFixed(2)} x`,
    `${meanOf(speeds).toFixed(2)} x`, `${Math.min(...speeds).toFixed(2)} x`,
  ]);
}
rows.push(['aim', '≤ 1.10', '≤ 1.30', '≤ 1 ms', '0', '≤ 1.5 x', '≥ 1.3 x', '≥ 1 x']);
const table = grid(['model', 'time by that of a compile for the shape, geometric mean', 'worst',
                    'first run longer by at most, after the first shape', 'recompiles', 'compile, and by that for one shape',
                    `speed by that of ONNX Runtime ${version}, geometric mean`, 'worst'], rows);
fs.writeFileSync(path.join(folder, 'report.txt'), `${table}\n`);
console.log(table);
const busy = busyText(load, 1);
if (busy) console.log(busy);
else if (documentPath && failed.length === 0) fillTables(documentPath, {shapes: table});
if (failed.length > 0) {
  console.log(`failed: ${failed.join('; ')}`);
  process.exit(1);
}
