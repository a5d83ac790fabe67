// Tables read back: what stands between the marks of a page of docs/performance/, and the ratios in it.
import {grid} from './document.mjs';
import {tables} from './tables.mjs';

// {ID: text between "<!-- bench:ID -->" and "<!-- /bench:ID -->"}
export function sectionsOf(page) {
  const marks = page.matchAll(/<!-- bench:(\S+) -->\n([^]*?)<!-- \/bench:\1 -->/g);
  return Object.fromEntries([...marks].map(([, id, text]) => [id, text.trim()]));
}

// {header: [cell], rows: [[cell]]} of a table of Markdown; undefined where the text is none.
export function tableOf(text) {
  if (!text?.startsWith('| ')) return undefined;
  const [header, , ...rows] = text.split('\n').map(line => line.split('|').slice(1, -1).map(cell => cell.trim()));
  return {header, rows};
}

// What a column says of its threads: "1 thread, ms" begins the columns of one thread.
function columnsOf(header) {
  let threads, unit;
  return header.map(title => {
    const [, n, newUnit] = title.match(/^(\d) threads?, (.*)$/) ?? [];
    if (n) [threads, unit] = [Number(n), newUnit];
    return {threads, unit: n && unit, of: title.match(/^of (.*)$/)?.[1]};
  });
}

// The cells of a measured table that hold a ratio or a time, with what is aimed at:
//   {name, threads, of: 'oneDNN', reached: 0.73, aim: 0.75} or {name, threads, unit: 'ms', reached: 11.7, aim: 15}
// The ratio to the floor stands before that to the peer; one that stands alone is the one that is aimed at.
export function resultsOf(text) {
  const table = tableOf(text);
  if (!table) return [];
  const columns = columnsOf(table.header);
  return table.rows.flatMap(row => columns.flatMap((column, at) => {
    const {threads, unit, of} = column;
    const reached = parseFloat(row[at]);
    if (!threads || !(unit || of) || Number.isNaN(reached)) return [];
    const most = row.at(-1).match(/≤ (\S+) (ms|ns)/);
    if (unit) return [{name: row[0], threads, unit, reached, aim: unit === most?.[2] ? Number(most[1]) : undefined}];
    const ratios = columns.filter(other => other.threads === threads && other.of);
    const role = ratios.length === 1 ? '(?:floor|peer)' : ratios[0] === column ? 'floor' : 'peer';
    const least = row.at(-1).match(new RegExp(`${role} ≥ (\\d+) %`));
    return [{name: row[0], threads, of, reached: reached / 100, aim: least ? Number(least[1]) / 100 : undefined}];
  }));
}

export const isMissed = ({aim, unit, reached}) => aim !== undefined && (unit ? reached > aim : reached < aim);

// A table of all rows that miss what they aim at, made of the tables in `sections`.
export function missesText(sections) {
  const shown = (value, {unit}) => unit ? `${value} ${unit}` : `${Math.round(100 * value)} %`;
  const body = tables.flatMap(({id, title}) => resultsOf(sections[id]).filter(isMissed).map(result => [
    title, result.name, result.threads, shown(result.reached, result),
    result.unit ? `≤ ${shown(result.aim, result)}` : `≥ ${shown(result.aim, result)} of ${result.of}`,
  ]));
  return body.length ? grid(['table', 'case', 'threads', 'reached', 'aim'], body) : 'Every aim is met.';
}
