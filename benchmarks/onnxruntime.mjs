// Times a model in ONNX Runtime, the peer of the table "model":
//   node onnxruntime.mjs MODEL THREADS CALLS OUT.json
// Run it where the npm package onnxruntime-node is installed.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const ort = require('onnxruntime-node');
const [model, threads, calls, out] = process.argv.slice(2);
const session = await ort.InferenceSession.create(
    model, {intraOpNumThreads: Number(threads), interOpNumThreads: 1});
const shape = [1, 3, 48, 192];
const image = new ort.Tensor('float32', new Float32Array(shape.reduce((a, b) => a * b)), shape);
const feeds = {[session.inputNames[0]]: image};
const seconds = [];
for (let i = 0; i < Number(calls); ++i) {
  const start = process.hrtime.bigint();
  await session.run(feeds);
  seconds.push(Number(process.hrtime.bigint() - start) / 1e9);
}
seconds.sort((a, b) => a - b);
const version = require('onnxruntime-node/package.json').version;
const row = {
  table: 'model',
  name: 'text-angle classifier, 1 x 3 x 48 x 192',
  threads: Number(threads),
  role: 'peer',
  what: `ONNX Runtime ${version}`,
  min_s: seconds[0],
  median_s: seconds[seconds.length >> 1],
};
fs.writeFileSync(out, JSON.stringify({measured: [row]}, null, 1));
console.log(`${row.what}, ${threads} threads: ${(row.min_s * 1e3).toFixed(3)} ms`);
