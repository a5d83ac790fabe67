// Tables of what whole_models.mjs measured:
//   node whole_models_report.mjs FOLDER [DOCUMENT.md]
// Reads FOLDER/measured.json, writes report.txt and report.json there, and fills the tables in DOCUMENT.
import fs from 'node:fs';
import path from 'node:path';

import {fillTables, grid} from './document.mjs';
import {busyText, number, time} from './tables.mjs';

const [folder, documentPath] = process.argv.slice(2);
const measured = JSON.parse(fs.readFileSync(path.join(folder, 'measured.json'), 'utf8'));
const threadCounts = [1, 2];

function statistics(seconds) {
  const sorted = [...seconds].sort((a, b) => a - b);
  return {min_s: sorted[0], median_s: sorted[sorted.length >> 1], calls: sorted.length};
}

const rows = measured.rows.map(({times, ...row}) => ({
  ...row,
  ...Object.fromEntries(threadCounts.map(n => {
    const tenon = statistics(times[n].tenon), peer = statistics(times[n].peer);
    return [`threads_${n}`, {tenon, peer, speed: peer.median_s / tenon.median_s}];
  })),
}));

const speed = ratio => ratio >= 1 ? `${ratio.toFixed(2)} x` : `**${ratio.toFixed(2)} x**`;
const both = ({min_s, median_s}) => `${time(min_s, 'ms')} / ${time(median_s, 'ms')}`;
const geometricMean = values => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
const megabytes = bytes => (bytes / 1e6).toFixed(0);

function timesText() {
  const header = ['model'];
  for (const n of threadCounts)
    header.push(`${n} thread${n > 1 ? 's' : ''}, ms`, `${rows[0].peer}, ms`, 'speed');
  const body = rows.map(row => [row.name, ...threadCounts.flatMap(n => {
    const {tenon, peer, speed: ratio} = row[`threads_${n}`];
    return [both(tenon), both(peer), speed(ratio)];
  })]);
  const means = threadCounts.flatMap(n => ['', '', speed(geometricMean(rows.map(row => row[`threads_${n}`].speed)))]);
  return grid(header, [...body, ['geometric mean', ...means]]);
}

function costsText() {
  const header = ['model', 'kernels', 'compile, ms', 'from the cache, ms', `${rows[0].peer} loads, ms`, 'weights, MB',
                  'peak memory, MB', `${rows[0].peer}, MB`, 'largest difference', 'of largest element'];
  return grid(header, rows.map(row => [
    row.name, row.kernels, time(row.cold_s, 'ms'), time(row.warm_s, 'ms'), time(row.peer_create_s, 'ms'),
    megabytes(row.bytes), megabytes(row.tenon_peak_bytes),
    `${megabytes(row.peer_peak_bytes)} (${megabytes(row.peer_idle_bytes)} of them Node.js)`,
    row.difference.largest.toExponential(1), number(row.difference.of),
  ]));
}

const texts = {
  'whole-models-machine': `Measured ${measured.date.slice(0, 10)} on ${measured.cores} cores, ${measured.rounds} rounds. ` +
      `Load average between models: at most ${measured.load.toFixed(1)}.${busyText(measured.load, measured.cores)}`,
  'whole-models': timesText(),
  'whole-models-costs': costsText(),
};
const plain = Object.values(texts).join('\n\n') + '\n';
fs.writeFileSync(path.join(folder, 'report.txt'), plain);
fs.writeFileSync(path.join(folder, 'report.json'), JSON.stringify({...measured, rows}, null, 1));
if (documentPath) fillTables(documentPath, texts);
process.stdout.write(plain);
