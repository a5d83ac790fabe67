// What a search wins: each model is tuned for its share of the minutes, and then races, in a new process, by its records
// against its default. Then a user's product of matrices in three loops, with a declared space, races against oneDNN.
//   node tuning.mjs PROGRAM FOLDER MINUTES MODELS PLUGIN [DOCUMENT.md]
// MODELS is a JSON file: [[name, [argument of tenon, ...]], ...]; PLUGIN has the product, my.matmul. Writes FOLDER/report.txt and report.json, and fills the
// table "tuning" of DOCUMENT, unless the machine was busy with other work.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {fillTables, grid} from './document.mjs';
import {busyText, number, percent} from './tables.mjs';

const [program, folder, minutes, modelsPath, plugin, documentPath] = process.argv.slice(2);
const models = JSON.parse(fs.readFileSync(modelsPath, 'utf8'));
const load = os.loadavg()[0];
const records = path.join(folder, 'records.sqlite');
// Kernels nearer to their floor than this have little to win, and are not counted.
const nearFloor = 0.9;
const raceSeconds = 10;

const threads = [...new Set([1, os.cpus().length])];
const share = minutes / ((models.length + 1) * threads.length);
const geometricMean = values => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
const tenon = (...args) => execFileSync(program, args, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 26});

const races = [];
for (const count of threads) {
  for (const [name, args] of models) {
    const options = [...args, '--threads', String(count), '--records', records];
    console.error(`${name}, threads: ${count}`);
    tenon('tune', ...options, '--minutes', share.toFixed(3));
    const race = JSON.parse(tenon('bench', ...options, '--race', '--json', '--seconds', String(raceSeconds)));
    races.push({name, ...race});
  }
}

// The least of several runs of each way, by turns.
const productExtent = 512, productRounds = 5;
const products = ['my.matmul', 'nn.matmul'].map(operator => {
  const file = path.join(folder, `${operator}.relay`), type = `Tensor[(${productExtent}, ${productExtent}), float32]`;
  fs.writeFileSync(file, `def @main(%a: ${type}, %b: ${type}) { ${operator}(%a, %b) }\n`);
  return file;
});
const productRows = threads.map(count => {
  const [own, peer] = products, options = ['--threads', String(count)];
  const byRecords = [own, '--plugin', plugin, ...options, '--records', records];
  console.error(`my.matmul, threads: ${count}`);
  tenon('tune', ...byRecords, '--minutes', share.toFixed(3));
  const ways = [[own, '--plugin', plugin, ...options, '--no-records'], byRecords,
                [peer, ...options, '--no-records', '--library', 'onednn']];
  const least = ways.map(() => Infinity);
  for (let round = 0; round < productRounds; ++round) {
    ways.forEach((way, i) => {
      const {least_s} = JSON.parse(tenon('bench', ...way, '--json', '--seconds', '0.5'));
      least[i] = Math.min(least[i], least_s);
    });
  }
  const [usual, tuned, library] = least;
  return {threads: count, default_s: usual, tuned_s: tuned, onednn_s: library};
});

// Speeds, so that more than 1 is faster than the default.
const isFar = kernel => kernel.floor_s < nearFloor * kernel.default_s;
const isChosen = kernel => kernel.default !== kernel.chosen;
const speed = kernel => 1 / kernel.ratio;
// A kernel that is chosen as by default has its speed; what its clock says of it is noise.
const speedOrOne = kernel => isChosen(kernel) ? speed(kernel) : 1;
const times = value => `${value.toFixed(3)} x`;
const rows = races.map(race => {
  const far = race.kernels.filter(isFar), chosen = race.kernels.filter(isChosen);
  const speeds = chosen.map(speed);
  return [
    race.name, race.threads, `${far.length} of ${race.kernels.length}`, chosen.length,
    far.length ? times(geometricMean(far.map(speedOrOne))) : '', speeds.length ? times(Math.max(...speeds)) : '',
    speeds.length ? times(Math.min(...speeds)) : '', `${number(race.default_s * 1e3)} ms`,
    `${times(1 / race.ratio)} ± ${percent(race.noise)}`,
  ];
});
const all = races.flatMap(race => race.kernels.filter(isFar)).map(speedOrOne);
const table = grid(
    ['model', 'threads', `kernels below ${percent(nearFloor)} of the floor`, 'chosen by records', 'speed of those below',
     'most', 'least', 'model by default', 'model by records'],
    rows);
const productTable = grid(
    ['threads', 'by default', 'by records', 'oneDNN', 'of its speed'],
    productRows.map(row => [row.threads, ...[row.default_s, row.tuned_s, row.onednn_s].map(s => `${number(s * 1e3)} ms`),
                            percent(row.onednn_s / row.tuned_s)]));
const side = productExtent;
const text = [
  `Searches of ${minutes} minutes in all. All ${all.length} kernels below ${percent(nearFloor)} of their floor, in the geometric ` +
      `mean: ${all.length ? times(geometricMean(all)) : 'none'}.`,
  table,
  `A product of matrices of ${side} x ${side} as a user writes it first: three loops, and a declared space ` +
      '(`examples/plugin/tuned_matmul_plugin.cc`). "Of its speed" is that of oneDNN.',
  productTable,
].join('\n\n');
fs.writeFileSync(path.join(folder, 'report.json'), JSON.stringify({load, minutes: Number(minutes), races, products: productRows}, null, 1));
fs.writeFileSync(path.join(folder, 'report.txt'), `${text}\n`);
console.log(text);
const busy = busyText(load, 1);
if (busy) console.log(busy);
else if (documentPath) fillTables(documentPath, {tuning: text});
