// What is no handle of the addon, and what is no place of a field, are refused: node node_handles.cjs FOLDER. A copy of
// tenon.node is another addon.
const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const file = path.resolve(process.argv[2], 'tenon.node');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tenon-'));
const copy = path.join(folder, 'copy.node');
fs.copyFileSync(file, copy);
const tenon = require(file), other = require(copy);
const text = 'def @main(%x: Tensor[(3), float32]) { exp(%x) }';
assert.match(tenon.print(tenon.parse(text)), /exp/);
assert.match(other.print(other.parse(text)), /exp/);
assert.throws(() => tenon.print(other.parse(text)), /an argument must be a module/);
assert.throws(() => other.compile(tenon.parse(text)), /an argument must be a module/);
// A place in a tuple is an int of C; what does not fit is refused, not cut off.
const tuple = tenon.tuple([tenon.variable('x', 'float32', [3])]);
for (const index of [2 ** 32, -(2 ** 32), 2 ** 31])
  assert.throws(() => tenon.tupleField(tuple, index), /index is no place of a field/);
// A getter may take the elements of another input away.
const add = tenon.compile(tenon.parse('def @main(%x: Tensor[(3), float32], %y: Tensor[(3), float32]) { add(%x, %y) }'));
const floats = data => ({dtype: 'float32', shape: [3], data});
const x = new Float32Array(3), y = new Float32Array(3);
const takesAway = {dtype: 'float32', shape: [3], get data() { structuredClone(x.buffer, {transfer: [x.buffer]}); return y; }};
assert.throws(() => tenon.run(add, {x: floats(x), y: takesAway}), /data must be the typed array of float32 with 3 elements/);
fs.rmSync(folder, {recursive: true});
