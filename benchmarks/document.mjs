// Tables of Markdown, and a document that holds them between marks.
import fs from 'node:fs';

const line = cells => `| ${cells.join(' | ')} |`;
export const grid = (header, body) => [header, header.map(() => '---'), ...body].map(line).join('\n');

// In the document, the text between "<!-- bench:ID -->" and "<!-- /bench:ID -->" becomes texts[ID], where there is one.
export function fillTables(path, texts) {
  const document = fs.readFileSync(path, 'utf8');
  fs.writeFileSync(path, document.replace(
      /(<!-- bench:(\S+) -->\n)[^]*?(<!-- \/bench:\2 -->)/g,
      (all, open, id, close) => texts[id] === undefined ? all : `${open}\n${texts[id]}\n\n${close}`));
}
