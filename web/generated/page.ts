// Written by `GOLDEN=update cargo test -p report page_types` from the Rust structs.

export type Verdict = "regression" | "improvement" | "equivalent" | "inconclusive";

/** A change point. */
export type ChangeDocument = {
  /** Place of the first run after the change. */
  run: number,
  /** Places of the first and the last run of the level before it. */
  before: [number, number],
  /** Places of the first and the last run of the level after it. */
  after: [number, number],
  /** Geometric mean after / before. */
  ratio: number,
  /** Lower end of its 95% interval. */
  low: number,
  /** Upper end of its 95% interval. */
  high: number,
  /** p value of the permutation test. */
  p: number,
  /** p value against noise that wanders like this history; `null` where it does not. */
  dependent_p: number | null,
  /** In words. */
  sentence: string,
};

/** What two exact counts say. */
export type CountVerdict = "regression" | "improvement" | "equivalent" | "same";

/** Lines over runs, with their changes. */
export type HistoryDocument = {
  /** Version of this shape: 1. */
  format: number,
  /** `version`, `date` or `commit`. */
  order: string,
  /** The metric, such as `o/s`. */
  metric: string,
  /** In order; points and changes name them by their place, from 0. */
  runs: Array<HistoryRun>,
  /** What is followed over the runs. */
  lines: Array<LineDocument>,
  /** What to know beside the figures. */
  notes: Array<string>,
};

/** The trials of a run. */
export type HistoryPoint = {
  /** Place of the run. */
  run: number,
  /** Versions behind the line in this run. */
  versions: Array<string>,
  /** The metric in each trial. */
  trials: Array<number>,
  /** Their median. */
  median: number,
  /** Geometric mean of the trials / that of the first point's; `null` where a value is not
   * positive. */
  relative: number | null,
};

/** A version, a commit or an experiment. */
export type HistoryRun = {
  /** As tables and plots name it. */
  name: string,
  /** When its first trial began, RFC 3339. */
  started: string,
  /** Number and name of the experiments with its trials. */
  experiments: Array<string>,
  /** Versions of the DBMS in it, as that says them. */
  versions: Array<string>,
};

/** A step of a line. */
export type HistoryStep = {
  /** Name, such as `l.i0`. */
  name: string,
  /** Number of clients. */
  dop: number,
  /** What an operation is: `rows` or `queries`. */
  unit: string,
  /** `more` or `less`: which way its throughput is better. */
  better: string,
  /** Runs with trials of it, in order. */
  points: Array<HistoryPoint>,
  /** What was exchanged to test for chance: `trial` where all runs were measured side by side,
   * else `run`. */
  exchanged: string,
  /** Change points, in order. */
  changes: Array<ChangeDocument>,
  /** What would be change points if the history did not wander by itself. */
  doubtful: Array<ChangeDocument>,
};

/** A line: one configuration (by version and commit) or one variant's name (by date), on one
 * machine. */
export type LineDocument = {
  /** As tables and plots name it. */
  line: string,
  /** The workload. */
  workload: string,
  /** The machine. */
  machine: string,
  /** In order of execution. */
  steps: Array<HistoryStep>,
};

/** Everything the page shows. */
export type Page = {
  format: number,
  generated: string,
  steelyard: string,
  experiment: PageExperiment,
  variants: Array<PageVariant>,
  host: Array<PageFact>,
  steps: Array<PageStep>,
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

/** The count of a variant. Instructions and calls are those of all statements. */
export type PageCount = {
  variant: number,
  statements: number,
  rows: number,
  instructions: number,
  repeatability: number | null,
  relative: number | null,
  verdict: CountVerdict | null,
  phases: Array<[string, number]>,
  functions: PageFunctions,
};

/** What the warnings of counts serialise to. */
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
  /** Place of the base among them. */
  base: number,
  kinds: Array<PageKind>,
  /** Functions of all kinds: name and object. The columns of [`PageFunctions`] refer to their
   * places. */
  functions: Array<[string, string]>,
  sentences: Array<SentenceDocument>,
  warnings: Array<PageCountWarning>,
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
  /** Place of the variant. */
  variant: number,
  /** Place of the one that it is held against, where it is a difference. */
  base?: number,
  samples: number,
  /** The SVG, deflated without a header (RFC 1951), in base64. */
  svg: string,
};

/** Column by column, which is half the size of an object for each. */
export type PageFunctions = {
  id: Array<number>,
  own: Array<number>,
  inclusive: Array<number>,
  calls: Array<number>,
};

export type PageKind = {
  kind: string,
  protocol: string,
  place: string,
  counts: Array<PageCount>,
  /** How many functions are left out. */
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

/** What the page's glossary says of a metric. */
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
  /** The metric / that of the base, `exp(mean ln)` over paired blocks; `null` without an
   * interval. */
  ratio: number | null,
  /** Lower end of the 95% interval of the ratio. */
  low: number | null,
  /** Upper end. */
  high: number | null,
  /** Confidence of the interval, as a fraction: 0.95 unless several looks share the error. */
  confidence: number | null,
  /** `blocks` or `slices`. */
  pairing: string | null,
  /** Number of paired blocks; with slices, of restarts of the servers. */
  blocks: number,
  /** Two-sided p value of the sign-flip test. */
  p: number | null,
  /** `regression`, `improvement`, `equivalent` or `inconclusive`. */
  verdict: Verdict,
  /** Whether there is a difference for sure, be it smaller than the margin. */
  confirmed: boolean | null,
  /** Minimum detectable effect: the slowdown (of a cost: the increase), as a fraction, that as
   * many blocks again would confirm with a power of 80% among as many comparisons; `null` below
   * 5 blocks. */
  detectable: number | null,
  /** Estimated further blocks until the verdict is decided; 0 when it is. */
  further_blocks: number | null,
  /** Why it can't be judged, where it can't. */
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
  /** The lowest rate, by variant and point; none where a point is one round. */
  low: Array<Array<Value>>,
  /** The highest. */
  high: Array<Array<Value>>,
  /** Slices without a rate: point, variant, the place of the reason in the page's
   * `slice_reasons`, how many. */
  aside: Array<[number, number, number, number]>,
};

/** A variant compared with the base as restarts came. */
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
  /** The length of the slices, milliseconds; the longest where restarts differ. */
  length_ms: Value,
  /** Neighboring rounds that share a point. */
  rounds_per_point: number,
  /** Rounds of slices that were shorter than the length chosen. They count for nothing and are
   * not among the points. */
  shorter: number,
  restarts: Array<PageRestart>,
  /** The ratios within which a variant is equivalent. */
  margin: [number, number],
  running: Array<PageRunning>,
};

/** What was known after a restart. */
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
  /** Which way its throughput is better: `more` or `less`. */
  better: "more" | "less",
  /** The class of statements that an operation is, and what its throughput counts. */
  class: string,
  unit: string,
  /** Statements per second that paced classes were asked for. */
  rates: { [key in string]: Value },
  throughput: Array<Value>,
  relative: Array<PageRelative>,
  latency: Array<PageLatency>,
  percentiles: Array<PagePercentiles>,
  /** Those whose server had the load to itself. */
  trials: Array<PageTrial>,
  slices?: PageSlices,
};

export type PageTrial = {
  variant: number,
  block: number,
  started: string,
  stalls: Array<[number, number]>,
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

/** Something to know; what is absent means all. */
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

/** A row: its label and one cell per further column. */
export type Row = {
  /** First cell. */
  label: string,
  /** The other cells. */
  cells: Array<string>,
  /** How it stands out. */
  kind?: RowKind,
};

/** How a row stands out. */
export type RowKind = "base" | "regression" | "improvement" | "marked";

/** What a table is about; the page groups by it and `compare` can be asked for some of them. */
export type Section = "absolute" | "relative" | "rates" | "latency" | "hardware" | "size" | "counters" | "other";

/** What changed in a variant. */
export type SentenceDocument = {
  /** Its name. */
  variant: string,
  /** The sentence; its subject is the variant. */
  sentence: string,
};

/** A table of texts.
 *
 * Tables of the same `title` and `step` following each other are parts of one (absolute, then
 * relative): in text they share the title and the legend. */
export type Table = {
  /** Stable and unique in a report, such as `hardware.l.i0.absolute`. */
  id: string,
  /** What it shows. */
  title: string,
  /** The step it belongs to, if to one. */
  step?: string,
  /** Which part of the title this is: `absolute`, `relative to first result`; may be empty. */
  part?: string,
  /** Remarks about single figures. */
  note?: Array<string>,
  /** What the columns mean. */
  legend: Array<string>,
  /** Headings; the first is that of the labels. */
  columns: Array<string>,
  /** In order. */
  rows: Array<Row>,
  /** What it is about. */
  section: Section,
};

/** A number written short: four significant digits, no `.0`, `null` when it is not known. */
export type Value = number | null;
