/** The ratio axis of the relative chart: logarithmic, so that ×0.5 and ×2 lie equally far from 1. */

export interface RatioScale {
  low: number;
  high: number;
  /** Position from 0 to 1, cut at the ends. */
  at(ratio: number): number;
  ticks: number[];
}

/** Candidate ticks, coarse to fine: the first set that puts enough of them on the axis is taken. */
const LADDERS: number[][] = [
  [0.001, 0.01, 0.1, 1, 10, 100, 1000],
  [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20],
  [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8],
  [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5],
  [0.75, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3],
  [0.9, 0.92, 0.94, 0.96, 0.98, 1, 1.02, 1.04, 1.06, 1.08, 1.1],
  [0.95, 0.96, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.04, 1.05],
];

/**
 * A scale that holds every ratio and, as far as sensible, every interval: an interval of very few blocks may span
 * orders of magnitude, so intervals widen the axis by at most a factor of 1.5 beyond the ratios themselves.
 */
export function ratioScale(values: { ratio: number; low: number | null; high: number | null }[], margin: number): RatioScale {
  const usable = values.filter((value) => Number.isFinite(value.ratio) && value.ratio > 0);
  const ratios = usable.map((value) => value.ratio);
  const least = Math.min(1 - 2 * margin, ...ratios);
  const most = Math.max(1 + 2 * margin, ...ratios);
  const lows = usable.map((value) => value.low).filter((low): low is number => low !== null && low > 0);
  const highs = usable.map((value) => value.high).filter((high): high is number => high !== null && Number.isFinite(high));
  let low = Math.max(least / 1.5, Math.min(least, ...lows));
  let high = Math.min(most * 1.5, Math.max(most, ...highs));
  const room = (Math.log(high) - Math.log(low)) * 0.03;
  low = Math.exp(Math.log(low) - room);
  high = Math.exp(Math.log(high) + room);
  const width = Math.log(high) - Math.log(low);
  const inside = (ladder: number[]): number[] => ladder.filter((tick) => tick >= low && tick <= high);
  let ticks = [1];
  for (const ladder of LADDERS) {
    const candidates = inside(ladder);
    if (candidates.length > 9) break;
    if (candidates.length > ticks.length) ticks = candidates;
    if (ticks.length >= 6) break;
  }
  return {
    low,
    high,
    at: (ratio) => Math.min(1, Math.max(0, (Math.log(Math.max(ratio, 1e-9)) - Math.log(low)) / width)),
    ticks,
  };
}

/** The ticks that can carry a label without touching: 1 always, the others outward with at least `gap` between. */
export function labelledTicks(scale: RatioScale, gap: number): Set<number> {
  const kept: number[] = scale.ticks.includes(1) ? [1] : [];
  const outward = [...scale.ticks].sort((a, b) => Math.abs(Math.log(a)) - Math.abs(Math.log(b)));
  for (const tick of outward) {
    if (kept.every((other) => other === tick || Math.abs(scale.at(other) - scale.at(tick)) >= gap) && !kept.includes(tick)) kept.push(tick);
  }
  return new Set(kept);
}
