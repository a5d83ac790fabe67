// What the tables of docs/performance/ are: their order, units and what their columns mean.

// `rate`: what a second does, beside the time. `skipped`: why a table may be missing.
export const tables = [
  {id: 'elementwise', title: 'Elementwise', unit: 'ms', rate: 'GB/s'},
  {id: 'reductions', title: 'Reductions of 16384 rows', unit: 'ms', rate: 'GB/s'},
  {id: 'normalisations', title: 'Normalisations of 16384 rows', unit: 'ms', rate: 'GB/s'},
  {id: 'vector-math', title: 'Vector mathematics', unit: 'us', rate: 'GB/s'},
  {id: 'matmul', title: 'Matrix products', unit: 'ms', rate: 'GFLOP/s'},
  {id: 'conv2d', title: 'Convolutions', unit: 'ms', rate: 'GFLOP/s'},
  {id: 'resnet50_layers', title: 'Layers of ResNet-50', unit: 'ms', rate: 'GFLOP/s'},
  {id: 'choice', title: 'Choice of kernels', unit: 'us', rate: ''},
  {id: 'bytes', title: 'Convolutions and products of bytes', unit: 'us', rate: 'GFLOP/s'},
  {id: 'bfloats', title: 'Convolutions and products of bfloat16', unit: 'us', rate: 'GFLOP/s'},
  {id: 'layout', title: 'Transposes and concatenations', unit: 'us', rate: 'GB/s'},
  {id: 'resize', title: 'Images of another size', unit: 'us', rate: 'GB/s'},
  {id: 'fusion', title: 'Fusion', unit: 'us', rate: ''},
  {id: 'halide', title: 'Schedules against Halide', unit: 'ms', rate: ''},
  {id: 'overhead', title: 'Calls', unit: 'ns', rate: ''},
  {id: 'compile', title: 'Compile time', unit: 'ms', rate: ''},
  {id: 'model', title: 'Models', unit: 'ms', rate: ''},
  {id: 'blocked', title: 'Blocked layouts', unit: 'ms', rate: ''},
  {id: 'mixed', title: 'Models in bfloat16', unit: 'ms', rate: ''},
];

const perSecond = {s: 1, ms: 1e3, us: 1e6, ns: 1e9};

export function number(value) {
  if (value >= 1000) return value.toFixed(0);
  return value.toPrecision(3).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

export const time = (seconds, unit) => number(seconds * perSecond[unit]);
export const percent = (ratio) => ratio === undefined ? '' : `${Math.round(100 * ratio)} %`;

// Why the page of a CPU is left as it is: the load was more than `own`, which is the benchmark's. Empty on a quiet machine.
export const busyText = (load, own) => load > own + 1.5 ?
    `The machine was busy with other work (load average ${load.toFixed(1)}); the page is left as it is.` : '';

export function aimOf(row) {
  const parts = [];
  if (row.aim_of_floor) parts.push(`floor ≥ ${percent(row.aim_of_floor)}`);
  if (row.aim_of_peer) parts.push(`peer ≥ ${percent(row.aim_of_peer)}`);
  if (row.aim_s) parts.push(row.aim_s < 1e-6 ? `≤ ${row.aim_s * 1e9} ns` : `≤ ${row.aim_s * 1e3} ms`);
  return parts.join(', ');
}

// Whether a row holds what it aims at; undefined when it aims at nothing or was not measured.
export function isMet(row) {
  if (row.tenon_min_s === undefined || !aimOf(row)) return undefined;
  if (row.aim_of_peer && row.of_peer === undefined) return undefined;
  // Ratios are judged as they are printed.
  const reaches = (ratio, aim) => !aim || Math.round(100 * ratio) >= Math.round(100 * aim);
  return reaches(row.of_floor, row.aim_of_floor) && reaches(row.of_peer, row.aim_of_peer) &&
      (!row.aim_s || row.tenon_min_s <= row.aim_s);
}

export function rateOf(row, unit) {
  const work = unit === 'GB/s' ? row.bytes : unit === 'GFLOP/s' ? row.flops : undefined;
  return work ? number(work / row.tenon_min_s / 1e9) : '';
}
