// Two searches of the same model beside each other, from the records that each exported.

const median = values => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const key = record => `${record.content} ${record.choice}`;

// How many choices were raced a minute, from the first record of a kernel alone to the last.
function perMinute(records) {
  const dates = records.map(record => Date.parse(record.date)).sort((a, b) => a - b);
  const minutes = (dates.at(-1) - dates[0]) / 60000;
  return minutes > 0 ? (records.length - 1) / minutes : undefined;
}

// The least ratio of each kernel; 1 where nothing beat the default.
function best(records) {
  const least = new Map();
  for (const {content, ratio} of records) least.set(content, Math.min(ratio, least.get(content) ?? 1));
  return least;
}

// `one`, `two`: arrays of records. `limit`: by how much ratios may differ. Choices that both searches raced tell whether they
// measure alike; the best of each kernel tells whether they find alike.
export function compareSearches(one, two, limit = 0.05) {
  const alone = [one, two].map(records => records.filter(record => record.scope === 'kernel'));
  const [first, second] = alone.map(records => new Map(records.map(record => [key(record), record.ratio])));
  const differences = [...first].filter(([choice]) => second.has(choice))
                          .map(([choice, ratio]) => Math.abs(second.get(choice) / ratio - 1));
  const [found, foundToo] = alone.map(best);
  const kernels = [...found].filter(([content]) => foundToo.has(content))
                      .map(([content, ratio]) => ({content, ratios: [ratio, foundToo.get(content)]}));
  return {
    perMinute: alone.map(perMinute),
    shared: differences.length,
    median: differences.length ? median(differences) : undefined,
    alike: differences.filter(difference => difference <= limit).length,
    kernels,
    kernelsAlike: kernels.filter(({ratios: [a, b]}) => Math.abs(b / a - 1) <= limit).length,
  };
}
