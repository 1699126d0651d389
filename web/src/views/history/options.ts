/** What the canvas of a history draws: trials, their medians, levels, change points. */

import uPlot from "uplot";
import type { ChangeDocument, HistoryDocument, Page } from "#page";
import { baseline, LANE, writeAbove } from "../../shared/above";
import type { ChartOptions } from "../../shared/chart";
import { ink } from "../../shared/ink";
import { faded } from "../../shared/theme";
import { lookOf } from "../../shared/variant";
import { axisValues, change as changeText } from "../../text/format";
import { levels, type Panel } from "./panels";

/** The size of a change and its interval, as shown above it. */
export function changeWords({ ratio, low, high }: ChangeDocument): [string, string] {
  return [changeText(ratio), `${changeText(low)} to ${changeText(high)}`];
}

/** Room for what is written above a plot. */
export function headroom({ changes }: Panel): number {
  return Math.max(0, ...changes.map(({ lane }) => lane + 1)) * LANE;
}

export function historyOptions(page: Page, history: HistoryDocument, panel: Panel): ChartOptions {
  const { runs, followed, changes } = panel;
  const color = (look: number): string => lookOf(page, look).color;
  const points = followed.flatMap(({ step }) => step.points);
  const values = points
    .flatMap(({ trials, median }) => [...trials, median])
    .filter((value) => Number.isFinite(value));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const air = high > low ? (high - low) * 0.08 : Math.abs(high) * 0.05 || 1;
  const names = runs.map((run) => history.runs[run]?.name ?? "?");
  const last = runs.length - 1;

  /** Single trials and levels, under the medians. */
  const under = (u: uPlot): void => {
    const { ctx } = u;
    const x = (place: number): number => u.valToPos(place, "x", true);
    ctx.save();
    for (const { step, look } of followed) {
      ctx.strokeStyle = faded(color(look), 0.28);
      ctx.lineWidth = 5 * uPlot.pxRatio;
      for (const { from, to, value } of step.changes.length > 0 ? levels(step) : []) {
        const y = u.valToPos(value, "y", true);
        ctx.beginPath();
        ctx.moveTo(x(runs.indexOf(from) - 0.4), y);
        ctx.lineTo(x(runs.indexOf(to) + 0.4), y);
        ctx.stroke();
      }
      ctx.fillStyle = faded(color(look), 0.45);
      for (const { run, trials } of step.points) {
        for (const value of trials) {
          const y = u.valToPos(value, "y", true);
          ctx.beginPath();
          ctx.arc(x(runs.indexOf(run)), y, 2 * uPlot.pxRatio, 0, 2 * Math.PI);
          ctx.fill();
        }
      }
    }
    ctx.restore();
  };

  /** Change points: a line through the plot, its size and interval above. */
  const over = (u: uPlot): void => {
    const pixel = uPlot.pxRatio;
    const { ctx, bbox } = u;
    ctx.save();
    ctx.lineWidth = pixel;
    ctx.setLineDash([4 * pixel, 3 * pixel]);
    for (const { followed: of, at, lane } of changes) {
      const x = Math.round(u.valToPos(at, "x", true));
      ctx.strokeStyle = color(of.look);
      ctx.beginPath();
      ctx.moveTo(x, baseline(u, lane) + 3 * pixel);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.setLineDash([]);
    for (const { followed: of, change, at, lane } of changes) {
      const [size, interval] = changeWords(change);
      writeAbove(u, u.valToPos(at, "x", true), lane, [
        [change.ratio < 1 ? "▼ " : "▲ ", true, color(of.look)],
        [size, true, ink("text")],
        [`  ${interval}`, false, ink("minor")],
      ]);
    }
    ctx.restore();
  };

  /** Names may not touch: about 7 pixels a letter. */
  const splits = (u: uPlot): number[] => {
    const room = (u.bbox.width / uPlot.pxRatio / (last + 1)) * 0.95;
    const widest = Math.max(...names.map((name) => name.length)) * 6.6 + 8;
    const stride = Math.max(1, Math.ceil(widest / room));
    return [...names.keys()].filter((place) => place % stride === 0);
  };

  return {
    padding: [8 + headroom(panel), 16, 0, 0],
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, range: () => [-0.5, last + 0.5] },
      y: { range: () => [low >= 0 ? Math.max(0, low - air) : low - air, high + air] },
    },
    x: { grid: { show: false }, splits, values: (_u, at) => at.map((place) => names[place] ?? "") },
    y: { space: 26, values: (_u, at) => axisValues(at, "") },
    series: [
      {},
      ...followed.map(
        ({ look }): uPlot.Series => ({
          stroke: () => faded(color(look), 0.5),
          width: 1,
          spanGaps: true,
          dash: lookOf(page, look).dash,
          points: {
            show: true,
            size: 7,
            width: 1,
            fill: () => color(look),
            stroke: () => color(look),
          },
        }),
      ),
    ],
    hooks: { drawAxes: [under], draw: [over] },
  };
}
