// Times a model in ONNX Runtime:
//   node onnxruntime.mjs MODEL THREADS CALLS OUT.json INPUT.npy... [--result=Y.npy] [--row=TABLE/NAME]
// Run it where the npm package onnxruntime-node is installed. The inputs are in the model's order. OUT.json holds the
// times in seconds and the peak memory (before the model was loaded, that of Node.js and the library, too); --row adds
// the row of a table for report.mjs; --result writes the first result.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

import {readNpy, writeNpy} from './npy.mjs';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const ort = require('onnxruntime-node');
const isOption = argument => argument.startsWith('--');
const options = Object.fromEntries(process.argv.filter(isOption).map(text => text.slice(2).split(/=(.*)/)));
const [model, threads, calls, out, ...inputs] = process.argv.slice(2).filter(argument => !isOption(argument));

const now = () => Number(process.hrtime.bigint()) / 1e9;
const peakBytes = () => process.resourceUsage().maxRSS * 1024;

const idleBytes = peakBytes();
const start = now();
const session = await ort.InferenceSession.create(model, {
  intraOpNumThreads: Number(threads),
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,  // errors: models of users have initializers that nothing reads
});
const created = now() - start;
const feeds = {};
inputs.forEach((file, i) => {
  const {type, data, shape} = readNpy(file);
  feeds[session.inputNames[i]] = new ort.Tensor(type, data, shape);
});
const seconds = [];
let results;
for (let i = 0; i < Number(calls); ++i) {
  const before = now();
  results = await session.run(feeds);
  seconds.push(now() - before);
}
const peak = peakBytes();
if (options.result) {
  const {type, dims, data} = results[session.outputNames[0]];
  writeNpy(options.result, {type, shape: dims, data});
}

const version = require('onnxruntime-node/package.json').version;
const what = `ONNX Runtime ${version}`;
const report = {what, create_s: created, run_s: seconds, peak_bytes: peak, idle_bytes: idleBytes};
const sorted = [...seconds].sort((a, b) => a - b);
if (options.row) {
  const [table, name] = options.row.split(/\/(.*)/);
  report.measured = [{
    table, name, threads: Number(threads), role: 'peer', what, min_s: sorted[0], median_s: sorted[sorted.length >> 1],
  }];
}
fs.writeFileSync(out, JSON.stringify(report, null, 1));
console.log(`${what}, ${threads} threads: ${(sorted[0] * 1e3).toFixed(3)} ms`);
