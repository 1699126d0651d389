/** What the canvas of a sweep draws: lines, their intervals, single trials, falls. */

import uPlot from "uplot";
import type { Page, PageCurve, Value } from "#page";
import { baseline, LANE, writeAbove } from "../../shared/above";
import { type ChartOptions, X_AXIS } from "../../shared/chart";
import { ink } from "../../shared/ink";
import { DASHES, faded } from "../../shared/theme";
import { lookOf } from "../../shared/variant";
import { yRange } from "../../shared/yrange";
import { dragged } from "../../shared/zoom";
import { change } from "../../text/format";
import { extent, type Shown } from "./lines";
import type { SweepView } from "./view";

/** A line of a plot. */
export interface Drawn {
  shown: Shown;
  curve: PageCurve;
  /** Single trials by number of clients, if they are drawn. */
  blocks: Value[][];
}

export interface PlotProps {
  clients: number[];
  drawn: Drawn[];
  view: SweepView;
  height: number;
  /** Whether falls are marked. */
  marked: boolean;
  /** Text of a value at the y axis. */
  axis: (value: number) => string;
  /** A value that is always in view and has a line: the base's. */
  level: number | null;
}

/** How strongly a line is drawn. */
function opacity({ focus }: SweepView, place: number, usual: number): number {
  return focus === null || focus === place ? usual : usual * 0.15;
}

/** A fall with its place above the plot. */
interface Mark {
  drawn: Drawn;
  from: number;
  to: number;
  recovers: number | null;
  ratio: number;
  lane: number;
}

/** The falls of a plot's lines; lanes go up where they would overlap. */
export function marksOf({ clients, drawn }: Pick<PlotProps, "clients" | "drawn">): Mark[] {
  const found: Mark[] = [];
  for (const one of drawn) {
    for (const { from, to, recovers, ratio } of one.shown.line.cliffs) {
      const near = (other: Mark): boolean =>
        Math.abs(clients.indexOf(other.to) - clients.indexOf(to)) <= clients.length / 5;
      const lane = found.filter(near).length;
      found.push({ drawn: one, from, to, recovers, ratio, lane });
    }
  }
  return found;
}

/** Room for what is written above a plot. */
export function headroom(props: PlotProps): number {
  return props.marked ? Math.max(0, ...marksOf(props).map(({ lane }) => lane + 1)) * LANE : 0;
}

/** Ticks of a logarithmic axis: powers of two, and the ends of what is in view. */
function powers(min: number, max: number): number[] {
  const first = Math.ceil(Math.log2(Math.max(1, min)) - 1e-9);
  const last = Math.floor(Math.log2(Math.max(1, max)) + 1e-9);
  const found = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => 2 ** (first + at));
  return found.length > 1 ? found : [...new Set([Math.ceil(min), Math.floor(max)])];
}

export function sweepOptions(page: Page, props: PlotProps, view: () => SweepView): ChartOptions {
  const { clients, drawn, level, marked } = props;
  const marks = marked ? marksOf(props) : [];
  const color = ({ shown }: Drawn, usual: number): string =>
    faded(lookOf(page, shown.look).color, opacity(view(), shown.place, usual));
  const visible = (): Drawn[] => drawn.filter(({ shown }) => !view().hidden.has(shown.place));
  const crowded = drawn.length * clients.length > 400;

  /** Draws only within the plot, plus some room above it. */
  const within = (u: uPlot, paint: (ctx: CanvasRenderingContext2D) => void): void => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    paint(ctx);
    ctx.restore();
  };

  /** From where throughput fell to where it came back, on a ground of the line's color. */
  const ground = (u: uPlot): void => {
    if (marks.length === 0) return;
    within(u, (ctx) => {
      for (const { drawn: one, to, recovers } of marks) {
        if (view().hidden.has(one.shown.place)) continue;
        const left = u.valToPos(to, "x", true);
        const right =
          recovers === null ? u.bbox.left + u.bbox.width : u.valToPos(recovers, "x", true);
        ctx.fillStyle = color(one, 0.055);
        ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
      }
    });
  };

  /** Intervals as bands, single trials as dots, the base's level. */
  const under = (u: uPlot): void => {
    within(u, (ctx) => {
      const x = (value: number): number => u.valToPos(value, "x", true);
      const y = (value: number): number => u.valToPos(value, "y", true);
      if (level !== null) {
        ctx.strokeStyle = ink("text");
        ctx.lineWidth = uPlot.pxRatio;
        ctx.beginPath();
        ctx.moveTo(u.bbox.left, y(level));
        ctx.lineTo(u.bbox.left + u.bbox.width, y(level));
        ctx.stroke();
      }
      for (const one of visible()) {
        const { low, high } = one.curve;
        const corners = clients.flatMap((number, at): [number, number, number][] => {
          const [least, most] = [low[at], high[at]];
          return least == null || most == null ? [] : [[x(number), y(least), y(most)]];
        });
        ctx.beginPath();
        for (const [at, least] of corners) ctx.lineTo(at, least);
        for (const [at, , most] of [...corners].reverse()) ctx.lineTo(at, most);
        ctx.closePath();
        ctx.fillStyle = color(one, 0.16);
        ctx.fill();
        ctx.fillStyle = color(one, 0.5);
        const radius = (crowded ? 1.1 : 1.7) * uPlot.pxRatio;
        one.blocks.forEach((values, at) => {
          for (const value of values) {
            if (value === null) continue;
            ctx.beginPath();
            ctx.arc(x(clients[at] ?? 0), y(value), radius, 0, 2 * Math.PI);
            ctx.fill();
          }
        });
      }
    });
  };

  /** Falls: a dashed line where throughput fell, its size above. */
  const falls = (u: uPlot): void => {
    const pixel = uPlot.pxRatio;
    const { min = 0, max = 0 } = u.scales.x ?? {};
    const inView = marks.filter(
      ({ drawn: one, to }) =>
        !view().hidden.has(one.shown.place) && to >= (min ?? 0) && to <= (max ?? 0),
    );
    const { ctx, bbox } = u;
    ctx.save();
    ctx.lineWidth = pixel;
    ctx.setLineDash([4 * pixel, 3 * pixel]);
    for (const { drawn: one, to, lane } of inView) {
      const x = Math.round(u.valToPos(to, "x", true));
      ctx.strokeStyle = color(one, 1);
      ctx.beginPath();
      ctx.moveTo(x, baseline(u, lane) + 3 * pixel);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.setLineDash([]);
    for (const { drawn: one, from, to, ratio, lane } of inView) {
      writeAbove(u, u.valToPos(to, "x", true), lane, [
        ["▼ ", true, color(one, 1)],
        [change(ratio), true, ink("text")],
        [`  ${from} → ${to}`, false, ink("minor")],
      ]);
    }
    ctx.restore();
  };

  const inRange = (u: uPlot): [number, number] => {
    const { min, max } = u.scales.x ?? {};
    return [min ?? view().range[0], max ?? view().range[1]];
  };
  const splits = (u: uPlot): number[] => {
    const all = powers(...inRange(u));
    const stride = Math.max(1, Math.ceil((all.length * 30) / (u.bbox.width / uPlot.pxRatio)));
    return all.filter((_, at) => at % stride === 0);
  };

  return {
    padding: [8 + headroom(props), 18, 0, 0],
    cursor: { points: { size: 6 }, drag: { x: true, y: false, dist: 5, setScale: false } },
    scales: {
      x: {
        time: false,
        ...(view().log ? { distr: 3, log: 2 } : {}),
        range: (_u, min, max) => [min ?? view().range[0], max ?? view().range[1]],
      },
      y: {
        range: (u) => {
          const all = visible();
          const blocks = all.map((one) => one.blocks);
          const curves = all.map(({ curve }) => curve);
          const [low, high] = extent(clients, curves, blocks, inRange(u));
          return yRange(low, high, level, view().fromZero && level === null);
        },
      },
    },
    x: {
      grid: { filter: (_u, at) => at },
      gap: 5,
      size: X_AXIS,
      space: 40,
      ...(view().log
        ? { splits, filter: (_u: uPlot, at: number[]) => at }
        : { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }),
      values: (_u, at) => at.map((value) => (Number.isInteger(value) ? `${value}` : "")),
    },
    y: { space: 26, values: (_u, at) => at.map(props.axis) },
    series: [
      {},
      ...drawn.map(
        (one): uPlot.Series => ({
          label: one.shown.name,
          show: !view().hidden.has(one.shown.place),
          stroke: () => color(one, 1),
          width: 1.6,
          dash: DASHES[one.shown.dash % DASHES.length] ?? [],
          spanGaps: true,
          points: { show: clients.length <= 60, size: 4, width: 0, fill: () => color(one, 1) },
        }),
      ),
    ],
    hooks: { setSelect: [dragged(view)], drawClear: [ground], drawAxes: [under], draw: [falls] },
  };
}
