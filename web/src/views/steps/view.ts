/** What the plots of one step share: which variants are shown, the seconds in view, the cursor. */

import { useState } from "preact/hooks";
import type uPlot from "uplot";
import type { Page, PageStep } from "#page";
import { variantName } from "../../data/page";

export type Range = [number, number];

export interface PlotView {
  hidden: ReadonlySet<number>;
  /** The variant drawn in front of the others. */
  focus: number | null;
  /** Whether y axes start at zero, or close to the lowest value in view. */
  fromZero: boolean;
  /** The whole axis of seconds, and what is in view of it. */
  full: Range;
  range: Range;
  zoomed: boolean;
  cursor: number | null;
  toggle: (variant: number) => void;
  setFocus: (variant: number | null) => void;
  setFromZero: (fromZero: boolean) => void;
  /** Brings a range into view, cut to the axis. */
  setRange: (low: number, high: number) => void;
  /** Zooms by a factor about the cursor, or about the middle. */
  zoom: (factor: number) => void;
  reset: () => void;
  setCursor: (second: number | null) => void;
}

/** How strongly a variant is drawn. */
export function opacity({ focus }: PlotView, variant: number, usual: number): number {
  return focus === null || focus === variant ? usual : 0.15;
}

/** Hides and shows the lines of a plot. */
export function showVariants(u: uPlot, view: PlotView, lines: { variant: number }[]): void {
  lines.forEach(({ variant }, index) => {
    const show = !view.hidden.has(variant);
    if (u.series[index + 1]?.show !== show) u.setSeries(index + 1, { show }, false);
  });
  u.redraw(false);
}

/** What a plot draws, for tests and for the console. */
export interface Inspection {
  step: string;
  dop: number;
  plot: string;
  /** The x-range in view, in units of the axis. */
  x: Range;
  series: { name: string; block: number | null; visible: boolean; points: number }[];
}

export function inspection(
  page: Page,
  { name, dop }: PageStep,
  plot: string,
  u: uPlot,
  lines: { variant: number; block?: number; points: number }[],
): Inspection {
  const { min = Number.NaN, max = Number.NaN } = u.scales.x ?? {};
  const series = lines.map(({ variant, block, points }, index) => ({
    name: variantName(page, variant),
    block: block ?? null,
    visible: u.series[index + 1]?.show ?? false,
    points,
  }));
  return { step: name, dop, plot, x: [min, max], series };
}

/** The view of plots over `length` seconds; at first its y axes start at zero or not. */
export function usePlotView(length: number, zero = true): PlotView {
  const full: Range = length > 1 ? [0, length - 1] : [-0.5, 0.5];
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [focus, setFocus] = useState<number | null>(null);
  const [fromZero, setFromZero] = useState(zero);
  const [range, keepRange] = useState(full);
  const [cursor, setCursor] = useState<number | null>(null);
  const [low, high] = range;
  const setRange = (from: number, to: number): void => {
    const cut: Range = [
      Math.max(full[0], Math.min(from, to)),
      Math.min(full[1], Math.max(from, to)),
    ];
    if (cut[1] > cut[0]) keepRange(cut);
  };
  return {
    hidden,
    focus,
    fromZero,
    full,
    range,
    zoomed: low > full[0] || high < full[1],
    cursor,
    setFocus,
    setFromZero,
    setRange,
    setCursor,
    reset: () => setRange(...full),
    toggle: (variant) => {
      const next = new Set(hidden);
      if (!next.delete(variant)) next.add(variant);
      setHidden(next);
    },
    zoom: (factor) => {
      const inView = cursor !== null && cursor >= low && cursor <= high;
      const centre = inView ? cursor : (low + high) / 2;
      const width = Math.max(2, (high - low) * factor);
      const share = (centre - low) / (high - low);
      setRange(centre - width * share, centre + width * (1 - share));
    },
  };
}
