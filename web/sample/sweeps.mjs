/** A made-up sweep over clients: throughput falls at 24 clients and comes back at 100. */

const four = (value) => (value === 0 ? 0 : Number(value.toPrecision(4)));

const PINNINGS = ["none", "colocated", "random"];
const CORES = 176;
/** In this point idle-priority threads run for a while. */
const IDLE = { pinning: "none", clients: 50, from: 10, to: 20, seconds: 30 };

/** Transactions/s: what the cores give, and what is lost while they are too idle. */
function throughput(pinning, clients) {
  const whole = (24_000 * clients) / (1 + clients / 500);
  if (pinning === "colocated") return whole;
  if (pinning === "random")
    return clients < 45 ? 0.85 * whole : Math.min(9_000 * clients, 0.5 * whole);
  if (clients < 23) return 0.93 * whole;
  return clients < 100 ? 350_000 : 0.8 * whole;
}

/** Name, unit, meaning, subject, and the value of a point. */
const METRICS = [
  ...["p50", "p95", "p99", "p999"].map((name, at) => [
    `query.${name}`,
    "µs",
    `response time of query statements, ${name} of each block`,
    "latency",
    ({ mean }) => mean * [0.95, 1.4, 1.9, 4][at],
  ]),
  ...[
    ["context-switches", () => 2],
    ["cpu-migrations", ({ clients }) => (clients < 100 ? 0 : 0.004)],
    [
      "ipi:ipi_send_cpu",
      ({ pinning, busy }) => (pinning === "colocated" ? 0.02 : 1.9 - 0.8 * busy),
    ],
    ["timer:hrtimer_start", ({ busy }) => 2.1 * (1 - busy)],
    ["timer:hrtimer_cancel", ({ busy }) => 2.1 * (1 - busy)],
    ["instructions", () => 61_000],
    ["cycles", ({ busy }) => 48_000 * (1 + busy)],
  ].map(([event, of]) => [
    `perf.${event}/o`,
    "",
    `${event} per operation of the DBMS's processes, counted by perf`,
    "event",
    of,
  ]),
  ...[
    ["cpu/o", "%·s", ({ busy, ops }) => (100 * busy) / ops],
    ["cs/o", "", () => 2.02],
    ["dbms.cpu/o", "µs", ({ busy }) => 28 + 9 * busy],
    ["client.cpu/o", "µs", ({ busy }) => 11 + 2 * busy],
    ["dbms.cs/o", "", () => 1],
    ["client.cs/o", "", () => 1],
  ].map(([name, unit, of]) => [name, unit, `${name} of a made-up page`, "operation", of]),
  ...[
    ["cores.free", "", ({ busy }) => CORES * (1 - busy)],
    ["clock.mhz", "MHz", ({ busy }) => 3700 - 500 * busy],
    ["cpu.share", "", ({ busy }) => 0.5 + 0.4 * busy],
  ].map(([name, unit, of]) => [name, unit, `${name} of a made-up page`, "other", of]),
];

/** Mean and 95% interval over blocks (Student's t), or the range of a few, as the Rust side writes them. */
function curve(columns) {
  const t = [0, 0, 0, 0, 0, 0, 2.571];
  const ends = columns.map((values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    if (values.length > 1 && values.length < 6)
      return [mean, Math.min(...values), Math.max(...values)];
    const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const half = t[values.length] * Math.sqrt(square / (values.length - 1) / values.length);
    return [mean, mean - half, mean + half];
  });
  const column = (at) => ends.map((one) => (Number.isFinite(one[at]) ? four(one[at]) : null));
  return { mean: column(0), low: column(1), high: column(2) };
}

function cliff(line, from, to, ratio, recovers) {
  const percent = (value) => `−${((1 - value) * 100).toFixed(1)}%`;
  const [low, high] = [ratio * 0.97, ratio * 1.03];
  const end = recovers === null ? "does not recover" : `recovers at ${recovers}`;
  const sentence = `${line}: from ${from} to ${to} clients ${percent(ratio)} (95% interval ${percent(low)} to ${percent(high)}); ${end}`;
  return { from, to, ratio, low, high, recovers, sentence };
}

/** The neighbours of a number among the clients: where a fall is seen. */
function around(clients, number) {
  const to = clients.findIndex((one) => one >= number);
  return [clients[to - 1], clients[to]];
}

/** The trials of one point, with or without idle-priority threads. */
function trials(random, point, variants, blocks) {
  const idle = point.clients === IDLE.clients && point.pinning === IDLE.pinning;
  const seconds = idle ? IDLE.seconds : 5;
  return Array.from({ length: blocks * variants }, (_, number) => {
    const ops = point.values[number % variants][Math.floor(number / variants)];
    const rate = (second) => {
      if (!idle || second < IDLE.from) return ops;
      return second < IDLE.to ? 3.2 * ops : 2.7 * ops;
    };
    const all = {};
    const wave = (of) =>
      Array.from({ length: seconds }, (_, second) =>
        four(of(second) * (1 + (random() - 0.5) * 0.02)),
      );
    all["tp.query"] = wave(rate);
    all["lat.query"] = wave(() => 900);
    all["cpu.us"] = wave(() => 40);
    all["cpu.sy"] = wave(() => 20);
    all["sys.cs"] = wave((second) => 2 * rate(second));
    return {
      variant: number % variants,
      block: Math.floor(number / variants) + 1,
      started: "2026-11-20T08:02:11Z",
      stalls: [],
      ...(idle && {
        idle: {
          from: IDLE.from,
          to: IDLE.to,
          before: four(ops),
          during: four(3.2 * ops),
          after: four(2.7 * ops),
          during_before: 3.2,
          after_before: 2.7,
        },
      }),
      series: all,
    };
  });
}

/** Adds a sweep to a page: its points are steps, and its lines have all figures. */
export function addSweep(random, page, judged, { clients }) {
  const { blocks } = page.experiment;
  const names = page.variants.map(({ name }) => name);
  const lines = [];
  for (const pinning of PINNINGS) {
    const own = names.map((name, variant) => ({
      variant,
      labels: { pinning },
      steps: [],
      free_until: pinning === "colocated" ? CORES : CORES / 2,
      blocks: [],
      figures: METRICS.map(() => []),
      cliffs: [],
      name,
    }));
    for (const number of clients) {
      const better = (variant) => (variant === 1 && number > 60 ? 1.12 : 1);
      const values = names.map((_, variant) =>
        Array.from(
          { length: blocks },
          () => throughput(pinning, number) * better(variant) * (1 + (random() - 0.5) * 0.03),
        ),
      );
      const point = { pinning, clients: number, values };
      own.forEach((line, variant) => {
        line.steps.push(page.steps.length);
        line.blocks.push(values[variant].map(four));
        METRICS.forEach(([, , , , of], metric) => {
          const pairs = pinning === "colocated" ? number : 2 * number;
          const busy = Math.min(1, pairs / CORES);
          line.figures[metric].push(
            values[variant].map((ops) => {
              const mean = (number / ops) * 1e6;
              return (
                of({ pinning, clients: number, busy, ops, mean }) * (1 + (random() - 0.5) * 0.01)
              );
            }),
          );
        });
      });
      page.steps.push({
        name: "select",
        dop: number,
        labels: { pinning },
        class: "query",
        better: "more",
        unit: "queries",
        rates: {},
        ways: ["in blocks"],
        after: [],
        throughput: values.map((own) => four(own.reduce((sum, one) => sum + one, 0) / blocks)),
        relative: names
          .slice(1)
          .map((name, index) => ({
            variant: index + 1,
            ...judged(random, name, names[0], better(index + 1), blocks),
          })),
        latency: [],
        percentiles: [],
        trials: trials(random, point, names.length, blocks),
      });
    }
    for (const line of own) {
      const title = `${line.name}, pinning=${pinning}`;
      if (blocks > 1 && pinning === "none")
        line.cliffs = [cliff(title, ...around(clients, 23), 0.74, around(clients, 100)[1])];
      if (blocks > 1 && pinning === "random")
        line.cliffs = [cliff(title, ...around(clients, 45), 0.59, around(clients, 80)[1])];
    }
    lines.push(...own);
  }
  page.sweeps = [
    {
      step: "select",
      unit: "queries",
      one_server: true,
      dimensions: [{ name: "pinning", values: PINNINGS }],
      clients,
      metrics: METRICS.map(([name, unit, meaning, subject]) => ({ name, unit, meaning, subject })),
      lines: lines.map(({ name: _, figures, ...line }) => ({
        ...line,
        throughput: curve(line.blocks),
        figures: figures.map(curve),
      })),
      notes: [],
    },
  ];
}
