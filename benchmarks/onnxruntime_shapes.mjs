// Times a model in ONNX Runtime on many shapes:
//   node onnxruntime_shapes.mjs MODEL.onnx THREADS FIGURES.json ARRAYS
// Run it where the npm package onnxruntime-node is installed. FIGURES.json and ARRAYS are what shapes_benchmark wrote. Each
// shape of the figures gets `peer` and `peer_first`, the least and the first time in milliseconds. Exits with 1 where a
// result differs from Tenon's.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

import {readNpy} from './npy.mjs';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const ort = require('onnxruntime-node');
const [model, threads, file, arrays, ...constants] = process.argv.slice(2);
// Of the largest element: libraries add up in different orders. Some of a result of small numbers, such as that of a
// sigmoid far below 0, is that of the numbers before.
const tolerance = 2e-3, floor = 1e-6;
// As shapes_benchmark's Race.
const milliseconds = 500, minTurns = 7, maxTurns = 500;

const now = () => Number(process.hrtime.bigint()) / 1e6;
const session = await ort.InferenceSession.create(model, {
  intraOpNumThreads: Number(threads),
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,  // errors
});
const fixed = Object.fromEntries(constants.map(text => text.split('=')));
const names = session.inputNames.filter(name => fixed[name] === undefined);
const figures = JSON.parse(fs.readFileSync(file, 'utf8'));
for (const [round, shape] of figures.shapes.entries()) {
  const feeds = {};
  for (const name in fixed) feeds[name] = new ort.Tensor('int64', [BigInt(fixed[name])], []);
  names.forEach((name, i) => {
    const {type, data, shape} = readNpy(path.join(arrays, `${round}_${i}.npy`));
    feeds[name] = new ort.Tensor(type, data, shape);
  });
  const timed = async () => {
    const before = now();
    const results = await session.run(feeds);
    return [now() - before, results];
  };
  const [first, results] = await timed();
  const {data} = results[session.outputNames[0]];
  const expected = readNpy(path.join(arrays, `${round}_result.npy`)).data;
  let largest = 0, error = data.length === expected.length ? 0 : Infinity;
  for (let i = 0; i < data.length; ++i) {
    largest = Math.max(largest, Math.abs(data[i]));
    error = Math.max(error, Math.abs(data[i] - expected[i]));
  }
  if (!(error <= tolerance * largest + floor)) throw new Error(`${shape.shape}: results differ by ${error} of ${largest}`);
  let best = Infinity;
  const start = now();
  for (let turn = 0; turn < minTurns || (turn < maxTurns && now() - start < milliseconds); ++turn) {
    best = Math.min(best, (await timed())[0]);
  }
  Object.assign(shape, {peer: best, peer_first: first});
}
figures.version = require('onnxruntime-node/package.json').version;
fs.writeFileSync(file, JSON.stringify(figures, null, 1));
