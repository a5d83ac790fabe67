// The digest of all CPUs:
//   node digest.mjs DOCUMENT.md PAGE.md...
// DOCUMENT's section between "<!-- bench:NAME -->" and "<!-- /bench:NAME -->" becomes the ratios that matter of the page
// NAME.md: whole models against each peer, and each table of kernels against its floor or peer.
import fs from 'node:fs';
import path from 'node:path';

import {fillTables, grid} from './document.mjs';
import {isMissed, resultsOf, sectionsOf, tableOf} from './page.mjs';
import {number, percent, tables} from './tables.mjs';

const least = (values, of) => values.reduce((best, value) => of(value) < of(best) ? value : best);
const threadsText = n => `${n} thread${n > 1 ? 's' : ''}`;

// The columns "speed" of the whole models: what a peer's column is of, and the speeds of the models that it ran. The last
// row is the geometric mean.
function speedsOf(text) {
  const {header, rows} = tableOf(text) ?? {header: [], rows: []};
  let threads;
  return header.flatMap((title, at) => {
    threads = title.match(/^\d threads?/)?.[0] ?? threads;
    if (title !== 'speed') return [];
    const speeds = rows.map(row => ({name: row[0], speed: parseFloat(row[at].replaceAll('*', ''))}))
        .filter(({speed}) => !Number.isNaN(speed));
    return [{against: `${header[at - 1].replace(/, ms$/, '')}, ${threads}`, models: speeds.slice(0, -1), mean: speeds.at(-1)}];
  });
}

function modelsText(sections) {
  const shown = ({name, speed}) => `${speed.toFixed(2)} x (${name})`;
  const body = speedsOf(sections['whole-models']).map(({against, models, mean}) => [
    against, models.length, `${mean.speed.toFixed(2)} x`, shown(least(models, model => -model.speed)),
    shown(least(models, model => model.speed)),
  ]);
  return body.length ? grid(['whole models against', 'models', 'geometric mean', 'best', 'worst'], body) : '';
}

// A line for each ratio that a table aims at, and for its last one, which is to the peer where there is one.
function kernelsText(sections) {
  const body = tables.flatMap(({id, title, unit}) => {
    const results = unit === 'ns' ? [] : resultsOf(sections[id]).filter(({of}) => of);
    const names = [...new Set(results.map(({of}) => of))];
    return names.filter(name => name === names.at(-1) || results.some(({of, aim}) => of === name && aim)).map(against => {
      const ratios = results.filter(({of}) => of === against);
      const range = n => {
        const reached = ratios.filter(({threads}) => threads === n).map(result => result.reached);
        const [low, high] = [Math.min(...reached), Math.max(...reached)];
        return reached.length === 0 ? '' : low === high ? percent(low) : `${Math.round(100 * low)} to ${percent(high)}`;
      };
      const worst = least(ratios, result => result.reached);
      const missed = ratios.filter(isMissed).length;
      return [title, against, range(1), range(2), missed || '', `${worst.name}, ${threadsText(worst.threads)}`];
    });
  });
  return body.length ? grid(['kernels', 'against', '1 thread', '2 threads', 'aims missed', 'slowest row'], body) : '';
}

// From the file to the first run, over all models.
function compileText(sections) {
  const {header, rows} = tableOf(sections['whole-models-costs']) ?? {header: [], rows: []};
  const range = title => {
    const times = rows.map(row => ({name: row[0], ms: parseFloat(row[header.indexOf(title)])}));
    const shown = ({name, ms}) => `${number(ms)} ms (${name})`;
    return `${shown(least(times, time => time.ms))} to ${shown(least(times, time => -time.ms))}`;
  };
  return rows.length ? `From the file to the first run: ${range('compile, ms')}; from the cache of kernels ` +
      `${range('from the cache, ms')}.` : '';
}

const digestOf = sections =>
    [sections.machine?.replace(/ Load average.*/, ''), modelsText(sections), compileText(sections), kernelsText(sections)]
        .filter(Boolean).join('\n\n');

const [documentPath, ...pages] = process.argv.slice(2);
fillTables(documentPath, Object.fromEntries(pages.map(
    page => [path.basename(page, '.md'), digestOf(sectionsOf(fs.readFileSync(page, 'utf8')))])));
