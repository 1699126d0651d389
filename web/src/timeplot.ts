/** One figure over the seconds of a step, a line per variant (and block), with stalls shaded. */

import uPlot from "uplot";
import { isolated, stallBands, type BlockChoice, type Figure, type Line } from "./align";
import { lookOf, swatch, variantName, type Context } from "./context";
import type { Step, Trial } from "./data";
import { h, replace } from "./dom";
import { axisValue, headingUnit, withUnit, NOTHING } from "./format";
import type { Inspection, PlotGroup, TimeDrawing } from "./group";
import { AXIS_FONT, ink } from "./ink";
import { faded } from "./theme";
import { hideTip, showTipAt } from "./tip";

/** Width of the y axis of every plot, so that their seconds stand under each other. */
const Y_AXIS = 54;
const X_AXIS = 26;
/** Room above every plot for the ticks that mark stalls, in CSS pixels, shared by the variants that stalled. */
const STALL_ROOM = 10;

const SECONDS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];

/** The y axis for values from `min` to `max`: from zero, or with a little air on both sides. */
export function yRange(min: number | null, max: number | null, target: number | undefined, fromZero: boolean): [number, number] {
  const top = Math.max(max ?? 0, target ?? -Infinity);
  const bottom = Math.min(min ?? 0, target ?? Infinity);
  if (fromZero || top <= bottom) return [Math.min(0, bottom), top > 0 ? top * 1.04 : 1];
  const air = (top - bottom) * 0.06;
  return [bottom >= 0 ? Math.max(0, bottom - air) : bottom - air, top + air];
}

/** Distances of ticks that are round in KB, MB, GB and TB. */
const ROUND_BYTES = [1, 1024, 1024 ** 2, 1024 ** 3].flatMap((unit) => [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * unit));

export interface TimePlotOptions {
  context: Context;
  step: Step;
  group: PlotGroup;
  figure: Figure;
  lines: Line[];
  trials: Trial[];
  block: BlockChoice;
  height: number;
  width: number;
  /** Whether the seconds are written under this plot. */
  labelled: boolean;
  /** A rate that was wanted, drawn as a dashed line. */
  target?: number | undefined;
}

/** The plot and its element. */
export class TimePlot implements TimeDrawing {
  readonly element: HTMLElement;
  readonly id: string;
  private readonly plot: uPlot;
  private readonly readout = h("span", { class: "readout" });
  private readonly order: Line[];

  constructor(private readonly options: TimePlotOptions) {
    const { figure, group, context } = options;
    this.id = figure.id;
    // The base first, so that its line lies under those that are compared with it.
    this.order = [...options.lines].sort((a, b) => Number(b.variant === context.base) - Number(a.variant === context.base));
    const holder = h("div", {
      class: "canvas",
      tabindex: 0,
      role: "group",
      "aria-label": `${figure.label} over time. Arrow keys move the cursor, plus and minus zoom, 0 shows everything.`,
    });
    this.element = h(
      "figure",
      { class: "plot", "data-plot": figure.id },
      h("figcaption", {}, h("span", { class: "name" }, figure.label), h("span", { class: "unit" }, headingUnit(figure.unit)), this.readout),
      holder,
    );
    this.plot = new uPlot(this.plotOptions(), this.data(), holder);
    holder.addEventListener("keydown", (event) => this.key(event));
    holder.addEventListener("mouseleave", () => this.leave());
    holder.addEventListener("blur", () => this.leave());
    this.plot.over.addEventListener("dblclick", () => group.reset());
    group.addTimed(this);
    if (group.zoomed()) this.plot.setScale("x", { min: group.range[0], max: group.range[1] });
    this.showCursor(group.cursor);
  }

  private data(): uPlot.AlignedData {
    const seconds = Array.from({ length: this.options.group.length }, (_, second) => second);
    return [seconds, ...this.order.map((line) => line.values)] as uPlot.AlignedData;
  }

  private plotOptions(): uPlot.Options {
    const { context, group, block, labelled, target, figure } = this.options;
    const many = block === "all";
    const grid = { stroke: () => ink("grid"), width: 1 };
    const ticks = { show: false };
    return {
      width: this.options.width,
      height: this.options.height + (labelled ? X_AXIS : 6),
      padding: [STALL_ROOM + 2, 18, 0, 0],
      legend: { show: false },
      cursor: {
        points: { size: 6, show: !many },
        drag: { x: true, y: false, dist: 5, setScale: false },
        y: false,
      },
      scales: {
        // A single second would get an axis of 100 from the library.
        x: { time: false, range: (_u, min, max) => (group.length > 1 ? (max > min ? [min, max] : [min - 0.5, max + 0.5]) : group.full()) },
        y: {
          range: (_u, min, max) => {
            return yRange(min, max, target, group.fromZero);
          },
        },
      },
      axes: [
        {
          stroke: () => ink("axis"),
          font: AXIS_FONT,
          grid,
          ticks,
          gap: 5,
          size: labelled ? X_AXIS : 6,
          incrs: SECONDS,
          space: 60,
          values: (_u, splits) => splits.map((second) => (labelled ? `${second} s` : "")),
        },
        {
          stroke: () => ink("axis"),
          font: AXIS_FONT,
          grid,
          ticks,
          gap: 6,
          size: Y_AXIS,
          space: 24,
          ...(/^[KMG]B/.test(figure.unit) ? { incrs: ROUND_BYTES } : {}),
          values: (_u, splits) => splits.map((value) => (axisValue(value, figure.unit))),
        },
      ],
      series: [
        {},
        ...this.order.map((line): uPlot.Series => {
          const width = many ? 0.9 : 1.5;
          return {
            label: variantName(context, line.variant),
            show: !group.hidden.has(line.variant),
            stroke: () => this.stroke(line.variant, many ? 0.6 : 1),
            width,
            dash: lookOf(context, line.variant).dash,
            points: {
              size: 5,
              show: true,
              fill: () => this.stroke(line.variant, 1),
              filter: (u, index) => isolated(u.data[index] as (number | null)[]),
            },
          };
        }),
      ],
      hooks: {
        setSelect: [(u) => this.select(u)],
        setCursor: [(u) => this.cursorMoved(u)],
        drawClear: [(u) => this.shade(u)],
        draw: [(u) => this.overlay(u)],
      },
    };
  }

  private stroke(variant: number, opacity: number): string {
    const { focus } = this.options.group;
    const { colour } = lookOf(this.options.context, variant);
    return faded(colour, focus === null || focus === variant ? opacity : 0.15);
  }

  /** Stalls as bands behind the lines; in the view of all blocks there would be too many, so ticks alone. */
  private shade(u: uPlot): void {
    if (this.options.block === "all") return;
    this.eachStall(u, (left, width, variant) => {
      u.ctx.fillStyle = faded(lookOf(this.options.context, variant).colour, 0.13);
      u.ctx.fillRect(left, u.bbox.top, width, u.bbox.height);
    });
  }

  /** Ticks of stalls above the plot, a lane per variant so that none hides another, and the rate that was wanted. */
  private overlay(u: uPlot): void {
    const pixel = uPlot.pxRatio;
    const lanes = [...new Set(this.options.trials.filter((trial) => trial.stalls.length > 0).map((trial) => trial.variant))];
    const height = Math.min(4, STALL_ROOM / Math.max(1, lanes.length));
    this.eachStall(u, (left, width, variant) => {
      u.ctx.fillStyle = lookOf(this.options.context, variant).colour;
      const top = u.bbox.top - (1 + (lanes.indexOf(variant) + 1) * height) * pixel;
      u.ctx.fillRect(left, top, Math.max(2 * pixel, width), Math.max(1, height * 0.85) * pixel);
    });
    const { target } = this.options;
    if (target !== undefined) {
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
    }
  }

  private eachStall(u: uPlot, paint: (left: number, width: number, variant: number) => void): void {
    const { group, trials } = this.options;
    const [min, max] = [u.scales["x"]?.min ?? 0, u.scales["x"]?.max ?? 0];
    for (const trial of trials) {
      if (group.hidden.has(trial.variant)) continue;
      for (const [from, to] of stallBands(trial.stalls, min, max)) {
        const left = u.valToPos(from, "x", true);
        paint(left, Math.max(1, u.valToPos(to, "x", true) - left), trial.variant);
      }
    }
  }

  private select(u: uPlot): void {
    const { left, width } = u.select;
    if (width > 0) {
      this.options.group.setRange(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }
  }

  private cursorMoved(u: uPlot): void {
    if (u.cursor.event === undefined || u.cursor.event === null) return;
    const index = u.cursor.idx;
    if (index === null || index === undefined || (u.cursor.left ?? -1) < 0) {
      this.leave();
      return;
    }
    this.options.group.setCursor(index);
    const event = u.cursor.event;
    showTipAt(event.clientX, event.clientY, this.tip(index));
  }

  private leave(): void {
    hideTip();
    this.options.group.setCursor(null);
  }

  /** Values of every shown variant at a second; over all blocks, the lowest and the highest. */
  private at(second: number): { variant: number; text: string }[] {
    const { context, group, figure } = this.options;
    return context.page.variants.flatMap((_, variant) => {
      if (group.hidden.has(variant)) return [];
      const values = this.order.filter((line) => line.variant === variant).map((line) => line.values[second]);
      if (values.length === 0) return [];
      const known = values.filter((value): value is number => value !== null && value !== undefined);
      if (known.length === 0) return [{ variant, text: NOTHING }];
      const least = Math.min(...known);
      const most = Math.max(...known);
      return [{ variant, text: known.length === 1 ? withUnit(least, figure.unit) : `${withUnit(least, figure.unit)} … ${withUnit(most, figure.unit)}` }];
    });
  }

  private tip(second: number): HTMLElement[] {
    const { context, figure } = this.options;
    return [
      h("div", { class: "tip-title" }, `second ${second}`, h("span", { class: "minor" }, ` · ${figure.label}`)),
      h("table", {}, h("tbody", {}, this.at(second).map(({ variant, text }) => h("tr", {}, h("th", { scope: "row" }, swatch(context, variant), variantName(context, variant)), h("td", {}, text))))),
    ];
  }

  private key(event: KeyboardEvent): void {
    const { group } = this.options;
    const [low, high] = group.range;
    const move = (by: number): void => {
      const from = group.cursor ?? (by > 0 ? Math.ceil(low) - 1 : Math.floor(high) + 1);
      group.setCursor(Math.min(Math.floor(high), Math.max(Math.ceil(low), from + by)));
    };
    const stride = Math.max(1, Math.round((high - low) / 20));
    const actions: Record<string, () => void> = {
      ArrowLeft: () => move(event.shiftKey ? -stride : -1),
      ArrowRight: () => move(event.shiftKey ? stride : 1),
      "+": () => group.zoom(0.5),
      "=": () => group.zoom(0.5),
      "-": () => group.zoom(2),
      "0": () => group.reset(),
      Escape: () => group.reset(),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  showRange(min: number, max: number): void {
    this.plot.setScale("x", { min, max });
  }

  showCursor(second: number | null): void {
    if (second === null) {
      this.plot.setCursor({ left: -10, top: -10 }, false);
      replace(this.readout);
      return;
    }
    this.plot.setCursor({ left: this.plot.valToPos(second, "x"), top: 0 }, false);
    replace(
      this.readout,
      this.at(second).map(({ variant, text }) => h("span", { class: "value" }, swatch(this.options.context, variant), text)),
    );
  }

  restyle(): void {
    const { group } = this.options;
    this.plot.batch(() => {
      this.order.forEach((line, index) => {
        const show = !group.hidden.has(line.variant);
        if (this.plot.series[index + 1]?.show !== show) this.plot.setSeries(index + 1, { show }, false);
      });
      this.plot.redraw(false);
    });
    this.showCursor(group.cursor);
  }

  resize(width: number): void {
    if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
  }

  inspect(): Inspection {
    const x = this.plot.scales["x"];
    return {
      plot: this.id,
      x: [x?.min ?? NaN, x?.max ?? NaN],
      series: this.order.map((line, index) => ({
        name: variantName(this.options.context, line.variant),
        block: line.block,
        visible: this.plot.series[index + 1]?.show ?? false,
        points: line.points,
      })),
    };
  }

  destroy(): void {
    this.options.group.remove(this);
    this.plot.destroy();
    this.element.remove();
  }
}
