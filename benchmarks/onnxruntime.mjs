// Times a model in ONNX Runtime: node onnxruntime.mjs MODEL THREADS RUNS
import path from 'node:path';
import {createRequire} from 'node:module';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const ort = require('onnxruntime-node');
const [model, threads, runs] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const session = await ort.InferenceSession.create(model, {intraOpNumThreads: threads, interOpNumThreads: 1});
const feeds = {[session.inputNames[0]]: new ort.Tensor('float32', new Float32Array(3 * 48 * 192), [1, 3, 48, 192])};
const times = [];
for (let i = 0; i < runs; ++i) {
  const start = process.hrtime.bigint();
  await session.run(feeds);
  times.push(Number(process.hrtime.bigint() - start) / 1e6);
}
times.sort((a, b) => a - b);
console.log(`onnxruntime threads ${threads}: min ${times[0].toFixed(3)} ms, median ${times[runs >> 1].toFixed(3)} ms`);
