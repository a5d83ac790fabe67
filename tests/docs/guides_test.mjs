// README.md and the guides: their links lead somewhere, and code that they take from examples/ is what stands there, where
// it is compiled and run.
import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const guides = fs.readdirSync(path.join(root, 'docs/guides')).map(name => `docs/guides/${name}`);
const pages = ["README.md", ...guides, "docs/new-operator.md", "docs/c-api.md", "docs/relax.md", "docs/from-tvm.md", "docs/passes.md", "docs/shapes.md", "docs/scheduling.md", "docs/patterns.md", "docs/tuning.md", "docs/cluster.md", "docs/quantization.md", "docs/compatibility.md", "docs/walkthrough.md", "docs/architecture.md"];
const read = file => fs.readFileSync(path.join(root, file), 'utf8');

const anchorOf = heading => heading.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-');
const anchorsOf = file => [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading));

// Statements, without what an example may say differently: spaces, comments and the namespace tenon.
const statementsOf = code => code.replace(/\/\/.*$/gm, '').replace(/\s+|\btenon::/g, '').split(';').filter(Boolean);

// The C++ block that follows a paragraph or list item with a link to an example, with that example's path.
function snippetsOf(page) {
  const blocks = page.matchAll(/\(((?:\.\.\/)*examples\/(?:plugin\/)?\w+\.cc)\)[^`]*?\n+```cpp\n([^]*?)```/g);
  return [...blocks].map(([, link, code]) => ({example: link.replace(/^(\.\.\/)+/, ''), code}));
}

for (const page of pages) {
  test(`links of ${page} lead to files and headings`, () => {
    const broken = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link).filter(link => {
      if (/^https?:/.test(link)) return false;
      const [target, anchor] = link.split('#');
      const file = target ? path.join(path.dirname(page), target) : page;
      return !fs.existsSync(path.join(root, file)) || (anchor && !anchorsOf(file).includes(anchor));
    });
    assert.deepEqual(broken, []);
  });

  for (const {example, code} of snippetsOf(read(page))) {
    test(`code of ${page} stands in ${example}`, () => {
      const text = statementsOf(read(example)).join(';');
      let at = 0;
      for (const statement of statementsOf(code)) {
        const found = text.indexOf(statement, at);
        assert.notEqual(found, -1, `${example} has no "${statement}" after the statements before it`);
        at = found + statement.length;
      }
    });
  }
}

test('the pages take code from examples', () => {
  const count = pages.flatMap(page => snippetsOf(read(page))).length;
  assert.ok(count >= 6, `only ${count} pieces of code are compared`);
});
