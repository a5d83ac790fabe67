// Compares what `tenon fuzz --onnx --dump FOLDER` wrote with ONNX Runtime:
//   node compare_onnxruntime.mjs FOLDER [FIRST_SEED]
// Run it where the npm package onnxruntime-node is installed. Models that ONNX Runtime does not take are counted. A model
// that ends the process is the one after the last line of `progress`.
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import process from 'node:process';

const ort = createRequire(path.join(process.cwd(), 'x.js'))('onnxruntime-node');

// By ONNX's element type: its name, the array that holds it, and the roundings that half precision has.
const types = {
  1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array], 4: ['uint16', Uint16Array],
  5: ['int16', Int16Array], 6: ['int32', Int32Array], 7: ['int64', BigInt64Array], 9: ['bool', Uint8Array],
  10: ['float16', Uint16Array], 11: ['float64', Float64Array], 12: ['uint32', Uint32Array],
  13: ['uint64', BigUint64Array],
};

// A TensorProto with raw data.
function readTensor(file) {
  const bytes = fs.readFileSync(file);
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const tensor = {dims: [], data: Buffer.alloc(0)};
  while (at < bytes.length) {
    const tag = Number(varint());
    if ((tag & 7) === 0) {
      const value = Number(varint());
      if (tag >> 3 === 1) tensor.dims.push(value);
      if (tag >> 3 === 2) tensor.type = value;
    } else {
      const length = Number(varint());
      const part = bytes.subarray(at, at + length);
      at += length;
      if (tag >> 3 === 1) {
        const end = at;
        at -= length;
        while (at < end) tensor.dims.push(Number(varint()));
      }
      if (tag >> 3 === 8) tensor.name = part.toString();
      if (tag >> 3 === 9) tensor.data = part;
    }
  }
  return tensor;
}

function toOrt({type, dims, data}) {
  if (!types[type]) throw new Error(`element type ${type} is not compared`);
  const [name, Array] = types[type];
  const copy = new Uint8Array(data);
  return new ort.Tensor(name, new Array(copy.buffer, 0, copy.length / Array.BYTES_PER_ELEMENT), dims);
}

function halfToNumber(bits) {
  const sign = bits >> 15 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}

const numbers = tensor => Array.from(tensor.data, x => tensor.type === 'float16' ? halfToNumber(x) : Number(x));

function difference(got, wanted) {
  if (got.type !== wanted.type) return `type ${got.type} instead of ${wanted.type}`;
  if (got.dims.join() !== wanted.dims.join()) return `shape ${got.dims} instead of ${wanted.dims}`;
  const a = numbers(got), b = numbers(wanted);
  const largest = b.reduce((most, x) => Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most, 1);
  const isReal = got.type.startsWith('float');
  // Quantised values lie between two where the exact one does.
  const most = isReal ? (got.type === 'float16' ? 1e-2 : 1e-4) * largest : /int8/.test(got.type) ? 1 : 0;
  for (let i = 0; i < b.length; ++i) {
    if (Object.is(a[i], b[i]) || a[i] === b[i] || (Number.isNaN(a[i]) && Number.isNaN(b[i]))) continue;
    if (isReal && !Number.isFinite(b[i])) continue;  // of infinities and poles; ONNX Runtime does not keep these
    if (!(Math.abs(a[i] - b[i]) <= most)) return `element ${i} is ${a[i]} in ONNX Runtime, ${b[i]} here`;
  }
  return null;
}

const [folder, first = '0'] = process.argv.slice(2);
let equal = 0, refused = 0, differing = 0;
for (const seed of fs.readdirSync(folder).map(Number).filter(n => n >= Number(first)).sort((a, b) => a - b)) {
  const place = path.join(folder, String(seed)), data = path.join(place, 'test_data_set_0');
  fs.writeFileSync(path.join(folder, 'progress'), String(seed));
  try {
    const session = await ort.InferenceSession.create(path.join(place, 'model.onnx'), {logSeverityLevel: 4});
    const feeds = {};
    for (let i = 0; fs.existsSync(path.join(data, `input_${i}.pb`)); ++i) {
      const tensor = readTensor(path.join(data, `input_${i}.pb`));
      if (session.inputNames.includes(tensor.name)) feeds[tensor.name] = toOrt(tensor);
    }
    const results = await session.run(feeds);
    const words = [];
    for (let i = 0; fs.existsSync(path.join(data, `output_${i}.pb`)); ++i) {
      const tensor = readTensor(path.join(data, `output_${i}.pb`));
      const found = difference(results[tensor.name], toOrt(tensor));
      if (found) words.push(`${tensor.name}: ${found}`);
    }
    if (words.length) console.log(`${seed}: ${words.join('; ')}`);
    words.length ? ++differing : ++equal;
  } catch (error) {
    ++refused;
    if (process.env.VERBOSE) console.log(`${seed} refused: ${error.message.replace(/\s+/g, " ").slice(0, 300)}`);
  }
}
console.log(`${equal} equal, ${differing} differ, ${refused} refused by ONNX Runtime`);
