// Written by `GOLDEN=update cargo test -p steelyard-report page_types` from the Rust structs.

export type Verdict = "regression" | "improvement" | "equivalent" | "inconclusive";

/** An experiment at a glance. */
export type Brief = {
  /** Its number. */
  id: number,
  /** Name from the plan. */
  name: string,
  /** Name of the workload, such as `insert`. */
  workload: string,
  /** The workload with its rows, as in tables. */
  label: string,
  /** Name in addresses of the workload without its steps: experiments with the same can be
   * followed over time. Empty for a count. */
  history: string,
  /** `run`, `count` or `import`. */
  purpose: string,
  /** `finished`, `unfinished` or `failed`. */
  state: string,
  /** The variant that the others are compared with. */
  base: string,
  /** When it began, RFC 3339. */
  started: string,
  /** When it ended. */
  ended?: string,
  /** Finished trials, without loads. */
  trials: number,
  /** Trials without a result. */
  lost: number,
  /** In the order of the plan. */
  variants: Array<BriefVariant>,
  /** Names in addresses of the machines that it ran on. */
  machines: Array<string>,
  /** Verdicts on throughput, of a count on instructions. */
  verdicts: VerdictCounts,
  /** The largest regressions, then the largest improvements. */
  moved?: Array<Moved>,
  /** Deviation of throughput between the trials of a variant / its mean, as a fraction: the
   * median over steps and variants. Absent with fewer than two trials. */
  noise?: number,
  /** Metrics that can be followed over time. */
  metrics?: Array<string>,
  /** Number of warnings about the figures, except those about plans of statements. */
  warnings: number,
  /** Queries that a variant refuses or answers otherwise than the base, by step and variant. */
  wrong?: number,
  /** Why there are no results to show, if there are none. */
  problem?: string,
};

/** A variant of it. */
export type BriefVariant = {
  /** Name from the plan. */
  name: string,
  /** Which DBMS, such as `postgres`. */
  system: string,
  /** As the DBMS reports it. */
  version: string,
};

/** A change point. */
export type ChangeDocument = {
  /** Index of the first run after the change. */
  run: number,
  /** Indexes of the first and the last run of the level before it. */
  before: [number, number],
  /** Indexes of the first and the last run of the level after it. */
  after: [number, number],
  /** Geometric mean after / before. */
  ratio: number,
  /** Lower end of its 95% interval. */
  low: number,
  /** Upper end of its 95% interval. */
  high: number,
  /** p value of the permutation test; of a bisection, the probability that it is another change. */
  p: number,
  /** p value against noise that drifts like this history; `null` if it does not drift. */
  dependent_p: number | null,
  /** In words. */
  sentence: string,
  /** The command that searches for the commit, with a repository to be named; absent if the
   * versions on both sides are the same or several, or the workload needs files. */
  bisect?: string,
};

/** The outcome of comparing two exact counts. */
export type CountVerdict = "regression" | "improvement" | "equivalent" | "same" | "inconclusive";

/** All experiments, newest first. */
export type ExperimentsDocument = {
  /** Version of this shape: 1. */
  format: number,
  /** The machines that briefs name. */
  machines: Array<MachineGlance>,
  /** Without what moved. */
  experiments: Array<Brief>,
};

/** The histories that there are, those with the newest experiments first. */
export type HistoriesDocument = {
  /** Version of this shape: 1. */
  format: number,
  /** The histories. */
  histories: Array<HistoryEntry>,
};

/** Lines over runs, with their changes. */
export type HistoryDocument = {
  /** Version of this shape: 1. */
  format: number,
  /** `version`, `date` or `commit`; `bisection` for the looks of one. */
  order: string,
  /** The metric, such as `o/s`. */
  metric: string,
  /** In order; points and changes refer to them by index, from 0. */
  runs: Array<HistoryRun>,
  /** The lines followed over the runs. */
  lines: Array<LineDocument>,
  /** Notes on the figures. */
  notes: Array<string>,
};

/** Experiments with one workload on one machine, which can be followed over time. */
export type HistoryEntry = {
  /** Name of the workload in addresses. */
  workload: string,
  /** Its name in tables. */
  label: string,
  /** Name of the machine in addresses. */
  machine: string,
  /** Its name in tables. */
  machine_name: string,
  /** Their numbers, newest first. */
  experiments: Array<number>,
  /** When the newest began, RFC 3339. */
  last: string,
  /** Orders in which it can be shown: `version` if any system has several, `date`. */
  orders: Array<string>,
  /** Metrics that it can show. */
  metrics: Array<HistoryMetric>,
};

/** A metric of a history. */
export type HistoryMetric = {
  /** Its name, such as `o/s`. */
  name: string,
  /** Its name in addresses. */
  key: string,
  /** Its meaning in a few words. */
  meaning: string,
};

/** The trials of a run. */
export type HistoryPoint = {
  /** Index of the run. */
  run: number,
  /** Versions behind the line in this run. */
  versions: Array<string>,
  /** The metric in each trial. */
  trials: Array<number>,
  /** Their median. */
  median: number,
  /** Geometric mean of the trials / that of the first point's. With slices, or where a hypervisor
   * took much CPU: the ratio that `compare` gives. `null` where a value is not positive. */
  relative: number | null,
};

/** A version, a commit or an experiment. */
export type HistoryRun = {
  /** Name in tables and plots. */
  name: string,
  /** When its first trial began, RFC 3339; of a commit that was bisected, its own date. */
  started: string,
  /** Number and name of the experiments that have its trials. */
  experiments: Array<string>,
  /** Versions of the DBMS in it, as the DBMS reports them. */
  versions: Array<string>,
};

/** A step of a line. */
export type HistoryStep = {
  /** Name, such as `l.i0`. */
  name: string,
  /** Number of clients. */
  dop: number,
  /** The unit of its operations: `rows` or `queries`. */
  unit: string,
  /** `more` or `less`: which way its throughput is better. */
  better: string,
  /** Runs that have trials of it, in order. */
  points: Array<HistoryPoint>,
  /** The unit exchanged to test for chance: `trial` if all runs were measured side by side,
   * otherwise `run`. */
  exchanged: string,
  /** Change points, in order. */
  changes: Array<ChangeDocument>,
  /** Cuts that would be change points if the history did not drift. */
  doubtful: Array<ChangeDocument>,
};

/** A line: one configuration (by version and commit) or one variant's name (by date), on one
 * machine. */
export type LineDocument = {
  /** Name in tables and plots. */
  line: string,
  /** The workload. */
  workload: string,
  /** The machine. */
  machine: string,
  /** In order of execution. */
  steps: Array<HistoryStep>,
};

/** The runs under way. */
export type LiveDocument = {
  /** Version of this shape: 1. */
  format: number,
  /** False in a static site, which knows of no runs. */
  service: boolean,
  /** The runs, in the order in which they began. */
  runs: Array<LiveRun>,
  /** Names of the plans that can be started; null if none can. */
  plans: Array<string> | null,
};

/** A comparison of a variant with the base while its run is under way. */
export type LiveInterval = {
  /** The step. */
  step: string,
  /** The variant. */
  variant: string,
  /** Its throughput as a fraction of the base's; null if that is no number. */
  ratio: number | null,
  /** Lower end of the interval at the confidence of the next look; null after few restarts. */
  low: number | null,
  /** Upper end. */
  high: number | null,
  /** The margin, as a fraction. */
  margin: number,
  /** The verdict if this were a look; null if it is undecided. */
  verdict: string | null,
};

/** A run, or a count, under way. */
export type LiveRun = {
  /** Number of its process. */
  process: number,
  /** The machine that tells of it, by the name of its token; null on the service's own. */
  machine: string | null,
  /** Its name; empty until it is known. */
  name: string,
  /** Number of its experiment; null until it is known. */
  experiment: number | null,
  /** When it began, in milliseconds since 1970 (UTC). */
  began_ms: number,
  /** Seconds that it may take; null without a budget. */
  budget: number | null,
  /** Seconds of the budget that are used. */
  used: number,
  /** How many parts are done. */
  done: number,
  /** How many there are; null if that is not known. */
  all: number | null,
  /** What a part is: `step`, `count` or `restart`. */
  part: string,
  /** What it is at, such as a trial; empty if it is at nothing in particular. */
  at: string,
  /** The step that runs; null between steps. */
  step: LiveStep | null,
  /** What comes next, as far as it is known. */
  next: string | null,
  /** The comparisons as they are. */
  intervals: Array<LiveInterval>,
  /** Its warnings, each once. */
  warnings: Array<string>,
  /** Its latest lines, the oldest first. */
  log: Array<string>,
};

/** A step that runs. */
export type LiveStep = {
  /** Its name. */
  name: string,
  /** When it began, in milliseconds since 1970 (UTC). */
  began_ms: number,
  /** Seconds that it takes; null if that is not known. */
  seconds: number | null,
};

/** A machine. */
export type MachineDocument = {
  /** What the newest run recorded of it, or without a run, the newest experiment. */
  facts: Array<PageFact>,
  /** The spread between trials in each experiment that has one, oldest first. */
  noise: Array<NoisePoint>,
  /** The median of these. */
  median_noise: number | null,
  /** Labels of workloads that other machines ran, too, and for which a mean over all of them
   * would be known better without this one. */
  too_noisy: Array<string>,
  /** Name in addresses. */
  key: string,
  /** Name in tables. */
  name: string,
  /** Number of experiments. */
  experiments: number,
  /** When the newest began, RFC 3339. */
  last: string,
};

/** A machine by its names. */
export type MachineGlance = {
  /** Name in addresses. */
  key: string,
  /** Name in tables. */
  name: string,
  /** Number of experiments. */
  experiments: number,
  /** When the newest began, RFC 3339. */
  last: string,
};

/** The machines, those with the newest experiments first. */
export type MachinesDocument = {
  /** Version of this shape: 1. */
  format: number,
  /** The machines. */
  machines: Array<MachineDocument>,
};

/** A confirmed regression or improvement. */
export type Moved = {
  /** Name of the step; of a count, the kind of statement. */
  step: string,
  /** Number of the step on the page of its experiment, from 1; 0 for a count. */
  place: number,
  /** The variant. */
  variant: string,
  /** `regression` or `improvement`. */
  verdict: Verdict,
  /** Value / the base's. */
  ratio: number | null,
  /** The comparison in plain words. */
  sentence: string,
  /** What somebody noted about it. */
  noted?: string,
};

/** The spread between the trials of an experiment. */
export type NoisePoint = {
  /** Number of the experiment. */
  experiment: number,
  /** When it began, RFC 3339. */
  started: string,
  /** As [`Brief::noise`]. */
  noise: number,
};

/** What needs a look, the machines, the last experiments. */
export type OverviewDocument = {
  /** Version of this shape: 1. */
  format: number,
  /** Number of experiments in all. */
  experiments: number,
  /** The newest with confirmed regressions or improvements, failed queries or wrong results. */
  found: Array<Brief>,
  /** Number of experiments that have any. */
  found_in: number,
  /** The machines, those with the newest experiments first. */
  machines: Array<MachineGlance>,
  /** The newest experiments. */
  latest: Array<Brief>,
};

/** Everything the page shows. */
export type Page = {
  format: number,
  /** When it was written, RFC 3339. */
  generated?: string,
  /** The version of steelyard that wrote it. */
  writer?: string,
  /** The version that measured. */
  steelyard: string,
  experiment: PageExperiment,
  variants: Array<PageVariant>,
  host: Array<PageFact>,
  steps: Array<PageStep>,
  sweeps?: Array<PageSweep>,
  tables: Array<Table>,
  warnings: Array<PageWarning>,
  catalog: { [key in string]: PageSeries },
  metrics: Array<PageMetric>,
  /** Why a slice has no rate. */
  slice_reasons: Array<string>,
  history?: HistoryDocument,
  profiles?: Array<PageProfile>,
  counts?: PageCounts,
};

/** A fall of throughput. */
export type PageCliff = {
  /** Number of clients before the fall. */
  from: number,
  /** Number of clients after it. */
  to: number,
  /** Throughput after / before. */
  ratio: number,
  /** Lower end of the interval of the ratio. */
  low: number,
  /** Upper end. */
  high: number,
  /** From how many clients on throughput is back; `null` if it does not come back. */
  recovers: number | null,
  /** The same in plain words. */
  sentence: string,
};

/** The count of a variant. Totals and calls are those of all statements. */
export type PageCount = {
  variant: number,
  statements: number,
  rows: number,
  total: number,
  repeatability: number | null,
  relative: number | null,
  verdict: CountVerdict | null,
  phases: Array<[string, number]>,
  functions: PageFunctions,
};

/** One event of a kind: what each variant has per statement. */
export type PageCountEvent = {
  /** Index of the kind. */
  kind: number,
  event: string,
  counts: Array<PageEventOfVariant>,
};

/** The serialized form of the warnings of counts. */
export type PageCountWarning = {
  code: string,
  text: string,
};

/** A count of the results directory. */
export type PageCounts = {
  experiment: string,
  started: string,
  finished: boolean,
  /** δ as a fraction. */
  margin: number,
  variants: Array<string>,
  /** Index of the base among them. */
  base: number,
  /** The noun for what is counted: statement or call. */
  noun: string,
  /** What the kinds count. */
  event: string,
  kinds: Array<PageKind>,
  /** The same kinds by other events that were counted. */
  events: Array<PageCountEvent>,
  /** Functions of all kinds: name and object. The columns of [`PageFunctions`] refer to them by
   * index. */
  functions: Array<[string, string]>,
  sentences: Array<SentenceDocument>,
  warnings: Array<PageCountWarning>,
};

/** A figure over the numbers of clients, with its interval where there is one; with fewer than 6
 * blocks from the lowest to the highest of them. */
export type PageCurve = {
  mean: Array<Value>,
  low: Array<Value>,
  high: Array<Value>,
};

/** A label of the steps. */
export type PageDimension = {
  /** Its name, such as `pinning`. */
  name: string,
  /** Its values in order of appearance. */
  values: Array<string>,
};

/** Something that the DBMS did by itself. */
export type PageEvent = {
  /** Seconds since the step began. */
  at: Value,
  kind: string,
  text: string,
};

export type PageEventOfVariant = {
  variant: number,
  per_statement: number,
  repeatability: number | null,
  relative: number | null,
  verdict: CountVerdict | null,
};

export type PageExperiment = {
  name: string,
  workload: string,
  base: string,
  /** Text, because JavaScript's numbers do not hold 64 bits. */
  seed: string,
  blocks: number,
  margin: number,
  started: string,
  finished: boolean,
  plan: string,
};

export type PageFact = {
  group: string,
  name: string,
  value: string,
};

/** A flamegraph: of a variant, or of the difference of two. */
export type PageFlame = {
  /** Index of the variant. */
  variant: number,
  /** Index of the variant it is compared with, if it is a difference. */
  base?: number,
  samples: number,
  /** The SVG, deflated without a header (RFC 1951), in base64. */
  svg: string,
};

/** Stored by column, which takes half the size of one object per function. */
export type PageFunctions = {
  id: Array<number>,
  own: Array<number>,
  inclusive: Array<number>,
  calls: Array<number>,
};

/** Idle-priority processes that ran during a part of a step, and throughput around it. */
export type PageIdle = {
  /** Seconds since the step began. */
  from: Value,
  to: Value,
  /** Operations per second. */
  before: Value,
  during: Value,
  after: Value,
  /** during / before, after / before. */
  during_before: Value,
  after_before: Value,
};

export type PageKind = {
  kind: string,
  protocol: string,
  place: string,
  counts: Array<PageCount>,
  /** Number of functions left out. */
  left_out: number,
};

export type PageLatency = {
  variant: number,
  class: string,
  count: number,
  mean: Value,
  p50: Value,
  p90: Value,
  p95: Value,
  p99: Value,
  p999: Value,
  max: Value,
};

/** A metric's entry in the page's glossary. */
export type PageMetric = {
  name: string,
  unit: string,
  meaning: string,
  /** Its name in published reports; may be empty. */
  published: string,
};

export type PagePercentiles = {
  variant: number,
  class: string,
  points: Array<[number, Value]>,
};

/** A statement that a variant executes by another plan than the base. */
export type PagePlan = {
  variant: number,
  /** With `$1`, `$2`, … for its values. */
  statement: string,
  /** The plans that the base chose, in any block. */
  base: Array<string>,
  /** Those that the variant chose. */
  own: Array<string>,
};

/** The profiles of one step. */
export type PageProfile = {
  step: string,
  dop: number,
  labels?: { [key in string]: string },
  flames: Array<PageFlame>,
  tables: Array<Table>,
};

export type PageRelative = {
  variant: number,
  /** The confidence as text. */
  level: string,
  /** The ratio of each block, if they are too few for an interval. */
  each?: Array<Value>,
  /** Value / the base's value, `exp(mean ln)` over paired blocks; of one block, too. */
  ratio: number | null,
  /** Lower end of the interval of the ratio; `null` with one block. */
  low: number | null,
  /** Upper end. */
  high: number | null,
  /** Confidence of the interval, as a fraction: 0.95 unless several looks share the error. */
  confidence: number | null,
  /** `blocks` or `slices`. */
  pairing: string | null,
  /** Number of paired blocks; with slices, of restarts. */
  blocks: number,
  /** Two-sided p value of the sign-flip test. */
  p: number | null,
  /** `regression`, `improvement`, `equivalent` or `inconclusive`. */
  verdict: Verdict,
  /** True if there is certainly a difference, even one smaller than the margin. */
  confirmed: boolean | null,
  /** Minimum detectable effect: the slowdown (for a cost, the increase), as a fraction, that an
   * experiment with as many blocks and comparisons would confirm with a power of 80%; `null`
   * below 5 blocks. */
  detectable: number | null,
  /** Estimated number of further blocks until the verdict is decided; 0 if it is. */
  further_blocks: number | null,
  /** The reason if it can't be judged. */
  reason: string | null,
  /** The comparison in plain words. */
  sentence: string,
};

/** The rounds of one restart of all servers, in points. Lists of variants are in their order. */
export type PageRestart = {
  block: number,
  rounds: number,
  /** Seconds that each variant had the load. */
  length: Value,
  /** The middle of each point, in seconds that each variant had the load. */
  seconds: Array<Value>,
  /** Median of the rates, by variant. */
  levels: Array<Value>,
  /** Medians of the rates, by variant and point. */
  rates: Array<Array<Value>>,
  /** The lowest rate, by variant and point; empty if a point is one round. */
  low: Array<Array<Value>>,
  /** The highest. */
  high: Array<Array<Value>>,
  /** Slices without a rate: point, variant, the place of the reason in the page's
   * `slice_reasons`, how many. */
  aside: Array<[number, number, number, number]>,
};

/** A variant compared with the base after each restart. */
export type PageRunning = {
  variant: number,
  restarts: Array<PageSoFar>,
};

export type PageSeries = {
  label: string,
  unit: string,
  group: string,
};

export type PageSetting = {
  name: string,
  value: string,
  default: string,
  source: string,
};

/** A step that ran in slices. */
export type PageSlices = {
  /** The length of the slices in milliseconds; the longest if restarts differ. */
  length_ms: Value,
  /** Number of neighboring rounds that share a point. */
  rounds_per_point: number,
  /** Rounds of slices shorter than the chosen length. They don't count and are not among the
   * points. */
  shorter: number,
  restarts: Array<PageRestart>,
  /** The ratios within which a variant is equivalent. */
  margin: [number, number],
  running: Array<PageRunning>,
};

/** The result after a restart. */
export type PageSoFar = {
  block: number,
  /** The ratio in this restart alone. */
  own: number,
  /** The ratio over all restarts up to this one. */
  ratio: number,
  low: number | null,
  high: number | null,
};

export type PageStep = {
  name: string,
  dop: number,
  labels?: { [key in string]: string },
  /** Which direction of its throughput is better: `more` or `less`. */
  better: "more" | "less",
  /** The group it is shown with, if its workload has groups. */
  group?: string,
  /** The class of statements that counts as an operation, and the unit of its throughput. */
  class: string,
  unit: string,
  /** Target rates of paced classes, in statements per second. */
  rates: { [key in string]: Value },
  /** How its trials shared the machine, and the steps before it: figures of two experiments that
   * differ in either are not related. */
  ways: Array<string>,
  after: Array<string>,
  throughput: Array<Value>,
  relative: Array<PageRelative>,
  latency: Array<PageLatency>,
  percentiles: Array<PagePercentiles>,
  /** Trials whose server had the load to itself. */
  trials: Array<PageTrial>,
  slices?: PageSlices,
  why?: PageWhy,
};

/** Steps of one name over the number of clients. */
export type PageSweep = {
  /** Name of the steps. */
  step: string,
  unit: string,
  /** True if other parts of the page leave its points to the view of sweeps. */
  one_server: boolean,
  dimensions: Array<PageDimension>,
  clients: Array<number>,
  /** The metrics of a line's `figures`, in order. */
  metrics: Array<PageSweepMetric>,
  lines: Array<PageSweepLine>,
  notes: Array<string>,
};

export type PageSweepLine = {
  variant: number,
  labels?: { [key in string]: string },
  /** For each number of clients, the index of its step. */
  steps: Array<number | null>,
  /** Until how many clients a core was free. */
  free_until: number | null,
  throughput: PageCurve,
  /** Throughput of each block at each number of clients. */
  blocks: Array<Array<Value>>,
  /** A curve per metric of the sweep; `null` for those that the line does not have. */
  figures: Array<PageCurve | null>,
  cliffs: Array<PageCliff>,
};

export type PageSweepMetric = {
  name: string,
  unit: string,
  meaning: string,
  subject: "latency" | "operation" | "event" | "other",
};

export type PageTrial = {
  variant: number,
  block: number,
  started: string,
  stalls: Array<[number, number]>,
  /** Things that the DBMS did by itself. */
  events?: Array<PageEvent>,
  idle?: PageIdle,
  series: { [key in string]: Array<Value> },
};

export type PageVariant = {
  name: string,
  dbms: string,
  source: string,
  version: string,
  build: Array<[string, string]>,
  config: Array<[string, string]>,
  settings: Array<PageSetting>,
};

/** A warning; an absent key means all. */
export type PageWarning = {
  /** Name of the step. */
  step?: string,
  /** Number of clients of the step. */
  dop?: number,
  /** Labels of the step. */
  labels?: { [key in string]: string },
  /** Name of the variant. */
  variant?: string,
  /** The block. */
  block?: number,
  /** Stable short name. */
  code: string,
  /** A sentence. */
  text: string,
};

/** Facts that may explain a step's differences, apart from profiles. */
export type PageWhy = {
  /** A summary for each variant except the base. */
  conclusions: Array<string>,
  /** The state in which the step began, and the DBMS's counters, where they differ. */
  tables: Array<Table>,
  plans: Array<PagePlan>,
};

/** A row: its label and a cell for each other column. */
export type Row = {
  /** First cell. */
  label: string,
  /** The other cells. */
  cells: Array<string>,
  /** The verdict on each cell, empty where there is none; without verdicts, no entry. */
  verdicts?: Array<string>,
  /** How it is highlighted. */
  kind?: RowKind,
};

/** How a row is highlighted. */
export type RowKind = "base" | "regression" | "improvement" | "marked";

/** The subject of a table; the page groups by it, and `compare` can print selected ones. */
export type Section = "absolute" | "relative" | "verdicts" | "summary" | "rates" | "latency" | "hardware" | "size" | "counters" | "other";

/** A sentence about the changes in a variant. */
export type SentenceDocument = {
  /** Its name. */
  variant: string,
  /** The sentence; its subject is the variant. */
  sentence: string,
};

/** `api/v1/experiments/ID/summary.json`. */
export type SummaryDocument = {
  /** Version of the shape. */
  format: number,
  /** The outcome in a few words, as on the badge. */
  outcome: string,
  /** The experiment at a glance. */
  experiment: Brief,
};

/** A table of texts.
 *
 * Consecutive tables with the same `title` and `step` are parts of one (absolute, then relative);
 * in text they share the title and the legend. */
export type Table = {
  /** Stable and unique in a report, such as `hardware.l.i0.absolute`. */
  id: string,
  /** The heading above it. */
  title: string,
  /** The step it belongs to, if any. */
  step?: string,
  /** Which part of the table this is: `absolute`, `relative to first result`; may be empty. */
  part?: string,
  /** Notes on single figures. */
  note?: Array<string>,
  /** The meaning of the columns. */
  legend: Array<string>,
  /** Headings; the first is that of the labels. */
  columns: Array<string>,
  /** In order. */
  rows: Array<Row>,
  /** Its subject. */
  section: Section,
};

/** A number written short: four significant digits, no `.0`, `null` when it is not known. */
export type Value = number | null;

/** How many verdicts there are of each kind. */
export type VerdictCounts = {
  /** Confirmed regressions. */
  regression: number,
  /** Confirmed improvements. */
  improvement: number,
  /** Differences that are certainly small. */
  equivalent: number,
  /** What is undecided, or cannot be judged. */
  inconclusive: number,
};
