// One search by one process and by two, each from an empty file of records: how many candidates a minute, and whether both
// measure alike.
//   node tuning_workers.mjs PROGRAM FOLDER MINUTES [ARGUMENT OF tenon tune ...]
// Writes FOLDER/workers.txt.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {compareSearches} from './search_comparison.mjs';
import {percent} from './tables.mjs';

const [program, folder, minutes, ...model] = process.argv.slice(2);
const load = os.loadavg()[0];
const limit = 0.05;
const searches = [1, 2].map(workers => {
  const records = path.join(folder, `workers-${workers}.sqlite`);
  fs.rmSync(records, {force: true});
  console.error(`processes: ${workers}`);
  execFileSync(program, ['tune', ...model, '--threads', '1', '--workers', String(workers), '--minutes', minutes, '--records', records],
               {stdio: ['ignore', 'ignore', 'inherit']});
  return JSON.parse(execFileSync(program, ['records', 'export', '--records', records], {encoding: 'utf8', maxBuffer: 1 << 28}));
});
const compared = compareSearches(...searches, limit);
const rate = value => value === undefined ? 'no' : value.toFixed(0);
const [one, two] = compared.perMinute;
const text = [
  `Searches of ${minutes} minutes each: ${model.join(' ')}`,
  `candidates a minute: ${rate(one)} by one process, ${rate(two)} by two` + (one && two ? `, ${(two / one).toFixed(2)} times as many` : ''),
  `choices raced by both: ${compared.shared}, of which ${compared.alike} have ratios within ${percent(limit)}` +
      (compared.shared ? `; the median of the differences is ${(100 * compared.median).toFixed(1)} %` : ''),
  `kernels raced by both: ${compared.kernels.length}, of which ${compared.kernelsAlike} have best ratios within ${percent(limit)}`,
  ...compared.kernels.map(({content, ratios}) => `  ${content}: ${ratios.map(ratio => ratio.toFixed(3)).join(' and ')}`),
  load > 1.5 ? `The machine was busy with other work (load average ${load.toFixed(1)}); these figures say little.` : '',
].filter(line => line).join('\n');
fs.writeFileSync(path.join(folder, 'workers.txt'), `${text}\n`);
console.log(text);
