/** What the canvas of a plot over time draws: lines, stalls, a wanted rate. */

import uPlot from "uplot";
import type { Page, PageStep, PageTrial, Value } from "#page";
import { variantName } from "../../data/page";
import { type ChartOptions, X_AXIS } from "../../shared/chart";
import { ink } from "../../shared/ink";
import { faded } from "../../shared/theme";
import { lookOf } from "../../shared/variant";
import { yRange } from "../../shared/yrange";
import { dragged } from "../../shared/zoom";
import { axisValues } from "../../text/format";
import {
  type BlockChoice,
  type Figure,
  idleWindows,
  isolated,
  type Line,
  stallBands,
} from "./align";
import { opacity, type PlotView } from "./view";

/** Room above every plot for the ticks that mark stalls, shared by the variants that stalled. */
const STALL_ROOM = 10;

const SECONDS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];

/** Distances of ticks that are round in KB, MB, GB and TB. */
const ROUND_BYTES = [1, 1024, 1024 ** 2, 1024 ** 3].flatMap((unit) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * unit),
);

/** What a plot over time is made of. */
export interface TimePlotProps {
  step: PageStep;
  figure: Figure;
  lines: Line[];
  trials: PageTrial[];
  block: BlockChoice;
  view: PlotView;
  /** Seconds on the axis. */
  length: number;
  height: number;
  /** Whether the seconds are written under this plot. */
  labelled: boolean;
  /** A target rate, drawn as a dashed line. */
  target: number | null;
}

export function timeOptions(
  page: Page,
  { figure, trials, block, length, labelled, target }: TimePlotProps,
  order: Line[],
  view: () => PlotView,
): ChartOptions {
  const many = block === "all";
  const color = (variant: number): string => lookOf(page, variant).color;
  const stroke = (variant: number, usual: number): string =>
    faded(color(variant), opacity(view(), variant, usual));

  const eachStall = (
    u: uPlot,
    paint: (left: number, width: number, variant: number) => void,
  ): void => {
    const { min = 0, max = 0 } = u.scales.x ?? {};
    for (const { variant, stalls } of trials) {
      if (view().hidden.has(variant)) continue;
      for (const [from, to] of stallBands(stalls, min, max)) {
        const left = u.valToPos(from, "x", true);
        paint(left, Math.max(1, u.valToPos(to, "x", true) - left), variant);
      }
    }
  };

  /** While idle-priority processes ran, behind everything else. */
  const idle = (u: uPlot): void => {
    const { min, max } = u.scales.x ?? {};
    for (const [from, to] of idleWindows(trials)) {
      const [left, right] = [Math.max(from, min ?? from), Math.min(to, max ?? to)];
      if (right <= left) continue;
      const x = u.valToPos(left, "x", true);
      u.ctx.fillStyle = faded(ink("axis"), 0.14);
      u.ctx.fillRect(x, u.bbox.top, u.valToPos(right, "x", true) - x, u.bbox.height);
    }
  };

  /** Stalls as bands behind the lines; of all blocks there would be too many, so ticks alone. */
  const shade = (u: uPlot): void => {
    if (many) return;
    eachStall(u, (left, width, variant) => {
      u.ctx.fillStyle = faded(color(variant), 0.13);
      u.ctx.fillRect(left, u.bbox.top, width, u.bbox.height);
    });
  };

  /** Ticks of stalls above the plot, a lane per variant so that none hides another. */
  const stalled = [...new Set(trials.flatMap((t) => (t.stalls.length > 0 ? t.variant : [])))];
  const tick = (u: uPlot): void => {
    const pixel = uPlot.pxRatio;
    const height = Math.min(4, STALL_ROOM / Math.max(1, stalled.length));
    eachStall(u, (left, width, variant) => {
      u.ctx.fillStyle = color(variant);
      const top = u.bbox.top - (1 + (stalled.indexOf(variant) + 1) * height) * pixel;
      u.ctx.fillRect(left, top, Math.max(2 * pixel, width), Math.max(1, height * 0.85) * pixel);
    });
  };

  /** What servers did by themselves, as marks on the axis; all blocks would have too many. */
  const happened = (u: uPlot): void => {
    if (many) return;
    const size = 4 * uPlot.pxRatio;
    const { min = 0, max = 0 } = u.scales.x ?? {};
    const bottom = u.bbox.top + u.bbox.height;
    for (const { variant, events = [] } of trials) {
      if (view().hidden.has(variant)) continue;
      u.ctx.fillStyle = color(variant);
      for (const { at } of events) {
        if (at === null || at < min || at > max) continue;
        const x = u.valToPos(at, "x", true);
        u.ctx.beginPath();
        u.ctx.moveTo(x, bottom - 2 * size);
        u.ctx.lineTo(x - size, bottom);
        u.ctx.lineTo(x + size, bottom);
        u.ctx.fill();
      }
    }
  };

  /** The target rate. */
  const aim = (u: uPlot): void => {
    if (target === null) return;
    const pixel = uPlot.pxRatio;
    const y = u.valToPos(target, "y", true);
    u.ctx.save();
    u.ctx.strokeStyle = ink("text");
    u.ctx.lineWidth = pixel;
    u.ctx.setLineDash([4 * pixel, 4 * pixel]);
    u.ctx.beginPath();
    u.ctx.moveTo(u.bbox.left, y);
    u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
    u.ctx.stroke();
    u.ctx.restore();
  };

  return {
    padding: [STALL_ROOM + 2, 18, 0, 0],
    cursor: {
      points: { size: 6, show: !many },
      drag: { x: true, y: false, dist: 5, setScale: false },
    },
    scales: {
      // A single second would get an axis of 100 from the library.
      x: { time: false, range: (_u, min, max) => (length > 1 ? [min, max] : view().full) },
      y: { range: (_u, min, max) => yRange(min, max, target, view().fromZero) },
    },
    x: {
      gap: 5,
      size: labelled ? X_AXIS : 6,
      incrs: SECONDS,
      space: 60,
      values: (_u, splits) => splits.map((second) => (labelled ? `${second} s` : "")),
    },
    y: {
      space: 24,
      ...(/^[KMG]B/.test(figure.unit) ? { incrs: ROUND_BYTES } : {}),
      values: (_u, splits) => axisValues(splits, figure.unit),
    },
    series: [
      {},
      ...order.map(
        ({ variant }): uPlot.Series => ({
          label: variantName(page, variant),
          show: !view().hidden.has(variant),
          stroke: () => stroke(variant, many ? 0.6 : 1),
          width: many ? 0.9 : 1.5,
          dash: lookOf(page, variant).dash,
          points: {
            size: 5,
            show: true,
            fill: () => stroke(variant, 1),
            filter: (u, index) => isolated((u.data[index] ?? []) as Value[]),
          },
        }),
      ),
    ],
    hooks: { setSelect: [dragged(view)], drawClear: [idle, shade], draw: [tick, happened, aim] },
  };
}
