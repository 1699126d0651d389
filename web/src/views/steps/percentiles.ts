/** The axis of percentiles, and curves on it. */

/** Position of "max" beyond the last percentile, in decades of the remaining share. */
const MAX_GAP = 0.75;

/** Pairs of a percentile (0 to 100) and microseconds. */
type Curve = readonly (readonly [number, number | null])[];

/** Position of a percentile: 0 → 0, 90 → 1, 99 → 2, 99.9 → 3. The tail gets the room it needs. */
export function percentilePosition(percentile: number): number {
  return -Math.log10(Math.max(1e-12, 1 - Math.max(0, percentile) / 100));
}

export interface Aligned {
  /** Positions, and the percentile at each. */
  x: number[];
  percentiles: number[];
  /** A value per curve and position, null where a curve has none. */
  values: (number | null)[][];
}

/** Curves on one x axis. */
export function alignPercentiles(curves: readonly Curve[]): Aligned {
  const all = new Set(curves.flat().map(([percentile]) => Math.min(100, percentile)));
  const percentiles = [...all].sort((a, b) => a - b);
  const last = percentiles.filter((percentile) => percentile < 100).pop();
  const reached = last === undefined ? 0 : percentilePosition(last);
  const end = Math.ceil(reached * 2 - 1e-9) / 2 + MAX_GAP;
  return {
    percentiles,
    x: percentiles.map((one) => (one >= 100 ? end : percentilePosition(one))),
    values: curves.map((curve) => {
      const by = new Map(curve.map(([percentile, us]) => [Math.min(100, percentile), us]));
      return percentiles.map((percentile) => by.get(percentile) ?? null);
    }),
  };
}
