// Makes what the pictures of examples/ocr must give with ONNX Runtime, an implementation that shares nothing with
// Tenon.
//
//   ocr MODELS_FOLDER examples/ocr/NAME.jpg --dump DUMP
//   npm install --ignore-scripts onnxruntime-node   (anywhere; the working folder finds it)
//   node make_picture_references.mjs MODELS_FOLDER DUMP NAME
//
// Runs each network on what the program gave it, in the same order. Writes NAME.npy: of each output every 499th
// element (all, when there are fewer than 499) and the mean; and NAME.onnxruntime.txt: for each line of text what
// greedy CTC decoding makes of the recogniser's output. Fails when the program's outputs are further than 1e-4 away,
// or when the detector's maps have a pixel on different sides of the threshold: the boxes are then the same.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const ort = require('onnxruntime-node');
const folder = path.dirname(new URL(import.meta.url).pathname);
const [models, dump, name] = process.argv.slice(2);
const kStride = 499;
const kThreshold = 0.3;
const kFiles = {
  detector: 'ch_PP-OCRv4_det_infer.onnx',
  classifier: 'ch_ppocr_mobile_v2.0_cls_infer.onnx',
  recogniser: 'ch_PP-OCRv4_rec_infer.onnx',
};

function readNpy(file) {
  const bytes = fs.readFileSync(file);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, start);
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(',').filter((e) => e.trim()).map(Number);
  return {shape, data: new Float32Array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length))};
}

function writeNpy(file, data) {
  let header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${data.length},), }`;
  header = header.padEnd(Math.ceil((10 + header.length + 1) / 64) * 64 - 11) + '\n';
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(header.length, 8);
  fs.writeFileSync(file, Buffer.concat([head, Buffer.from(header, 'latin1'), Buffer.from(data.buffer)]));
}

const keys = ['', ...fs.readFileSync(path.join(models, 'ppocr_keys_v1.txt'), 'utf-8').replace(/\r?\n$/, '').split(/\r?\n/), ' '];

function decode(data, [, steps, classes]) {
  if (classes !== keys.length) throw new Error(`${classes} classes for ${keys.length} keys`);
  let text = '', last = 0;
  for (let step = 0; step < steps; ++step) {
    let best = 0;
    for (let c = 1; c < classes; ++c) if (data[step * classes + c] > data[step * classes + best]) best = c;
    if (best !== 0 && best !== last) text += keys[best];
    last = best;
  }
  return text;
}

const sessions = {};
const kept = [], lines = [];
let largest = 0;
for (const file of fs.readdirSync(dump).filter((f) => f.endsWith('.x.npy')).sort((a, b) => parseInt(a) - parseInt(b))) {
  const network = file.split('.')[1];
  sessions[network] ??= await ort.InferenceSession.create(path.join(models, kFiles[network]));
  const session = sessions[network];
  const x = readNpy(path.join(dump, file));
  const result = (await session.run({[session.inputNames[0]]: new ort.Tensor('float32', x.data, x.shape)}))[session.outputNames[0]];
  const y = result.data;
  const ours = readNpy(path.join(dump, file.replace('.x.', '.y.'))).data;
  let difference = 0;
  for (let i = 0; i < y.length; ++i) {
    difference = Math.max(difference, Math.abs(y[i] - ours[i]));
    if (network === 'detector' && (y[i] > kThreshold) !== (ours[i] > kThreshold)) throw new Error(`pixel ${i} differs`);
  }
  if (y.length !== ours.length || !(difference < 1e-4)) throw new Error(`${file}: ${difference} apart`);
  largest = Math.max(largest, difference);
  for (let i = 0; i < y.length; i += y.length < kStride ? 1 : kStride) kept.push(y[i]);
  kept.push(y.reduce((a, b) => a + b, 0) / y.length);
  if (network === 'recogniser') lines.push(decode(y, result.dims));
}
writeNpy(path.join(folder, `${name}.npy`), Float32Array.from(kept));
fs.writeFileSync(path.join(folder, `${name}.onnxruntime.txt`), lines.join('\n') + '\n');
console.log(`${name}: ${kept.length} values, at most ${largest} apart; ${lines.join(' | ')}`);
