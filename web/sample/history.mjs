/** A made-up history for the sample pages: nothing here is measured. */

const VERSIONS = [
  "9.6.24",
  "10.23",
  "11.22",
  "12.22",
  "13.7",
  "13.20",
  "14.3",
  "14.17",
  "15.8",
  "15.12",
  "16.4",
  "16.8",
  "17.0",
  "17.4",
  "18beta1",
  "18.1",
];

const six = (value) => Number(value.toPrecision(6));

function middle(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(half)] : (sorted[half - 1] + sorted[half]) / 2;
}

const meanLog = (values) => values.reduce((sum, value) => sum + Math.log(value), 0) / values.length;

const percent = (ratio) => `${ratio < 1 ? "−" : "+"}${Math.abs((ratio - 1) * 100).toFixed(1)}%`;

/** Trials of a step over the runs with level shifts at `cuts`, pairs of a run and a factor. */
function step(
  random,
  { name, dop, unit },
  level,
  runs,
  cuts,
  { trials, noise, line, missing = [] },
) {
  const factor = (run) =>
    cuts.reduce((product, [at, by]) => (run >= at ? product * by : product), 1);
  const points = [];
  for (let run = 0; run < runs.length; run += 1) {
    if (missing.includes(run)) continue;
    const values = Array.from({ length: trials }, () =>
      six(level * factor(run) * Math.exp((random() + random() + random() - 1.5) * noise)),
    );
    const first = points.length > 0 ? meanLog(points[0].trials) : meanLog(values);
    points.push({
      run,
      versions: runs[run].versions,
      trials: values,
      median: middle(values),
      relative: six(Math.exp(meanLog(values) - first)),
    });
  }
  const known = points.map((point) => point.run);
  const bounds = [0, ...cuts.map(([at]) => at), runs.length];
  const changes = cuts.map(([at, by], index) => {
    const before = known.filter((run) => run >= bounds[index] && run < at);
    const after = known.filter((run) => run >= at && run < bounds[index + 2]);
    const [low, high] = [six(by * (1 - noise * 0.6)), six(by * (1 + noise * 0.6))];
    const names = [runs[before[before.length - 1]].name, runs[after[0]].name];
    return {
      run: after[0],
      before: [before[0], before[before.length - 1]],
      after: [after[0], after[after.length - 1]],
      ratio: by,
      low,
      high,
      p: 0.001,
      dependent_p: null,
      sentence: `${name} of ${line} got ${percent(by).slice(1)} ${by < 1 ? "slower" : "faster"} between ${names[0]} and ${names[1]} (95% interval ${percent(low)} to ${percent(high)})`,
    };
  });
  return { name, dop, unit, better: "more", points, exchanged: "run", changes, doubtful: [] };
}

/** By version: one line. By date: a line per variant, so many that names of runs can't all be written. */
export function sampleHistory(random, names, steps, { order, dates = 36, nasty = false }) {
  const runs =
    order === "version"
      ? VERSIONS.map((name, index) => ({
          name,
          started: new Date(Date.UTC(2026, 10, 1 + index)).toISOString(),
          experiments: ["1 releases"],
          versions: [name],
        }))
      : Array.from({ length: dates }, (_, index) => ({
          name:
            new Date(Date.UTC(2026, 9, 1 + index)).toISOString().slice(0, 10) +
            (nasty ? " <b>#7</b> & more" : ""),
          started: new Date(Date.UTC(2026, 9, 1 + index)).toISOString(),
          experiments: [`${index + 1} nightly`],
          versions: ["17.0"],
        }));
  const last = runs.length;
  const lines = (order === "version" ? ["pg"] : names.slice(0, 3)).map((line, number) => ({
    line,
    workload: "insert, 20.0M + 20.0M rows",
    machine: "AMD EPYC 7B13",
    steps: steps.map(({ name, dop, unit, throughput }, index) => {
      const cuts = [
        [],
        [[Math.floor(last / 3), 0.934]],
        [
          [Math.floor(last / 4), 1.12],
          [Math.floor((3 * last) / 4), 0.9],
        ],
        [],
      ][(index + number) % 4];
      const made = step(
        random,
        { name, dop, unit },
        throughput[0] * (1 - 0.08 * number),
        runs,
        nasty && last < 4 ? [] : cuts,
        { trials: 3, noise: 0.03, line, missing: nasty ? [1] : [] },
      );
      if (index % 4 === 3 && last > 8)
        made.doubtful.push({
          ...step(random, { name, dop, unit }, 1, runs, [[5, 1.03]], {
            trials: 3,
            noise: 0.03,
            line,
          }).changes[0],
          dependent_p: 0.2,
        });
      return made;
    }),
  }));
  const notes = nasty
    ? [
        "too short to tell a change from chance: 3 runs or trials <script>",
        "no version known, left out: pg-<i>local</i>",
      ]
    : [];
  return { format: 1, order, metric: "o/s", runs, lines, notes };
}
