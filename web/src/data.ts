/**
 * What `steelyard report` puts into the page, and the door through which it comes in. The shapes are written by the
 * Rust side; everything in them is untrusted text and is only ever shown as text nodes.
 */

import { readCounts, type Counts } from "./countdata";
import { parseEmbedded, whenAsked, type Embedded } from "./embedded";

export type Verdict = "regression" | "improvement" | "equivalent" | "inconclusive";

/** A figure per second of a step, `null` where nothing was measured. */
export type Series = (number | null)[];

export interface Variant {
  name: string;
  dbms: string;
  source: string;
  version: string;
  build: [string, string][];
  config: [string, string][];
  settings: { name: string; value: string; default: string; source: string }[];
}

/** One variant against the base in one step. All three figures are null where there is nothing to judge by; the sentence says why. */
export interface Relative {
  variant: number;
  ratio: number | null;
  low: number | null;
  high: number | null;
  blocks: number;
  verdict: Verdict;
  sentence: string;
}

/** Latencies in microseconds. */
export interface Latency {
  variant: number;
  class: string;
  count: number;
  mean: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  p999: number;
  max: number;
}

export interface Percentiles {
  variant: number;
  class: string;
  /** Pairs of a percentile (0 to 100) and microseconds. */
  points: [number, number][];
}

export interface Trial {
  variant: number;
  block: number;
  started: string;
  /** Seconds since the start of the step, from and to (exclusive). */
  stalls: [number, number][];
  /** Parsed when they are first asked for, so that opening the page needs none. */
  series: Record<string, Series>;
}

export interface Step {
  name: string;
  dop: number;
  unit: string;
  /** Inserts per second that were wanted, in read+write steps. */
  rate_target?: number;
  throughput: (number | null)[];
  relative: Relative[];
  latency: Latency[];
  percentiles: Percentiles[];
  trials: Trial[];
}

export type RowKind = "base" | "regression" | "improvement" | "marked";

export type Section = "absolute" | "relative" | "rates" | "latency" | "hardware" | "size" | "counters" | "other";

export interface Table {
  id: string;
  title: string;
  step?: string;
  note?: string[];
  legend: string[];
  columns: string[];
  rows: { label: string; cells: string[]; kind?: RowKind }[];
  section: Section;
}

export interface Warning {
  step?: string;
  dop?: number;
  variant?: string;
  block?: number;
  code: string;
  text: string;
}

export interface Experiment {
  name: string;
  workload: string;
  base: string;
  seed: string;
  blocks: number;
  started: string;
  finished: boolean;
  plan: string;
  /** What counts as a small difference, as a share of 1; the design's default where it is not said. */
  margin?: number;
}

export interface CatalogEntry {
  label: string;
  unit: string;
  group: string;
}

/** A version, an experiment or a commit. */
export interface HistoryRun {
  name: string;
  started: string;
  experiments: string[];
  versions: string[];
}

/** The trials of a run; `run` is its place in `History.runs`. */
export interface HistoryPoint {
  run: number;
  versions: string[];
  trials: number[];
  median: number;
  relative: number | null;
}

/** Where the level of a step changed. Places are those of runs; `before` and `after` are the first and last of a level. */
export interface HistoryChange {
  run: number;
  before: [number, number];
  after: [number, number];
  ratio: number;
  low: number;
  high: number;
  p: number;
  sentence: string;
}

export interface HistoryStep {
  name: string;
  dop: number;
  unit: string;
  points: HistoryPoint[];
  changes: HistoryChange[];
  doubtful: HistoryChange[];
}

/** What is followed over the runs: a configuration or a variant's name. */
export interface HistoryLine {
  line: string;
  workload: string;
  machine: string;
  steps: HistoryStep[];
}

/** What `steelyard history --format json` prints (docs/trials-json.md). */
export interface History {
  order: string;
  metric: string;
  runs: HistoryRun[];
  lines: HistoryLine[];
  notes: string[];
}

/** A flamegraph of a variant, or of what differs between it and `base`. */
export interface Flame {
  variant: number;
  base?: number;
  samples: number;
  /** The SVG, deflated without a header, in base64. */
  svg: string;
}

/** What perf saw in one step. */
export interface Profile {
  step: string;
  dop: number;
  flames: Flame[];
  tables: Table[];
}

export interface Page {
  format: 1;
  generated: string;
  steelyard: string;
  experiment: Experiment;
  variants: Variant[];
  host: { group: string; name: string; value: string }[];
  steps: Step[];
  tables: Table[];
  warnings: Warning[];
  catalog: Record<string, CatalogEntry>;
  /** Only in reports that were asked for it. */
  history?: History;
  /** Empty where nothing was profiled. */
  profiles: Profile[];
  /** Only where the results directory holds instruction counts. */
  counts?: Counts;
}

/** The margin used where the page does not carry one: 2%, steelyard's default. */
export const DEFAULT_MARGIN = 0.02;

/** Either the page or a sentence for the reader that says why there is none. */
export type Read = { page: Page } | { problem: string };

function list<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}

function readHistory(history: Partial<History> | null | undefined): { history?: History } {
  if (typeof history !== "object" || history === null) return {};
  const lines = list<HistoryLine>(history.lines).map((line) => ({
    ...line,
    steps: list<HistoryStep>(line.steps).map((step) => ({
      ...step,
      points: list<HistoryPoint>(step.points).map((point) => ({ ...point, trials: list<number>(point.trials), versions: list<string>(point.versions) })),
      changes: list<HistoryChange>(step.changes),
      doubtful: list<HistoryChange>(step.doubtful),
    })),
  }));
  const runs = list<HistoryRun>(history.runs).map((run) => ({ ...run, versions: list<string>(run.versions) }));
  return { history: { order: history.order ?? "date", metric: history.metric ?? "o/s", runs, lines, notes: list(history.notes) } };
}

/** Reads the text of the data script. Lists that are missing become empty, so that a page with less still opens. */
export function readPage(text: string | null): Read {
  if (text === null) {
    return { problem: "The data script “steelyard-data” is missing from this file. Write the report again with “steelyard report”." };
  }
  let embedded: Embedded;
  try {
    embedded = parseEmbedded(text);
  } catch (error) {
    return {
      problem: `The data in this file is not valid JSON, so it was probably cut short (${error instanceof Error ? error.message : "unknown error"}). Write the report again with “steelyard report”.`,
    };
  }
  const { raw, series } = embedded;
  if (raw === null) {
    return { problem: "This is the empty template of the report page: it holds no results. “steelyard report -o r.html” writes a page with results." };
  }
  const page = raw as Partial<Page>;
  if (typeof raw !== "object" || page.format !== 1) {
    return { problem: `This page draws data of format 1 and found format ${String(page.format)}. Write the report again with one version of steelyard.` };
  }
  if (typeof page.experiment !== "object" || page.experiment === null || !Array.isArray(page.variants)) {
    return { problem: "The data in this file names no experiment or no variants. Write the report again with “steelyard report”." };
  }
  return {
    page: {
      format: 1,
      generated: page.generated ?? "",
      steelyard: page.steelyard ?? "",
      experiment: page.experiment,
      variants: page.variants.map((variant) => ({
        ...variant,
        build: list(variant.build),
        config: list(variant.config),
        settings: list(variant.settings),
      })),
      host: list(page.host),
      steps: list<Step>(page.steps).map((step) => ({
        ...step,
        throughput: list(step.throughput),
        relative: list(step.relative),
        latency: list(step.latency),
        percentiles: list(step.percentiles),
        trials: list<Trial>(step.trials).map((trial) => whenAsked({ ...trial, stalls: list(trial.stalls) }, "series", () => series(trial.series))),
      })),
      tables: list<Table>(page.tables).map((table) => ({
        ...table,
        legend: list(table.legend),
        columns: list(table.columns),
        rows: list(table.rows),
      })),
      warnings: list(page.warnings),
      catalog: page.catalog ?? {},
      ...readHistory(page.history),
      profiles: list<Profile>(page.profiles).map((profile) => ({
        ...profile,
        flames: list<Flame>(profile.flames),
        tables: list<Table>(profile.tables).map((table) => ({ ...table, legend: list(table.legend), columns: list(table.columns), rows: list(table.rows) })),
      })),
      ...readCounts(page.counts),
    },
  };
}

/** Index of the base among the variants; the first where the plan's base is not among them. */
export function baseIndex(page: Page): number {
  const index = page.variants.findIndex((variant) => variant.name === page.experiment.base);
  return index < 0 ? 0 : index;
}

/** A step's name as the reader sees it; the number of clients only where the experiment has several. */
export function stepLabel(page: Page, step: Pick<Step, "name" | "dop">): string {
  const several = page.steps.some((other) => other.dop !== page.steps[0]?.dop);
  return several ? `${step.name} · dop ${step.dop}` : step.name;
}

/** The id of a step's panel, for links within the page. */
export function stepAnchor(page: Page, step: Step): string {
  return `step-${page.steps.indexOf(step) + 1}`;
}
