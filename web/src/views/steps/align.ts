/** From the trials of a step to columns of equal length on one axis of seconds. */

import type { PageStep, PageTrial, Value } from "#page";

/** A figure per second of a step, `null` where nothing was measured. */
export type Series = Value[];

/** Which block is shown: one, all, or of each variant the one that carries the most series. */
export type BlockChoice = number | "all" | "fullest";

/** A figure that is shown: one series of the data, or the sum of several. */
export interface Figure {
  id: string;
  label: string;
  unit: string;
  group: string;
  keys: string[];
}

/** One line of a plot. */
export interface Line {
  variant: number;
  block: number;
  values: Series;
  /** Seconds that carry a value. */
  points: number;
}

/** The sum of several series, second by second; null where any of them is. */
export function sum(series: (Series | undefined)[]): Series {
  const present = series.filter((one): one is Series => one !== undefined);
  if (present.length !== series.length || present.length === 0) return [];
  if (present.length === 1) return present[0] ?? [];
  const length = Math.max(...present.map((one) => one.length));
  return Array.from({ length }, (_, second) => {
    let total = 0;
    for (const one of present) {
      const value = one[second];
      if (value === null || value === undefined) return null;
      total += value;
    }
    return total;
  });
}

/** The blocks that have trials in this step, in order. */
export function blocksOf(step: PageStep): number[] {
  return [...new Set(step.trials.map((trial) => trial.block))].sort((a, b) => a - b);
}

function seriesCount(trial: PageTrial): number {
  return Object.keys(trial.series).length;
}

/** True if some trials carry twice the series of others, as in reports that would be too large. */
export function isThinned(step: PageStep): boolean {
  const counts = new Map<number, Set<number>>();
  for (const trial of step.trials)
    counts.set(trial.variant, (counts.get(trial.variant) ?? new Set()).add(seriesCount(trial)));
  return [...counts.values()].some(
    (numbers) => Math.min(...numbers) * 2 <= Math.max(...numbers) && numbers.size > 1,
  );
}

/** The trials that are shown, in order of variant and block. */
export function shownTrials(step: PageStep, block: BlockChoice): PageTrial[] {
  const fullest = new Map<number, PageTrial>();
  if (block === "fullest") {
    for (const trial of step.trials) {
      const other = fullest.get(trial.variant);
      if (!other || seriesCount(trial) > seriesCount(other)) fullest.set(trial.variant, trial);
    }
  }
  return step.trials
    .filter(
      (trial) => block === "all" || trial.block === block || fullest.get(trial.variant) === trial,
    )
    .sort((a, b) => a.variant - b.variant || a.block - b.block);
}

/** Seconds of the longest trial of all blocks, so that the axis stays when the block changes. */
export function seconds(step: PageStep): number {
  let longest = 0;
  for (const trial of step.trials) {
    for (const series of Object.values(trial.series)) longest = Math.max(longest, series.length);
  }
  return longest;
}

/** The lines of a figure: one per shown trial, missing ends filled with null. */
export function lines(step: PageStep, figure: Figure, block: BlockChoice, length: number): Line[] {
  return shownTrials(step, block).map((trial) => {
    const values = sum(figure.keys.map((key) => trial.series[key]));
    const padded: Series = Array.from({ length }, (_, second) => values[second] ?? null);
    return {
      variant: trial.variant,
      block: trial.block,
      values: padded,
      points: padded.filter((value) => value !== null).length,
    };
  });
}

/** True if any trial of the step measured the figure; a level of a tree, if it was ever used. */
export function hasFigure(step: PageStep, figure: Figure): boolean {
  const says = (series: Series): boolean =>
    figure.group === "state" ? series.some((value) => value) : series.length > 0;
  return step.trials.some((trial) => figure.keys.every((key) => says(trial.series[key] ?? [])));
}

/** Positions of values without a neighbor on either side, which a line would not show. */
export function isolated(values: readonly (number | null | undefined)[]): number[] {
  const found: number[] = [];
  values.forEach((value, index) => {
    if (value == null) return;
    if (values[index - 1] == null && values[index + 1] == null) found.push(index);
  });
  return found;
}

/**
 * Stalls as bands on the axis: ordered, overlapping ones joined, cut to the range. A value of
 * second s is drawn at x = s, so stalled seconds from..to (exclusive) cover from − ½ to to − ½.
 */
export function stallBands(
  stalls: readonly [number, number][],
  min: number,
  max: number,
): [number, number][] {
  const bands: [number, number][] = [];
  for (const [from, to] of [...stalls].sort((a, b) => a[0] - b[0])) {
    if (!(to > from)) continue;
    const last = bands[bands.length - 1];
    if (last && from - 0.5 <= last[1]) last[1] = Math.max(last[1], to - 0.5);
    else bands.push([from - 0.5, to - 0.5]);
  }
  return bands
    .map(([from, to]): [number, number] => [Math.max(from, min), Math.min(to, max)])
    .filter(([from, to]) => to > from);
}

/** Seconds in stalls, overlapping ones counted once. */
export function stalledSeconds(stalls: readonly [number, number][]): number {
  return stallBands(stalls, -Infinity, Infinity).reduce(
    (total, [from, to]) => total + (to - from),
    0,
  );
}

/** Throughput of a variant around the time in which idle-priority processes ran. */
export interface AroundIdle {
  variant: number;
  before: Value;
  during: Value;
  after: Value;
  /** As fractions of `before`. */
  duringRatio: Value;
  afterRatio: Value;
}

/** When idle-priority processes ran, each time once; seconds as on the axis, see [`stallBands`]. */
export function idleWindows(trials: readonly PageTrial[]): [number, number][] {
  const windows = new Map<string, [number, number]>();
  for (const { idle } of trials) {
    if (!idle || idle.from === null || idle.to === null) continue;
    windows.set(`${idle.from} ${idle.to}`, [idle.from - 0.5, idle.to - 0.5]);
  }
  return [...windows.values()];
}

/** The geometric mean of what is known; null if nothing is. */
function middle(values: Value[]): Value {
  const known = values.filter((value): value is number => value !== null && value > 0);
  if (known.length === 0) return null;
  return Math.exp(known.reduce((sum, value) => sum + Math.log(value), 0) / known.length);
}

/** What the trials with idle-priority processes came to, variant by variant. */
export function aroundIdle(trials: readonly PageTrial[]): AroundIdle[] {
  const variants = [...new Set(trials.flatMap(({ variant, idle }) => (idle ? [variant] : [])))];
  return variants.map((variant) => {
    const own = trials.flatMap((trial) =>
      trial.variant === variant && trial.idle ? [trial.idle] : [],
    );
    return {
      variant,
      before: middle(own.map(({ before }) => before)),
      during: middle(own.map(({ during }) => during)),
      after: middle(own.map(({ after }) => after)),
      duringRatio: middle(own.map(({ during_before }) => during_before)),
      afterRatio: middle(own.map(({ after_before }) => after_before)),
    };
  });
}

/** True if there is nothing to see over time: a single second, which is better told as text. */
export function isAlone(lines: Line[]): boolean {
  return lines.length > 0 && lines.every(({ values }) => values.length <= 1);
}
