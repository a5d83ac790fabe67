// Tenon from Node.js, without a build step: node example.cjs FOLDER [PLUGIN], where tenon.node is in the folder.
const assert = require('node:assert');
const path = require('node:path');
const tenon = require(path.resolve(process.argv[2] ?? '.', 'tenon.node'));

// A graph made by the names of its operators.
const x = tenon.variable('x', 'float32', [1, 1, 3, 3]);
const weight = tenon.constant({dtype: 'float32', shape: [1, 1, 2, 2], data: new Float32Array([1, 1, 1, 1])});
const conv = tenon.callOp('nn.conv2d', [x, weight], {strides: [1, 1]});
const module_ = tenon.moduleFromExpr(tenon.callOp('nn.relu', [conv]));
console.log(tenon.print(module_));

const exe = tenon.compile(module_, {threads: 1});
const data = new Float32Array([1, 2, 3, 4, 5, 6, 7, 8, -90]);
const [y] = tenon.run(exe, {x: {dtype: 'float32', shape: [1, 1, 3, 3], data}});
console.log(y);
assert.deepEqual(y.shape, [1, 1, 2, 2]);
assert.deepEqual([...y.data], [12, 16, 24, 0]);
assert.equal(tenon.describe(exe).kernels.length, 1);
console.log(tenon.kernelText(exe, 0, 'explain'));

// A text, and its fused form.
const parsed = tenon.parse('def @main(%x: Tensor[(3), int64]) { negative(abs(%x)) }');
assert.match(tenon.print(tenon.runPasses(parsed, 'InferType,FuseOps')), /Primitive=1/);
const [z] = tenon.run(tenon.compile(parsed), {x: {dtype: 'int64', shape: [3], data: new BigInt64Array([1n, -2n, 3n])}});
assert.deepEqual([...z.data], [-1n, -2n, -3n]);

// Results have the names that a model gives them.
const named = tenon.parse(`
@I.ir_module
class Module:
    I.module_attrs({"result_names": ["scores"]})
    @R.function
    def main(x: R.Tensor((3,), dtype="float32")) -> R.Tensor((3,), dtype="float32"):
        with R.dataflow():
            gv: R.Tensor((3,), dtype="float32") = R.exp(x)
            R.output(gv)
        return gv
`);
assert.equal(tenon.describe(tenon.compile(named)).results[0].name, 'scores');

// A plug-in adds operators.
if (process.argv[3]) {
  tenon.loadPlugin(path.resolve(process.argv[3]));
  assert.match(tenon.opSignature('my.swish'), /beta: a number = /);
  const swish = tenon.compile(tenon.parse('def @main(%x: Tensor[(2), float32]) { my.swish(%x) }'));
  const [s] = tenon.run(swish, {x: {dtype: 'float32', shape: [2], data: new Float32Array([0, 1])}});
  assert.ok(Math.abs(s.data[1] - 0.731058) < 1e-5);
}

// Mistakes are errors in words.
assert.throws(() => tenon.callOp('nn.conv2', [x, weight]), /did you mean nn.conv2d\?/);
assert.throws(() => tenon.callOp('nn.conv2d', [x, weight], {stride: [1]}), /there is no field stride/);
assert.throws(() => tenon.run(exe, {}), /x/);
assert.throws(() => tenon.run(exe, {x: {dtype: 'float32', shape: [1, 1, 3, 3], data: new Float32Array(8)}}), /9 elements/);
assert.throws(() => tenon.run(module_, {}), /must be an executable/);
assert.throws(() => tenon.compile(module_, {opt_levl: 3}), /did you mean opt_level\?/);
