// Makes the reference outputs of the voice activity detector Silero (npm package @ricky0123/vad-web 0.0.31) with ONNX Runtime.
//
//   cd build/npm; node ../../tests/data/voice/make_references.mjs files/@ricky0123/vad-web/dist/silero_vad_v5.onnx
//
// Writes the samples, the state before, the probability of speech
// and the state afterwards, for 16000 and for 8000 samples a second.
import path from 'node:path';
import {createRequire} from 'node:module';

import {writeNpy} from '../../../benchmarks/npy.mjs';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const ort = require('onnxruntime-node');
const folder = path.dirname(new URL(import.meta.url).pathname);
const session = await ort.InferenceSession.create(process.argv[2], {logSeverityLevel: 3});

for (const [rate, samples] of [[16000, 576], [8000, 288]]) {
  const write = (name, {dims, data}) =>
      writeNpy(path.join(folder, `${rate}.${name}.npy`), {type: 'float32', shape: dims, data});
  // A vowel: harmonics of 130 Hz that fade.
  const vowel = Float32Array.from({length: samples}, (_, i) => {
    let sum = 0;
    for (let k = 1; k <= 12; ++k) sum += Math.sin(2 * Math.PI * 130 * k * i / rate) / k;
    return 0.3 * sum;
  });
  const input = new ort.Tensor('float32', vowel, [1, samples]);
  const state = new ort.Tensor('float32', Float32Array.from({length: 256}, (_, i) => Math.sin(i)), [2, 1, 128]);
  const result = await session.run({input, state, sr: new ort.Tensor('int64', [BigInt(rate)], [])});
  write('input', input);
  write('state', state);
  write('output', result.output);
  write('stateN', result.stateN);
  console.log(rate, Array.from(result.output.data));
}
