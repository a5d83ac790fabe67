// NumPy's .npy files of float32 and int64 in C order, as Tenon writes them.
import fs from 'node:fs';

const kinds = {'<f4': ['float32', Float32Array], '<i8': ['int64', BigInt64Array]};

// {type, shape, data}
export function readNpy(path) {
  const bytes = fs.readFileSync(path);
  const size = bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, 10 + size);
  const kind = kinds[header.match(/'descr': '([^']*)'/)[1]];
  if (!kind || header.includes("'fortran_order': True")) throw new Error(`${path}: ${header} is not supported`);
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(',').filter(x => x.trim()).map(Number);
  const [type, Array] = kind;
  const at = 10 + size;
  return {type, shape, data: new Array(bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + bytes.length))};
}

export function writeNpy(path, {type, shape, data}) {
  const code = Object.keys(kinds).find(key => kinds[key][0] === type);
  const text = `{'descr': '${code}', 'fortran_order': False, 'shape': (${shape.map(n => `${n},`).join(' ')}), }`;
  const header = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + '\n';
  const start = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length & 255, header.length >> 8]);
  fs.writeFileSync(path, Buffer.concat([start, Buffer.from(header, 'latin1'),
                                        Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}
