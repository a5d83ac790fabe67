// One compile for all shapes against a compile for each: runs shapes_benchmark on models and makes a table of it.
//   node shapes.mjs PROGRAM FOLDER SHAPES DOCUMENT.md|'' [NAME 'MODEL.onnx RANGE...']...
// Writes FOLDER/report.txt and FOLDER/NUMBER.json, and fills the table "shapes" of DOCUMENT, unless the machine was busy
// with other work.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {fillTables, grid} from './document.mjs';
import {busyText, number} from './tables.mjs';

const [program, folder, shapes, documentPath, ...models] = process.argv.slice(2);
const load = os.loadavg()[0];
const most = values => Math.max(...values);
const meanOf = ratios => Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);

const rows = [];
for (let i = 0; i < models.length; i += 2) {
  const file = path.join(folder, `${i / 2}.json`);
  execFileSync(program, [...models[i + 1].split(' '), '--rounds', shapes, '--out', file], {stdio: 'inherit'});
  const figures = JSON.parse(fs.readFileSync(file, 'utf8'));
  const ratios = figures.shapes.map(({next, own}) => next / own);
  rows.push([
    models[i], meanOf(ratios).toFixed(2), most(ratios).toFixed(2),
    `${number(most(figures.shapes.map(({first, next}) => first - next)))} ms`,
    `${number(figures.compile)} ms, ${(figures.compile / figures['own compile']).toFixed(2)} x`,
  ]);
}
rows.push(['aim', '≤ 1.10', '≤ 1.30', '≤ 1 ms', '≤ 1.5 x']);
const table = grid(['model', 'time by that of a compile for the shape, geometric mean', 'worst', 'first run longer by at most',
                    'compile, and by that for one shape'], rows);
fs.writeFileSync(path.join(folder, 'report.txt'), `${table}\n`);
console.log(table);
const busy = busyText(load, 1);
if (busy) console.log(busy);
else if (documentPath) fillTables(documentPath, {shapes: table});
