// What another addon made is refused where a handle is needed: node node_handles.cjs FOLDER. A copy of tenon.node is another
// addon.
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
fs.rmSync(folder, {recursive: true});
