/**
 * Made-up results of the insert benchmark, the same for the same request, for tests and for looking at the page.
 * Nothing here is measured.
 */

import { sampleCounts } from "./counts.mjs";
import { sampleHistory } from "./history.mjs";
import { sampleProfiles } from "./profiles.mjs";
import { REASONS, sampleSlices } from "./slices.mjs";
import { addSweep } from "./sweeps.mjs";
import { sampleWhy } from "./why.mjs";

/** A small repeatable generator (mulberry32): [0, 1). */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const four = (value) => (value === 0 ? 0 : Number(value.toPrecision(4)));

const six = (value) => Number(value.toPrecision(6));

const CATALOG = {
  "tp.insert": ["inserts", "/s", "throughput"],
  "tp.query": ["queries", "/s", "throughput"],
  "tp.delete": ["deletes", "/s", "throughput"],
  "lat.insert": ["slowest insert", "us", "latency"],
  "lat.query": ["slowest query", "us", "latency"],
  "cpu.us": ["CPU user", "%", "cpu"],
  "cpu.sy": ["CPU system", "%", "cpu"],
  "cpu.id": ["CPU idle", "%", "cpu"],
  "cpu.wa": ["CPU waiting for I/O", "%", "cpu"],
  "cpu.st": ["CPU stolen", "%", "cpu"],
  "sys.cs": ["context switches", "1/s", "scheduler"],
  "sys.in": ["interrupts", "/s", "scheduler"],
  "sys.runq": ["run queue", "", "scheduler"],
  "dev.r": ["reads", "/s", "device"],
  "dev.rkb": ["read from storage", "KB/s", "device"],
  "dev.w": ["writes", "/s", "device"],
  "dev.wkb": ["written to storage", "KB/s", "device"],
  "dev.r_await": ["read wait", "ms", "device"],
  "dev.w_await": ["write wait", "ms", "device"],
  "dev.aqu": ["queue size", "", "device"],
  "dev.util": ["device busy", "%", "device"],
  "mem.free": ["free memory", "MB", "memory"],
  "mem.cached": ["page cache", "MB", "memory"],
  "mem.dirty": ["dirty pages", "MB", "memory"],
  "mem.writeback": ["in writeback", "MB", "memory"],
  "dbms.us": ["DBMS user", "ms/s", "dbms"],
  "dbms.sy": ["DBMS system", "ms/s", "dbms"],
  "dbms.cs": ["DBMS context switches", "/s", "dbms"],
  "dbms.rss": ["DBMS memory", "MB", "dbms"],
  "dbms.rkb": ["DBMS read", "KB/s", "dbms"],
  "dbms.wkb": ["DBMS written", "KB/s", "dbms"],
  "client.us": ["client user", "ms/s", "client"],
  "client.sy": ["client system", "ms/s", "client"],
  "client.cs": ["client context switches", "/s", "client"],
};

const METRICS = [
  ["o/s", "/s", "operations/s, throughput", ""],
  ["cpu/o", "%·s", "CPU per operation: us + sy of the whole host in percent / (o/s)", "cpupq"],
  ["dbms.cpu/o", "µs", "CPU microseconds per operation of the DBMS's processes alone", ""],
  ["cs/o", "", "context switches per operation", "csecpq"],
].map(([name, unit, meaning, published]) => ({ name, unit, meaning, published }));

/** Name, unit, throughput of the base, rate that is wanted. */
export const STEPS = [
  ["l.i0", "rows", 152_000, undefined],
  ["l.x", "rows", 910_000, undefined],
  ["l.i1", "rows", 41_200, undefined],
  ["l.i2", "rows", 9_380, undefined],
  ["qr100", "queries", 14_900, 100],
  ["qp100", "queries", 11_700, 100],
  ["qr500", "queries", 13_800, 500],
  ["qp500", "queries", 11_100, 500],
  ["qr1000", "queries", 12_600, 1000],
  ["qp1000", "queries", 10_300, 1000],
];

const NAMES = [
  "pg13.7",
  "pg14.3",
  "pg15.1",
  "pg16.4",
  "pg17.0",
  "pg18.1",
  "pg18.1.cx7",
  "pg19devel",
  "pg19devel.o3",
  "pg19devel.lto",
];

function variant(name, index) {
  const version = /\d+(\.\d+)?/.exec(name)?.[0] ?? "17.0";
  const setting = (key, value, standard, source = "config") => ({
    name: key,
    value,
    default: standard,
    source,
  });
  return {
    name,
    dbms: `postgres@${version}`,
    source: index % 3 === 2 ? "git:~/src/postgres#REL_15_1" : `postgres@${version}`,
    version,
    build: [
      ["compiler", index > 2 ? "gcc 12.2.0" : "gcc 11.4.0"],
      ["configure", "--without-icu --without-readline CFLAGS='-O2 -fno-omit-frame-pointer'"],
    ],
    config: [
      ["shared_buffers", index === 4 ? "2GB" : "1GB"],
      ["max_wal_size", "4GB"],
    ],
    settings: [
      setting("shared_buffers", index === 4 ? "2GB" : "1GB", "128MB"),
      setting("max_wal_size", "4GB", "1GB"),
      setting("checkpoint_timeout", "5min", "5min", "default"),
      setting("wal_compression", index > 1 ? "lz4" : "off", "off"),
      setting("autovacuum_vacuum_cost_limit", "4000", "-1"),
      ...(index > 0
        ? [setting("hash_mem_multiplier", index > 2 ? "2" : "1", index > 2 ? "2" : "1", "default")]
        : []),
      setting("unix_socket_directories", "/tmp/steelyard", "/var/run/postgresql"),
    ],
  };
}

/** A second-by-second series around `level` with a slow wave, noise, checkpoints and stalls. */
function series(random, length, level, { noise = 0.04, stalls = [], dip = 0, gaps = [] } = {}) {
  const phase = random() * 6.28;
  const result = [];
  let drift = 0;
  for (let second = 0; second < length; second += 1) {
    drift = drift * 0.9 + (random() - 0.5) * noise;
    let value =
      level * (1 + 0.03 * Math.sin(second / 17 + phase) + drift + (random() - 0.5) * noise);
    if (dip > 0 && second % 61 > 52) value *= 1 - dip;
    if (stalls.some(([from, to]) => second >= from && second < to)) value *= 0.04 * random();
    result.push(
      gaps.some(([from, to]) => second >= from && second < to) ? null : four(Math.max(0, value)),
    );
  }
  return result;
}

function percentilePoints(random, median, spread) {
  const grid = [0, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99, 99.999, 100];
  let last = 0;
  return grid.map((percentile) => {
    const decades = percentile >= 100 ? 5.6 : -Math.log10(1 - percentile / 100);
    last = Math.max(
      last * 1.002,
      median *
        (0.55 +
          0.35 * decades ** 1.2 * spread +
          (decades > 2.5 ? (decades - 2.5) ** 3 * 2 * spread : 0)) *
        (1 + random() * 0.05),
    );
    return [percentile, four(last)];
  });
}

const at = (points, percentile) =>
  points.reduce((best, point) =>
    Math.abs(point[0] - percentile) < Math.abs(best[0] - percentile) ? point : best,
  )[1];

function judged(random, name, base, ratio, blocks) {
  const spread = 0.004 + random() * 0.02;
  const [one, few] = [blocks < 2, blocks < 6];
  const width = one ? 0 : ((blocks === 2 ? 12.7 : 2.6) * spread) / Math.sqrt(blocks);
  const low = ratio * Math.exp(-width);
  const high = ratio * Math.exp(width);
  const verdict = few
    ? "inconclusive"
    : high < 0.98
      ? "regression"
      : low > 1.02
        ? "improvement"
        : low > 0.98 && high < 1.02
          ? "equivalent"
          : "inconclusive";
  const size = `${Math.abs((ratio - 1) * 100).toFixed(1)}% ${ratio < 1 ? "slower" : "faster"}`;
  const p = (value) => `${value < 1 ? "−" : "+"}${Math.abs((value - 1) * 100).toFixed(1)}%`;
  const sentence = one
    ? `1 block: too few to compare ${name} with ${base}: inconclusive`
    : few
      ? `${name} is ${size} than ${base} (${blocks} blocks): ${verdict}; a verdict needs at least 6 blocks`
      : `${name} is ${size} than ${base} (95% interval ${p(low)} to ${p(high)}, ${blocks} blocks): ${verdict}${verdict === "inconclusive" ? "; about 4 more blocks would decide" : ""}`;
  return {
    ratio: six(ratio),
    low: few ? null : six(low),
    high: few ? null : six(high),
    confidence: few ? null : 0.95,
    level: few ? "" : "95%",
    ...(few && {
      each: Array.from({ length: blocks }, (_, block) =>
        six(ratio * (1 + spread * ((block + 0.5) / blocks - 0.5))),
      ),
    }),
    blocks,
    verdict,
    sentence,
  };
}

/**
 * A page of made-up results.
 * @param {{ variants?: number, steps?: number, seconds?: number, blocks?: number, dops?: number[], seed?: number, nasty?: boolean }} request
 */
export function samplePage(request = {}) {
  const {
    variants: wanted = 3,
    steps: stepCount = 10,
    seconds = 120,
    blocks = 6,
    dops = [1],
    seed = 1,
    nasty = false,
    history,
    counts,
    profiles = false,
    slices,
    sweep,
  } = request;
  const random = generator(seed);
  const names = NAMES.slice(0, wanted);
  if (nasty) {
    names[1] = "<!--<script>alert(1)</script>";
    if (wanted > 2)
      names[2] =
        'pg "16" & <b>bold</b> with a name that goes on and on, as names of branches do: feature/parallel-btree-build-v37';
    if (wanted > 3) names[3] = "</script><img src=x onerror=alert(2)>";
  }
  const effects = names.map((_, index) => (index === 0 ? 1 : 1 + (random() - 0.55) * 0.12));
  const steps = [];
  for (let number = 0; number < stepCount; number += 1) {
    const [name, unit, level, target] = STEPS[number % STEPS.length];
    const round = Math.floor(number / STEPS.length);
    const dop = dops[round % dops.length];
    const scale = dop ** 0.8;
    const ratios = names.map((_, index) =>
      index === 0
        ? 1
        : effects[index] *
          (1 + (random() - 0.5) * 0.06) *
          (number % 10 === 3 && index === 1 ? 0.82 : 1),
    );
    const length = name === "l.x" ? Math.max(3, Math.round(seconds / 12)) : seconds;
    const trials = [];
    for (let block = 1; block <= blocks; block += 1) {
      names.forEach((_, index) => {
        const value = level * scale * ratios[index] * (1 + (random() - 0.5) * 0.02);
        const own =
          name.startsWith("l.") && name !== "l.x" ? Math.round(length / ratios[index]) : length;
        const stalls =
          seconds >= 30 && (number % 4 === 3 || name === "l.i1") && index % 2 === 1
            ? [
                [Math.round(own * 0.42), Math.round(own * 0.42) + 3 + (block % 3)],
                [Math.round(own * 0.8), Math.round(own * 0.8) + 2],
              ]
            : [];
        const gaps =
          nasty && index === 0
            ? [
                [10, 14],
                [20, 21],
                [22, 23],
              ]
            : [];
        const wave = (amount, options = {}) =>
          series(random, own, amount, { stalls, gaps, ...options });
        const busy = 46 + index * 2;
        const all = {};
        if (name !== "l.x") {
          if (unit === "rows")
            all["tp.insert"] = wave(value, { dip: name === "l.i1" ? 0.35 : 0.1 });
          else {
            all["tp.query"] = wave(value, { dip: 0.08 });
            all["tp.insert"] = wave(target * dop * (index === 2 && target === 1000 ? 0.91 : 1), {
              noise: 0.02,
            });
          }
          all["lat.insert"] = series(random, own, 4200, { noise: 0.5 });
          if (unit === "queries") all["lat.query"] = series(random, own, 900, { noise: 0.5 });
        }
        Object.assign(all, {
          "cpu.us": wave(busy),
          "cpu.sy": wave(14),
          "cpu.id": wave(30),
          "cpu.wa": wave(7, { noise: 0.4 }),
          "cpu.st": series(random, own, 0.2, { noise: 0.8 }),
          "sys.cs": wave(21_000),
          "sys.in": wave(13_000),
          "sys.runq": series(random, own, 2, { noise: 0.5 }),
          "dev.r": wave(140, { noise: 0.4 }),
          "dev.rkb": wave(2_300, { noise: 0.5 }),
          "dev.w": wave(820, { noise: 0.3 }),
          "dev.wkb": wave(61_000, { noise: 0.5, dip: -0.9 }),
          "dev.r_await": series(random, own, 0.4),
          "dev.w_await": series(random, own, 1.3),
          "dev.aqu": series(random, own, 3),
          "dev.util": series(random, own, 40),
          "mem.free": series(random, own, 5_100, { noise: 0.01 }),
          "mem.cached": series(random, own, 9_800, { noise: 0.01 }),
          "mem.dirty": series(random, own, 410, { noise: 0.3, dip: 0.7 }),
          "mem.writeback": series(random, own, 12, { noise: 0.8 }),
          "dbms.us": wave(800 + 30 * index),
          "dbms.sy": wave(210),
          "dbms.cs": wave(17_000),
          "dbms.rss": series(random, own, 1_240, { noise: 0.01 }),
          "dbms.rkb": wave(2_100, { noise: 0.5 }),
          "dbms.wkb": wave(58_000, { noise: 0.5 }),
          "client.us": wave(61),
          "client.sy": wave(88),
          "client.cs": wave(4_100),
        });
        trials.push({
          variant: index,
          block,
          started: new Date(
            Date.UTC(2026, 10, 20, 8, (block * 60 + number * 4) % 1440),
          ).toISOString(),
          stalls,
          series: all,
        });
      });
    }
    const latency = [];
    const percentiles = [];
    for (const kind of unit === "queries"
      ? ["query", "insert"]
      : name === "l.x"
        ? []
        : ["insert"]) {
      names.forEach((_, index) => {
        const points = percentilePoints(
          random,
          (kind === "query" ? 66 : 640) / ratios[index],
          1 + index * 0.15,
        );
        percentiles.push({ variant: index, class: kind, points });
        latency.push({
          variant: index,
          class: kind,
          count: Math.round(level * seconds * blocks * (kind === "query" ? 1 : 0.01)),
          mean: four(at(points, 50) * 1.13),
          p50: at(points, 50),
          p90: at(points, 90),
          p95: at(points, 95),
          p99: at(points, 99),
          p999: at(points, 99.9),
          max: at(points, 100),
        });
      });
    }
    const step = {
      name: round > 0 && dops.length <= round ? `${name}.r${round + 1}` : name,
      dop,
      ...(stepCount > 12 && { group: unit === "queries" ? "queries" : "writes" }),
      class: unit === "queries" ? "query" : "insert",
      better: "more",
      unit,
      rates: target === undefined ? {} : { insert: target * dop },
      ways: ["in blocks"],
      after: [],
      throughput: ratios.map((ratio) => four(level * scale * ratio)),
      relative: ratios.flatMap((ratio, index) =>
        index === 0
          ? []
          : [{ variant: index, ...judged(random, names[index], names[0], ratio, blocks) }],
      ),
      latency,
      percentiles,
      trials,
    };
    // These steps ran in slices: their servers shared every second.
    if (slices?.of.includes(name)) {
      step.trials = [];
      step.slices = sampleSlices(random, step.throughput, slices);
    }
    if (names.length > 1) step.why = sampleWhy(names, step);
    steps.push(step);
  }
  const page = {
    format: 1,
    generated: "2026-11-21T09:30:00Z",
    steelyard: "0.1.0",
    experiment: {
      name: nasty ? "load <i>regression</i> & more" : "load-regression",
      workload: "insert",
      base: names[0],
      seed: "15140517238104917023",
      blocks,
      margin: 0.02,
      started: "2026-11-20T08:02:11Z",
      finished: !nasty,
      plan: planText(names, blocks, seconds),
    },
    variants: names.map(variant),
    host: HOST,
    steps,
    tables: sampleTables(names, steps),
    warnings: sampleWarnings(names, steps, blocks),
    ...(counts && {
      counts: sampleCounts(random, names.slice(0, counts.variants ?? names.length), {
        ...counts,
        nasty,
      }),
    }),
    ...(history && { history: sampleHistory(random, names, steps, { ...history, nasty }) }),
    ...(profiles && { profiles: sampleProfiles(random, names, steps) }),
    metrics: METRICS,
    slice_reasons: REASONS,
    catalog: Object.fromEntries(
      Object.entries(CATALOG).map(([key, [label, unit, group]]) => [key, { label, unit, group }]),
    ),
  };
  if (sweep) addSweep(random, page, judged, sweep);
  return page;
}

const HOST = [
  ["cpu", "model", "AMD EPYC 7B13"],
  ["cpu", "cores", "8"],
  ["cpu", "threads per core", "1"],
  ["cpu", "governor", "performance"],
  ["cpu", "turbo", "off"],
  ["memory", "total", "32 GB"],
  ["memory", "transparent_hugepage", "madvise"],
  ["memory", "swap", "none"],
  ["system", "kernel", "6.1.0-26-amd64"],
  ["kernel", "vm.dirty_background_ratio", "10"],
  ["kernel", "vm.overcommit_memory", "0"],
  ["storage", "file system", "ext4"],
  ["storage", "mount options", "rw,noatime,discard"],
  ["storage", "device", "nvme0n1, Samsung SSD 980 PRO 1TB, scheduler none"],
  ["system", "clock source", "tsc"],
  [
    "system",
    "boot options",
    "BOOT_IMAGE=/boot/vmlinuz-6.1.0-26-amd64 root=UUID=0f6ad2c4-77d4-4d0c-9d60-7ae1c2b1b6d4 ro quiet console=ttyS0,115200n8 mitigations=auto",
  ],
  [
    "cpu",
    "vulnerabilities",
    "gather_data_sampling: Not affected; itlb_multihit: Not affected; spec_store_bypass: Mitigation: Speculative Store Bypass disabled via prctl",
  ],
].map(([group, name, value]) => ({ group, name, value }));

function planText(names, blocks, seconds) {
  const variants = names
    .map(
      (name) =>
        `[variants.${JSON.stringify(name)}]\ndbms = "postgres@${/\d+(\.\d+)?/.exec(name)?.[0] ?? "17.0"}"\nconfig = { shared_buffers = "1GB" }\n`,
    )
    .join("\n");
  return `name = "load-regression"\nbase = ${JSON.stringify(names[0])}\nblocks = ${blocks}\n\n${variants}\n[workload.insert]\nrows = 20_000_000\nindexed_rows = 4_000_000\ndop = [1]\nread_write_seconds = ${seconds}\n`;
}

function sampleTables(names, steps) {
  const columns = steps.map((step) =>
    steps.some((other) => other.dop !== step.dop) ? `${step.name}/${step.dop}` : step.name,
  );
  const kind = (index) => (index === 0 ? { kind: "base" } : {});
  const tables = [
    {
      id: "absolute",
      section: "absolute",
      title: "Throughput",
      legend: [
        "rows/s for l.*, queries/s for q*",
        "median over blocks",
        "* the insert rate was not held (< 95% of the target)",
      ],
      columns: ["variant", ...columns],
      rows: names.map((label, index) => ({
        label,
        cells: steps.map(
          (step) =>
            `${Math.round(step.throughput[index])}${index === 2 && step.rates.insert === 1000 ? "*" : ""}`,
        ),
        ...kind(index),
      })),
      note: ["pg15.1 did not hold 1000 inserts/s in qr1000 and qp1000"],
    },
    {
      id: "relative",
      section: "relative",
      title: "Throughput relative to the first result",
      legend: [`relative to ${names[0]}`, "exp of the mean of paired log ratios over blocks"],
      columns: ["variant", ...columns],
      rows: names
        .slice(1)
        .map((label, index) => ({
          label,
          cells: steps.map((step) => (step.relative[index]?.ratio ?? 1).toFixed(3)),
          verdicts: steps.map((step) => step.relative[index]?.verdict ?? ""),
        })),
    },
    {
      id: "verdicts",
      section: "relative",
      title: "Verdicts",
      legend: ["interval: 95%, Student's t over blocks", "p: exact sign-flip test"],
      columns: ["step", "variant", "ratio", "low", "high", "p", "verdict"],
      rows: steps
        .slice(0, 12)
        .flatMap((step) =>
          step.relative.map((one) => ({
            label: step.name,
            cells: [
              names[one.variant],
              one.ratio?.toFixed(3) ?? "–",
              one.low?.toFixed(3) ?? "–",
              one.high?.toFixed(3) ?? "–",
              one.low === null ? "–" : "0.031",
              one.verdict,
            ],
            ...(one.verdict === "regression" || one.verdict === "improvement"
              ? { kind: one.verdict }
              : {}),
          })),
        ),
    },
    {
      id: "rates",
      section: "rates",
      title: "Insert rates of read+write steps",
      legend: ["inserts/s achieved, against the target"],
      columns: ["step", "target", ...names],
      rows: steps
        .filter((step) => step.rates.insert)
        .slice(0, 12)
        .map((step) => ({
          label: step.name,
          cells: [
            String(step.rates.insert),
            ...names.map((_, index) =>
              index === 2 && step.rates.insert === 1000
                ? `${Math.round(step.rates.insert * 0.91)}*`
                : String(step.rates.insert),
            ),
          ],
          ...(step.rates.insert === 1000 ? { kind: "marked" } : {}),
        })),
    },
    {
      id: "size",
      section: "size",
      title: "Size at the end of l.i2",
      legend: ["MB: index, rel, total"],
      columns: ["variant", "index", "rel", "total"],
      rows: names.map((label, index) => ({
        label,
        cells: [`${1810 - index * 40}`, `${2420 + index}`, `${4240 - index * 39}`],
      })),
    },
    {
      id: "wal",
      section: "counters",
      title: "pg_stat_wal over the run",
      legend: ["differences over the step; – the version has no such view"],
      columns: ["variant", "records", "fpi", "bytes", "buffers_full"],
      rows: names.map((label, index) => ({
        label,
        cells: index === 0 ? ["–", "–", "–", "–"] : ["81.4M", "1.2M", "14.9G", "3.0K"],
      })),
    },
  ];
  for (const step of steps) {
    tables.push({
      id: `hw-${step.name}-${step.dop}`,
      section: "hardware",
      step: step.name,
      title: `Hardware per operation, ${step.name}`,
      legend: [
        "cpu/o: us+sy of the host in percent / o/s (cpupq); dbms.cpu/o, client.cpu/o: CPU microseconds per operation",
        "cs/o: context switches (csecpq); r/o, rKB/o, wKB/o: reads, KB read, KB written (rpq, rkbpq, wkbpi)",
      ],
      columns: [
        "variant",
        "cpu/o",
        "dbms.cpu/o",
        "client.cpu/o",
        "cs/o",
        "r/o",
        "rKB/o",
        "wKB/o",
        "o/s",
      ],
      rows: names.map((label, index) => ({
        label,
        cells: [
          "0.000437",
          `${(24.1 + index).toFixed(1)}`,
          "0.41",
          "0.138",
          "0.001",
          "0.015",
          `${(0.402 + index / 50).toFixed(3)}`,
          `${Math.round(step.throughput[index])}`,
        ],
        ...kind(index),
      })),
    });
    if (step.latency.length > 0) {
      tables.push({
        id: `rt-${step.name}-${step.dop}`,
        section: "latency",
        step: step.name,
        title: `Response time, ${step.name}`,
        legend: ["percent of statements up to each bound; gt: more than 16 s; max in seconds"],
        columns: [
          "variant",
          "256us",
          "1ms",
          "4ms",
          "16ms",
          "64ms",
          "256ms",
          "1s",
          "4s",
          "16s",
          "gt",
          "max",
        ],
        rows: names.map((label) => ({
          label,
          cells: ["91.204", "8.501", "0.290", "0.005", "nonzero", "", "", "", "", "", "0.042"],
        })),
      });
    }
  }
  return tables;
}

function sampleWarnings(names, steps, blocks) {
  const warnings = [];
  if (blocks < 6)
    warnings.push({
      code: "too-few-blocks",
      text:
        blocks === 1
          ? "One block only: there is no interval, so nothing can be said about how sure a ratio is. Run at least 6 blocks."
          : `${blocks} blocks: intervals of fewer than 6 are wide and lean on the assumption of normal scatter.`,
    });
  for (const step of steps) {
    if (step.rates.insert === 1000 && names[2] !== undefined)
      warnings.push({
        step: step.name,
        dop: step.dop,
        variant: names[2],
        code: "rate-not-held",
        text: "inserted 910 of 1000 rows/s that were wanted (91%); the query figure is marked",
      });
  }
  warnings.push({
    step: steps[0]?.name ?? "",
    dop: 1,
    variant: names[1] ?? names[0],
    block: 1,
    code: "steal",
    text: "1.8% of CPU time was stolen by other machines of the host",
  });
  return warnings;
}
