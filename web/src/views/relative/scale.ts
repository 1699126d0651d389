/** The axis of ratios: logarithmic, so that ×0.5 and ×2 lie equally far from 1. */

import type { PageRelative } from "#page";
import { count, interval } from "../../text/format";

export interface RatioScale {
  low: number;
  high: number;
  /** Position from 0 to 1, cut at the ends. */
  at(ratio: number): number;
  ticks: number[];
}

/** Ticks for axes that span much, fine to coarse. */
const WIDE: number[][] = [
  [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.4, 2, 3, 5, 7, 10],
  [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20],
  [0.001, 0.01, 0.1, 1, 10, 100, 1000],
];

/** Distances of ticks for axes that span little, fine to coarse. */
const STRIDES = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25];

const MOST_TICKS = 9;

/** Ticks between two ratios: round numbers, 1 always among them, at most `MOST_TICKS`. */
function ticksBetween(low: number, high: number): number[] {
  const inside = (tick: number): boolean => tick >= low && tick <= high;
  if (high / low < 4) {
    for (const stride of STRIDES) {
      const from = Math.ceil((low - 1) / stride - 1e-9);
      const to = Math.floor((high - 1) / stride + 1e-9);
      if (to - from < MOST_TICKS)
        return Array.from({ length: to - from + 1 }, (_, index) =>
          Number((1 + (from + index) * stride).toFixed(3)),
        );
    }
  }
  for (const ticks of WIDE) {
    const found = ticks.filter(inside);
    if (found.length <= MOST_TICKS) return found;
  }
  return [1];
}

type Ends = Pick<PageRelative, "ratio" | "low" | "high">;
type Ranged = Ends & Pick<PageRelative, "blocks" | "each">;

/** The interval of a comparison, or of too few blocks their range. */
export function rangeOf({ ratio, low, high, each = [] }: Ranged): Ends {
  const blocks = each.filter((one): one is number => one !== null);
  if (low !== null || blocks.length === 0) return { ratio, low, high };
  return { ratio, low: Math.min(...blocks), high: Math.max(...blocks) };
}

/** The same as text: "0.928 to 0.938", "3 blocks: 0.870 to 0.930". */
export function rangeText(relative: Ranged): string {
  const { low, high } = rangeOf(relative);
  if (low === null) return "not compared";
  if (relative.low !== null) return interval(low, high);
  if (relative.blocks === 1) return "1 block: too few";
  return `${count(relative.blocks, "block")}: ${interval(low, high)}`;
}

/**
 * A scale that holds every ratio and, as far as sensible, every interval: an interval of very few
 * blocks may span orders of magnitude, so intervals widen the axis by at most a factor of 1.5
 * beyond the ratios themselves.
 */
export function ratioScale(values: Ends[], margin: number): RatioScale {
  const usable = values.filter(
    (value) => value.ratio !== null && Number.isFinite(value.ratio) && value.ratio > 0,
  );
  const ratios = usable
    .map((value) => value.ratio)
    .filter((ratio): ratio is number => ratio !== null);
  const least = Math.min(1 - 2 * margin, ...ratios);
  const most = Math.max(1 + 2 * margin, ...ratios);
  const lows = usable
    .map((value) => value.low)
    .filter((low): low is number => low !== null && low > 0);
  const highs = usable
    .map((value) => value.high)
    .filter((high): high is number => high !== null && Number.isFinite(high));
  let low = Math.max(least / 1.5, Math.min(least, ...lows));
  let high = Math.min(most * 1.5, Math.max(most, ...highs));
  const room = (Math.log(high) - Math.log(low)) * 0.03;
  low = Math.exp(Math.log(low) - room);
  high = Math.exp(Math.log(high) + room);
  const width = Math.log(high) - Math.log(low);
  const ticks = ticksBetween(low, high);
  return {
    low,
    high,
    at: (ratio) =>
      Math.min(1, Math.max(0, (Math.log(Math.max(ratio, 1e-9)) - Math.log(low)) / width)),
    ticks,
  };
}

/** The ticks that can carry a label: 1, the others outward with at least `gap` between. */
export function labelledTicks(scale: RatioScale, gap: number): Set<number> {
  const kept: number[] = scale.ticks.includes(1) ? [1] : [];
  const outward = [...scale.ticks].sort((a, b) => Math.abs(Math.log(a)) - Math.abs(Math.log(b)));
  for (const tick of outward) {
    if (
      kept.every((other) => other === tick || Math.abs(scale.at(other) - scale.at(tick)) >= gap) &&
      !kept.includes(tick)
    )
      kept.push(tick);
  }
  return new Set(kept);
}
