/** What the plots of one step share: which variants are shown, the seconds in view, the cursor. */

import { useState } from "preact/hooks";
import type uPlot from "uplot";
import type { Page, PageStep } from "#page";
import { variantName } from "../../data/page";
import { type Range, useZoom, type ZoomView } from "../../shared/zoom";

export interface PlotView extends ZoomView {
  hidden: ReadonlySet<number>;
  /** The variant drawn in front of the others. */
  focus: number | null;
  /** Whether y axes start at zero, or close to the lowest value in view. */
  fromZero: boolean;
  toggle: (variant: number) => void;
  setFocus: (variant: number | null) => void;
  setFromZero: (fromZero: boolean) => void;
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
  const seconds = useZoom(length > 1 ? [0, length - 1] : [-0.5, 0.5]);
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [focus, setFocus] = useState<number | null>(null);
  const [fromZero, setFromZero] = useState(zero);
  return {
    ...seconds,
    hidden,
    focus,
    fromZero,
    setFocus,
    setFromZero,
    toggle: (variant) => {
      const next = new Set(hidden);
      if (!next.delete(variant)) next.add(variant);
      setHidden(next);
    },
  };
}
