/** From the restarts of a sliced step to columns on one axis of seconds under load. */

import type { PageRestart, PageRunning, PageSlices, Value } from "#page";

/** What is at a position of the axis: a point of a restart, or the start of one. */
export interface Place {
  restart: number;
  point: number | null;
}

/** Rates of all restarts, one after another. */
export interface Rounds {
  x: number[];
  places: Place[];
  /** By variant; `null` where there is none, and at the begin of each restart. */
  rates: Value[][];
  low: Value[][];
  high: Value[][];
  /** Where each restart begins. */
  begins: number[];
  /** Where the last one ends. */
  end: number;
}

/** Restarts one behind another; between them a place without values, so that nothing joins them. */
export function rounds({ restarts }: PageSlices, variants: number): Rounds {
  const empty = (): Value[][] => Array.from({ length: variants }, () => []);
  const all: Rounds = {
    x: [],
    places: [],
    rates: empty(),
    low: empty(),
    high: empty(),
    begins: [],
    end: 0,
  };
  const { x, places, begins } = all;
  const push = (column: Value[][], of: (variant: number) => Value[] | undefined, count: number) =>
    column.forEach((values, variant) => {
      const own = of(variant);
      values.push(null, ...Array.from({ length: count }, (_, point) => own?.[point] ?? null));
    });
  restarts.forEach((restart, index) => {
    const { seconds, rates, low, high, length } = restart;
    begins.push(all.end);
    x.push(all.end, ...seconds.map((second) => all.end + (second ?? 0)));
    places.push({ restart: index, point: null });
    places.push(...seconds.map((_, point) => ({ restart: index, point })));
    push(all.rates, (variant) => rates[variant], seconds.length);
    push(all.low, (variant) => (low.length > 0 ? low : rates)[variant], seconds.length);
    push(all.high, (variant) => (high.length > 0 ? high : rates)[variant], seconds.length);
    all.end += length ?? 0;
  });
  x.push(all.end);
  places.push({ restart: restarts.length - 1, point: null });
  for (const column of [all.rates, all.low, all.high])
    for (const values of column) values.push(null);
  return all;
}

/** Lowest and highest of all known values of some columns. */
export function extent(columns: Value[][]): [number | null, number | null] {
  let low: number | null = null;
  let high: number | null = null;
  for (const values of columns) {
    for (const value of values) {
      if (value === null) continue;
      if (low === null || value < low) low = value;
      if (high === null || value > high) high = value;
    }
  }
  return [low, high];
}

/** Rounds of a point: all but the last of a restart hold the same number. */
export function roundsOf(restart: PageRestart, point: number, each: number): [number, number] {
  return [point * each + 1, Math.min((point + 1) * each, restart.rounds)];
}

/** Slices without a rate: by reason, then by variant, over all restarts. */
export function asideByReason({ restarts }: PageSlices): Map<number, Map<number, number>> {
  const found = new Map<number, Map<number, number>>();
  for (const { aside } of restarts) {
    for (const [, variant, reason, count] of aside) {
      const variants = found.get(reason) ?? new Map<number, number>();
      found.set(reason, variants.set(variant, (variants.get(variant) ?? 0) + count));
    }
  }
  const sorted = <V>(map: Map<number, V>): Map<number, V> =>
    new Map([...map].sort(([a], [b]) => a - b));
  return sorted(new Map([...found].map(([reason, variants]) => [reason, sorted(variants)])));
}

/**
 * The y axis of running ratios: all ratios, the margin and the last intervals. The first intervals
 * are so wide that they would press all else into a line; they leave the plot.
 */
export function ratioRange(shown: PageRunning[], margin: [number, number]): [number, number] {
  const values = [1, ...margin.filter((edge) => edge > 0)];
  for (const { restarts } of shown) {
    const last = restarts[restarts.length - 1];
    values.push(...restarts.flatMap(({ own, ratio }) => [own, ratio]));
    if (last && last.low !== null && last.high !== null) values.push(last.low, last.high);
  }
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const air = (high - low) * 0.08;
  return [Math.max(0, low - air), high + air];
}
