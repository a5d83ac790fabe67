// Pages with data and a script inside, in a document that knows only what such scripts use.
//   const {report, at, body} = open('page.html');
import fs from 'node:fs';
import vm from 'node:vm';

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

// Runs the script of the page. `at` gives elements by id or selector.
export function open(file) {
  const page = fs.readFileSync(file, 'utf8');
  const [, data] = page.match(/<script type="application\/json" id="report">([^]*?)<\/script>/);
  const [, script] = page.match(/<script>\n([^]*?)<\/script>/);
  const found = new Map();
  const at = key => found.get(key) || found.set(key, new Element(key)).get(key);
  at('report').text = data;
  const body = new Element('body');
  const document = {
    body, getElementById: at, querySelector: at,
    createElement: name => new Element(name), createElementNS: (_, name) => new Element(name),
  };
  vm.runInNewContext(script, {document, JSON, Math, Map});
  return {page, report: JSON.parse(data), at, body};
}
