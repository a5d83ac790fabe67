// The page of tenon explore, in a document that knows only what its script uses: each kernel has its entry, and the
// roofline a dot for each kernel that computes, below the roof of the arithmetic.
//   node explore_page_test.mjs TENON FOLDER
import assert from 'node:assert';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import vm from 'node:vm';

const [tenon, folder] = process.argv.slice(2);
fs.mkdirSync(folder, {recursive: true});
const file = path.join(folder, 'page.html');
execFileSync(tenon, ['explore', 'model:mlp', '--repeat', '2', '--no-cache', '-o', file], {stdio: ['ignore', 'ignore', 'inherit']});
const page = fs.readFileSync(file, 'utf8');
const [, data] = page.match(/<script type="application\/json" id="report">([^]*?)<\/script>/);
const [, script] = page.match(/<script>\n([^]*?)<\/script>/);
const report = JSON.parse(data);

class Element {
  constructor(name) { Object.assign(this, {name, children: [], attributes: {}, style: {}, listeners: {}, text: ''}); }
  set textContent(text) { this.text = text; this.children = []; }
  get textContent() { return this.text; }
  setAttribute(key, value) { this.attributes[key] = value; }
  appendChild(child) { this.children.push(child); return child; }
  prepend(child) { this.children.unshift(child); }
  replaceChildren(...children) { this.children = children; }
  addEventListener(name, action) { this.listeners[name] = action; }
  all(name) { return [...(this.name === name ? [this] : []), ...this.children.flatMap(child => child.all(name))]; }
}

const found = new Map();
const at = key => found.get(key) || found.set(key, new Element(key)).get(key);
at('report').text = data;
const document = {
  getElementById: at, querySelector: at,
  createElement: name => new Element(name), createElementNS: (_, name) => new Element(name),
};
vm.runInNewContext(script, {document, JSON, Math, Map});

test('each kernel has an entry and texts', () => {
  const buttons = at('nav').children;
  assert.equal(buttons.length, report.nodes.length + 3);
  buttons.at(-1).listeners.click();
  assert.match(at('h2').textContent, /% of its floor \(/);
  assert.ok(at('pre').textContent.length > 0);
});

test('the roofline has a dot for each kernel, below the roof', () => {
  at('nav').children[2].listeners.click();
  const [svg] = at('pre').children;
  const dots = svg.all('circle'), roof = svg.all('text').find(text => /GFLOP/.test(text.text));
  assert.equal(dots.length, report.floors.kernels.filter(kernel => kernel.operations > 0).length);
  assert.ok(dots.length > 0);
  for (const dot of dots) {
    assert.ok(Number.isFinite(dot.attributes.cx) && dot.attributes.cx >= 0 && dot.attributes.cx <= 900);
    assert.ok(dot.attributes.cy > roof.attributes.y && dot.attributes.cy <= 520);
    dot.listeners.click();
  }
});
