// Tables of what whole_models.mjs measured:
//   node whole_models_report.mjs FOLDER [DOCUMENT.md]
// Reads FOLDER/measured.json, writes report.txt and report.json there, and fills the tables in DOCUMENT, unless the
// machine was busy with other work.
import fs from 'node:fs';
import path from 'node:path';

import {fillTables, grid} from './document.mjs';
import {busyText, number, percent, time} from './tables.mjs';

const [folder, documentPath] = process.argv.slice(2);
const measured = JSON.parse(fs.readFileSync(path.join(folder, 'measured.json'), 'utf8'));
const threadCounts = [1, 2];

const mapValues = (object, change) =>
    Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

function statistics(seconds) {
  const sorted = [...seconds].sort((a, b) => a - b);
  return {min_s: sorted[0], median_s: sorted[sorted.length >> 1], calls: sorted.length};
}

// The peers that are in the tables of models: those that ran a model, by id; with what they call themselves.
const peers = new Map(measured.rows.filter(row => !row.isLayer).flatMap(row => Object.entries(row.peers).map(([id, {what}]) => [id, what])));

const allRows = measured.rows.map(({times, ...row}) => ({
  ...row,
  ...Object.fromEntries(threadCounts.map(n => {
    const {tenon, ...others} = mapValues(times[n], statistics);
    const withSpeed = peer => ({...peer, speed: peer.min_s / tenon.min_s});
    return [`threads_${n}`, {tenon, peers: mapValues(others, withSpeed)}];
  })),
}));

const rows = allRows.filter(row => !row.isLayer);
const layerRows = allRows.filter(row => row.isLayer && Object.values(row.peers).every(({error}) => !error));

const speed = ratio => ratio >= 1 ? `${ratio.toFixed(2)} x` : `**${ratio.toFixed(2)} x**`;
const both = ({min_s, median_s}) => `${time(min_s, 'ms')} / ${time(median_s, 'ms')}`;
const geometricMean = values => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
const megabytes = bytes => (bytes / 1e6).toFixed(0);
// The cells of a row, or of the header, that there is one of for each peer.
const ofPeers = cells => [...peers].flatMap(([id, what]) => cells(id, what));

function timesText() {
  const header = ['model', ...threadCounts.flatMap(n => [
    `${n} thread${n > 1 ? 's' : ''}, ms`, ...ofPeers((_, what) => [`${what}, ms`, 'speed']),
  ])];
  const body = rows.map(row => [row.name, ...threadCounts.flatMap(n => {
    const {tenon, peers: theirs} = row[`threads_${n}`];
    const cells = id => theirs[id] ? [both(theirs[id]), speed(theirs[id].speed)] : [row.peers[id].error, ''];
    return [both(tenon), ...ofPeers(cells)];
  })]);
  const means = threadCounts.flatMap(n => ['', ...ofPeers(id => {
    const speeds = rows.map(row => row[`threads_${n}`].peers[id]?.speed).filter(Boolean);
    return ['', speeds.length ? speed(geometricMean(speeds)) : ''];
  })]);
  return grid(header, [...body, ['geometric mean', ...means]]);
}

function costsText() {
  const header = ['model', 'kernels', 'compile, ms', 'from the cache, ms', ...ofPeers((_, what) => `${what} loads, ms`),
                  'weights, MB', 'peak memory, MB', ...ofPeers((_, what) => `${what}, MB`),
                  ...ofPeers((_, what) => `largest difference from ${what}`), 'of largest element'];
  return grid(header, rows.map(row => {
    const cells = cell => ofPeers(id => row.peers[id].error ? '' : cell(row.peers[id]));
    return [
      row.name, row.kernels, time(row.cold_s, 'ms'), time(row.warm_s, 'ms'),
      ...cells(peer => time(peer.create_s, 'ms')),
      megabytes(row.bytes), megabytes(row.peak_bytes),
      ...cells(peer => `${megabytes(peer.peak_bytes)} (${megabytes(peer.idle_bytes)} before the model)`),
      ...cells(peer => peer.difference.largest.toExponential(1)),
      number(Math.max(...Object.values(row.peers).map(peer => peer.difference?.of ?? 0))),
    ];
  }));
}

// Single layers beside their floors and ONNX Runtime.
function layersText() {
  const peer = row => Object.values(row.peers)[0];
  const header = ['layer', ...threadCounts.flatMap(n => [
    `${n} thread${n > 1 ? 's' : ''}, ms`, 'of the floor', `${peer(layerRows[0]).what}, ms`, 'speed',
  ])];
  const speeds = n => layerRows.map(row => Object.values(row[`threads_${n}`].peers)[0].speed);
  const body = layerRows.map((row, i) => [row.name, ...threadCounts.flatMap(n => {
    const {tenon, peers: theirs} = row[`threads_${n}`];
    return [both(tenon), percent(row.floors[n] / tenon.min_s), both(Object.values(theirs)[0]), speed(speeds(n)[i])];
  })]);
  const means = threadCounts.flatMap(n => ['', '', '', speed(geometricMean(speeds(n)))]);
  return grid(header, [...body, ['geometric mean', ...means]]);
}

// What the peers are, and which are not here.
function peersText() {
  const libraries = new Map(measured.rows.flatMap(
      row => Object.values(row.peers).filter(peer => peer.library).map(peer => [peer.what, peer.library])));
  return [
    ...[...libraries].map(([what, library]) => ` ${what} multiplies matrices with ${library}.`),
    ...Object.entries(measured.absent).map(([name, why]) => ` ${name} is not installed (${why}).`),
  ].join('');
}

const machine = `Measured ${measured.date.slice(0, 10)} on ${measured.cores} cores, ${measured.rounds} rounds. ` +
    `Load average between models: at most ${measured.load.toFixed(1)}.`;
const texts = {
  ...rows.length ?
      {'whole-models-machine': machine + peersText(), 'whole-models': timesText(), 'whole-models-costs': costsText()} : {},
  ...layerRows.length ? {'layers-machine': machine, 'layers': layersText()} : {},
};
const busy = busyText(measured.load, measured.cores);
const plain = [busy, ...Object.values(texts)].filter(Boolean).join('\n\n') + '\n';
fs.writeFileSync(path.join(folder, 'report.txt'), plain);
fs.writeFileSync(path.join(folder, 'report.json'), JSON.stringify({...measured, rows: allRows}, null, 1));
if (documentPath && !busy) fillTables(documentPath, texts);
process.stdout.write(plain);
