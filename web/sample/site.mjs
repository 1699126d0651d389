/** A made-up site: the built app with documents of many experiments. Nothing here is measured. */
import { cpSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { sampleHistory } from "./history.mjs";
import { generator, samplePage } from "./page.mjs";
import { KINDS } from "./write.mjs";

/** Experiments, more than a list shows at first. */
const EXPERIMENTS = 140;
/** The first ones have their data; the others are listed, and then are not there. */
const WITH_DATA = 4;
const DAY = 86_400_000;
const START = Date.parse("2026-03-01T22:00:00Z");
const MACHINES = [
  ["amd-epyc-7b13-0011223344556677", "AMD EPYC 7B13 (id 11111111)"],
  ["amd-epyc-7b13-8899aabbccddeeff", "AMD EPYC 7B13 (id 22222222)"],
  ["intel-xeon-0123456789abcdef", "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz"],
];
const WORKLOADS = [
  ["insert", "insert, 10M rows", "insert-00000000000000aa"],
  ["sysbench", "sysbench, 10M + 10M rows", "sysbench-00000000000000bb"],
];
const METRICS = [
  ["o/s", "o-per-s", "operations per second"],
  ["dbms.cpu/o", "dbms.cpu-per-o", "CPU time of the DBMS alone per operation"],
];
/** What other people call their experiments. */
const NASTY = [
  '<img src=x onerror="window.hacked = 1">',
  "</script><script>window.hacked = 1</script>",
  `a-name-without-any-space-${"that-goes-on-".repeat(12)}end`,
];

const when = (number) => new Date(START + number * DAY).toISOString().replace(".000Z", "Z");

function moved(verdict, step, place, variant, ratio) {
  const way = ratio < 1 ? "slower" : "faster";
  const size = `${Math.abs((ratio - 1) * 100).toFixed(1)}%`;
  const sentence = `${variant} is ${size} ${way} than pg13.7 (95% interval ${(ratio - 0.01).toFixed(3)} to ${(ratio + 0.01).toFixed(3)}, 6 blocks)`;
  return { step, place, variant, verdict, ratio, sentence };
}

function brief(number) {
  const [workload, label, history] = WORKLOADS[number % 2];
  const machine = number % MACHINES.length;
  const systems =
    number % 5 === 4 ? ["mysql", "8.0.28", "8.0.36"] : ["postgres", "13.7", `14.${number % 7}`];
  const names = systems
    .slice(1)
    .map((version) => `${systems[0] === "mysql" ? "my" : "pg"}${version}`);
  const worse = number % 9 === 0 ? [moved("regression", "l.i0", 1, names[1], 0.934)] : [];
  if (number % 18 === 0) worse.push(moved("regression", "qr100", 3, names[1], 0.951));
  const better = number % 13 === 0 ? [moved("improvement", "qp100", 4, names[1], 1.062)] : [];
  return {
    id: number + 1,
    name: NASTY[EXPERIMENTS - 1 - number] ?? (number % 4 === 0 ? "release-check" : "nightly"),
    workload,
    label,
    history,
    purpose: number % 31 === 30 ? "import" : "run",
    state: number === EXPERIMENTS - 5 ? "unfinished" : "finished",
    base: names[0],
    started: when(number),
    ended: when(number + 0.1),
    trials: 12,
    lost: number % 23 === 22 ? 1 : 0,
    variants: names.map((name, at) => ({ name, system: systems[0], version: systems[at + 1] })),
    machines: number % 29 === 28 ? MACHINES.map(([key]) => key) : [MACHINES[machine][0]],
    verdicts: {
      regression: worse.length,
      improvement: better.length,
      equivalent: 7,
      inconclusive: number % 3,
    },
    ...(worse.length + better.length > 0 ? { moved: [...worse, ...better] } : {}),
    noise: 0.004 + ((number * 37) % 23) / 2000,
    warnings: number % 4,
  };
}

function glances(briefs) {
  return MACHINES.map(([key, name]) => {
    const ran = briefs.filter(({ machines }) => machines.includes(key));
    return { key, name, experiments: ran.length, last: ran[0].started };
  });
}

function machineDocuments(briefs) {
  const facts = [
    ["cpu", "model", "a processor with a long name that is not short at all"],
    ["cpu", "cores", "16"],
    ["memory", "total", "128 GB"],
    ["system", "kernel", "6.12.0-1-amd64"],
    ["storage", "file system", "ext4"],
    ["doctor", "swap", "ok: 0 KB"],
    ["doctor", "readahead", "warn: 8192 KB"],
  ].map(([group, name, value]) => ({ group, name, value }));
  return glances(briefs).map((glance) => {
    const noise = briefs
      .filter(({ machines }) => machines.length === 1 && machines[0] === glance.key)
      .map(({ id, started, noise: one }) => ({ experiment: id, started, noise: one }))
      .reverse();
    const sorted = noise.map((point) => point.noise).sort((a, b) => a - b);
    const too_noisy = glance.key === MACHINES[0][0] ? [WORKLOADS[0][1]] : [];
    const median_noise = sorted[Math.floor(sorted.length / 2)];
    return { ...glance, facts, noise, median_noise, too_noisy };
  });
}

function histories(briefs) {
  return WORKLOADS.flatMap(([, label, workload]) =>
    MACHINES.map(([machine, machine_name]) => {
      const of = briefs.filter((one) => one.history === workload && one.machines.includes(machine));
      return {
        workload,
        label,
        machine,
        machine_name,
        experiments: of.map(({ id }) => id),
        last: of[0].started,
        orders: ["version", "date"],
        metrics: METRICS.map(([name, key, meaning]) => ({ name, key, meaning })),
      };
    }),
  );
}

/** Writes the site into a directory. Returns the briefs, newest first. */
export function writeSampleSite(directory) {
  const app = fileURLToPath(new URL("../../crates/site/app", import.meta.url));
  cpSync(app, directory, { recursive: true });
  renameSync(join(directory, "site.html"), join(directory, "index.html"));
  const write = (path, value) => {
    const file = join(directory, "api/v1", `${path}.json`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ format: 1, ...value }));
  };
  const briefs = Array.from({ length: EXPERIMENTS }, (_, number) => brief(number)).reverse();
  const listed = briefs.map(({ moved: _, ...rest }) => rest);
  const machines = glances(briefs);
  const found = briefs.filter((one) => one.moved !== undefined);
  write("overview", {
    experiments: briefs.length,
    found: found.slice(0, 30),
    found_in: found.length,
    machines,
    latest: listed.slice(0, 15),
  });
  write("experiments", { machines, experiments: listed });
  write("live", { service: false, runs: [], plans: null });
  write("machines", { machines: machineDocuments(briefs) });
  write("history", { histories: histories(briefs) });
  const steps = [
    { name: "l.i0", dop: 1, unit: "rows", throughput: [152_000] },
    { name: "qr100", dop: 1, unit: "queries", throughput: [14_900] },
    { name: "qp100", dop: 1, unit: "queries", throughput: [11_700] },
  ];
  for (const entry of histories(briefs)) {
    for (const order of entry.orders) {
      for (const { name, key } of entry.metrics) {
        const made = sampleHistory(generator(5), ["pg", "my"], steps, { order, dates: 40 });
        const runs = made.runs.map((run, at) => ({
          ...run,
          experiments: [`${(at % 4) + 1} nightly`],
        }));
        write(`history/${entry.workload}/${entry.machine}/${order}/${key}`, {
          ...made,
          runs,
          metric: name,
        });
      }
    }
  }
  const kinds = [KINDS.normal, KINDS.one, KINDS.counted, { ...KINDS.nasty, profiles: true }];
  for (const [at, kind] of kinds.slice(0, WITH_DATA).entries()) {
    const { generated: _, history: __, ...page } = samplePage(kind);
    write(`experiments/${at + 1}`, page);
  }
  write("experiments/5", {
    problem: "expected finished trials in the chosen experiments, found none",
  });
  return briefs;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [out] = process.argv.slice(2);
  if (!out) throw new Error("say where to: node sample/site.mjs DIRECTORY");
  writeSampleSite(out);
}
