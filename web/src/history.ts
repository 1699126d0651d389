/** Results over versions, commits or dates: a plot per step with its trials, their medians, levels and change points. */

import uPlot from "uplot";
import { lookOf, swatch, type Context } from "./context";
import type { History, HistoryChange, HistoryLine, HistoryStep } from "./data";
import { h } from "./dom";
import { axisValue, change as changeText, count, moment, ratio, short } from "./format";
import { AXIS_FONT, ink } from "./ink";
import { faded, onTheme } from "./theme";
import { hideTip, showTipAt } from "./tip";

const HEIGHT = 236;
const Y_AXIS = 54;
const X_AXIS = 26;
/** Room above the plot for what is written at change points, in CSS pixels: a line for each that stands there. */
const LABEL = 15;

/** A line with its step: what one plot shows of it. */
interface Followed {
  line: HistoryLine;
  step: HistoryStep;
  /** Which variant's colour it has. */
  look: number;
}

/** One plot: a step of all lines that share workload and machine. */
interface Panel {
  name: string;
  dop: number;
  unit: string;
  place: string;
  followed: Followed[];
  /** Places of runs with points, in order: the axis. */
  runs: number[];
}

/** What is drawn, for tests and for the console. */
export interface HistoryInspection {
  step: string;
  dop: number;
  runs: string[];
  lines: { name: string; points: number; trials: number; levels: number }[];
  changes: { line: string; at: string; text: string }[];
}

/** The plots of a history; lines of one step share a plot where workload and machine are the same. */
function panels(context: Context, history: History): Panel[] {
  const found = new Map<string, Panel>();
  const several = new Set(history.lines.map((line) => `${line.workload}\n${line.machine}`)).size > 1;
  // Lines called like a variant have its colour, others the colours behind those.
  let next = history.lines.length > 1 ? context.page.variants.length : context.base;
  const looks = new Map<string, number>();
  for (const line of history.lines) {
    if (looks.has(line.line)) continue;
    const variant = context.page.variants.findIndex((one) => one.name === line.line);
    looks.set(line.line, variant >= 0 ? variant : next++);
  }
  for (const line of history.lines) {
    for (const step of line.steps) {
      const key = [line.workload, line.machine, step.name, step.dop].join("\n");
      const panel = found.get(key) ?? { name: step.name, dop: step.dop, unit: step.unit, place: several ? `${line.workload}, ${line.machine}` : "", followed: [], runs: [] };
      panel.followed.push({ line, step, look: looks.get(line.line) ?? 0 });
      found.set(key, panel);
    }
  }
  for (const panel of found.values()) {
    const places = new Set(panel.followed.flatMap(({ step }) => step.points.map((point) => point.run)));
    panel.runs = [...places].sort((a, b) => a - b);
  }
  return [...found.values()];
}

/** Stretches of runs between change points, with the geometric mean of their trials. */
export function levels(step: HistoryStep): { from: number; to: number; value: number }[] {
  const cuts = step.changes.map((change) => change.run);
  const found: { from: number; to: number; logs: number[] }[] = [];
  for (const point of step.points) {
    const last = found[found.length - 1];
    const stretch = last && !cuts.includes(point.run) ? last : { from: point.run, to: point.run, logs: [] };
    if (stretch !== last) found.push(stretch);
    stretch.to = point.run;
    stretch.logs.push(...point.trials.filter((value) => value > 0).map(Math.log));
  }
  return found.flatMap(({ from, to, logs }) => (logs.length > 0 ? [{ from, to, value: Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length) }] : []));
}

function labelFont(pixel: number, bold: boolean): string {
  return `${bold ? "600 " : ""}${11 * pixel}px ${AXIS_FONT.replace(/^\S+ /, "")}`;
}

function intervalText(change: HistoryChange): string {
  return `${changeText(change.low)} to ${changeText(change.high)}`;
}

class HistoryPlot {
  readonly element: HTMLElement;
  private readonly holder: HTMLElement;
  private readonly changes: { followed: Followed; change: HistoryChange; lane: number }[] = [];
  private plot: uPlot | null = null;

  constructor(
    private readonly context: Context,
    private readonly history: History,
    readonly panel: Panel,
    several: boolean,
  ) {
    const { name, dop, unit, place, followed } = panel;
    for (const one of followed) {
      for (const change of one.step.changes) {
        const lane = this.changes.filter((other) => Math.abs(this.at(other.change) - this.at(change)) < panel.runs.length / 4).length;
        this.changes.push({ followed: one, change, lane });
      }
    }
    const said = this.changes.map(({ change }) => change.sentence);
    this.holder = h("div", { class: "canvas", role: "img", "aria-label": `${name} by ${history.order}, ${count(panel.runs.length, "run")}. ${said.length > 0 ? said.join(". ") : "No change point"}.` });
    const doubtful = followed.flatMap(({ step }) => step.doubtful);
    const metric = history.metric === "o/s" ? `${unit}/s` : history.metric;
    this.element = h(
      "section",
      { class: "history-step", "data-step": name, "data-dop": dop, "aria-label": `History of ${name}` },
      h("div", { class: "history-head" }, h("h3", {}, name, several && h("span", { class: "minor" }, ` dop ${dop}`)), h("span", { class: "unit" }, metric), place !== "" && h("span", { class: "minor" }, place), followed.length > 1 && h("span", { class: "history-lines" }, followed.map(({ line, look }) => h("span", { class: "value" }, swatch(context, look), line.line)))),
      this.holder,
      said.length > 0 && h("ul", { class: "legend changes" }, this.changes.map(({ followed: { look }, change }) => h("li", {}, followed.length > 1 && swatch(context, look), change.sentence))),
      doubtful.length > 0 && h("details", { class: "doubtful" }, h("summary", {}, `${count(doubtful.length, "change")} in doubt`), h("p", { class: "minor" }, "Noise that wanders like this history does as much by itself."), h("ul", { class: "legend" }, doubtful.map((change) => h("li", {}, change.sentence)))),
    );
  }

  /** Where on the axis a change stands: between the last run before it and the first after it. */
  private at(change: HistoryChange): number {
    const { runs } = this.panel;
    return (runs.indexOf(change.before[1]) + runs.indexOf(change.run)) / 2;
  }

  build(): void {
    if (this.plot) return;
    const { runs, followed } = this.panel;
    const medians = followed.map(({ step }) => {
      const byRun = new Map(step.points.map((point) => [point.run, point.median]));
      return runs.map((run) => byRun.get(run) ?? null);
    });
    const data = [runs.map((_, place) => place), ...medians] as uPlot.AlignedData;
    this.plot = new uPlot(this.options(this.holder.clientWidth), data, this.holder);
    this.plot.over.addEventListener("mouseleave", hideTip);
    new ResizeObserver(() => {
      const width = this.holder.clientWidth;
      if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
    }).observe(this.holder);
    onTheme(() => this.plot?.redraw(false));
  }

  private options(width: number): uPlot.Options {
    const { panel, context, history } = this;
    const lanes = Math.max(0, ...this.changes.map(({ lane }) => lane + 1));
    const values = panel.followed.flatMap(({ step }) => step.points.flatMap((point) => [...point.trials, point.median])).filter(Number.isFinite);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const air = high > low ? (high - low) * 0.08 : Math.abs(high) * 0.05 || 1;
    const names = panel.runs.map((run) => history.runs[run]?.name ?? "?");
    const grid = { stroke: () => ink("grid"), width: 1 };
    const last = panel.runs.length - 1;
    return {
      width,
      height: HEIGHT + lanes * LABEL,
      padding: [8 + lanes * LABEL, 16, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
      scales: {
        x: { time: false, range: () => [-0.5, last + 0.5] },
        y: { range: () => [low >= 0 ? Math.max(0, low - air) : low - air, high + air] },
      },
      axes: [
        {
          stroke: () => ink("axis"),
          font: AXIS_FONT,
          grid: { show: false },
          ticks: { show: false },
          gap: 6,
          size: X_AXIS,
          // Names may not touch: about 7 pixels a letter.
          splits: (u) => {
            const room = (u.bbox.width / uPlot.pxRatio / (last + 1)) * 0.95;
            const widest = Math.max(...names.map((name) => name.length)) * 6.6 + 8;
            const stride = Math.max(1, Math.ceil(widest / room));
            return names.map((_, place) => place).filter((place) => place % stride === 0);
          },
          values: (_u, splits) => splits.map((place) => names[place] ?? ""),
        },
        { stroke: () => ink("axis"), font: AXIS_FONT, grid, ticks: { show: false }, gap: 6, size: Y_AXIS, space: 26, values: (_u, splits) => splits.map((value) => axisValue(value, "")) },
      ],
      series: [
        {},
        ...panel.followed.map(
          ({ look }): uPlot.Series => ({
            stroke: () => faded(lookOf(context, look).colour, 0.5),
            width: 1,
            spanGaps: true,
            dash: lookOf(context, look).dash,
            points: { show: true, size: 7, width: 1, fill: () => lookOf(context, look).colour, stroke: () => lookOf(context, look).colour },
          }),
        ),
      ],
      hooks: { drawAxes: [(u) => this.under(u)], draw: [(u) => this.over(u)], setCursor: [(u) => this.hover(u)] },
    };
  }

  /** Single trials and levels, under the medians. */
  private under(u: uPlot): void {
    const pixel = uPlot.pxRatio;
    const { runs, followed } = this.panel;
    const { ctx } = u;
    ctx.save();
    for (const { step, look } of followed) {
      const { colour } = lookOf(this.context, look);
      ctx.strokeStyle = faded(colour, 0.28);
      ctx.lineWidth = 5 * pixel;
      if (step.changes.length > 0) {
        for (const { from, to, value } of levels(step)) {
          const y = u.valToPos(value, "y", true);
          ctx.beginPath();
          ctx.moveTo(u.valToPos(runs.indexOf(from) - 0.4, "x", true), y);
          ctx.lineTo(u.valToPos(runs.indexOf(to) + 0.4, "x", true), y);
          ctx.stroke();
        }
      }
      ctx.fillStyle = faded(colour, 0.45);
      for (const point of step.points) {
        const x = u.valToPos(runs.indexOf(point.run), "x", true);
        for (const value of point.trials) {
          ctx.beginPath();
          ctx.arc(x, u.valToPos(value, "y", true), 2 * pixel, 0, 2 * Math.PI);
          ctx.fill();
        }
      }
    }
    ctx.restore();
  }

  /** Change points: a line through the plot, its size and interval above. */
  private over(u: uPlot): void {
    const pixel = uPlot.pxRatio;
    const { ctx, bbox } = u;
    const baseline = (lane: number): number => bbox.top - (5 + lane * LABEL) * pixel;
    ctx.save();
    ctx.lineWidth = pixel;
    ctx.setLineDash([4 * pixel, 3 * pixel]);
    for (const { followed, change, lane } of this.changes) {
      const x = Math.round(u.valToPos(this.at(change), "x", true));
      ctx.strokeStyle = lookOf(this.context, followed.look).colour;
      ctx.beginPath();
      ctx.moveTo(x, baseline(lane) + 3 * pixel);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.setLineDash([]);
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    const paper = getComputedStyle(document.documentElement).getPropertyValue("--bg").trim();
    for (const { followed, change, lane } of this.changes) {
      const parts: [string, boolean, string][] = [
        [change.ratio < 1 ? "▼ " : "▲ ", true, lookOf(this.context, followed.look).colour],
        [changeText(change.ratio), true, ink("text")],
        [`  ${intervalText(change)}`, false, ink("minor")],
      ];
      const widths = parts.map(([text, bold]) => {
        ctx.font = labelFont(pixel, bold);
        return ctx.measureText(text).width;
      });
      const whole = widths.reduce((sum, width) => sum + width, 0);
      const x = u.valToPos(this.at(change), "x", true);
      let left = Math.min(Math.max(bbox.left, x - whole / 2), bbox.left + bbox.width - whole);
      // Lines of changes written higher up pass behind the words.
      ctx.fillStyle = paper;
      ctx.fillRect(left - 2 * pixel, baseline(lane) - 11 * pixel, whole + 4 * pixel, 14 * pixel);
      parts.forEach(([text, bold, colour], index) => {
        ctx.font = labelFont(pixel, bold);
        ctx.fillStyle = colour;
        ctx.fillText(text, left, baseline(lane));
        left += widths[index] ?? 0;
      });
    }
    ctx.restore();
  }

  private hover(u: uPlot): void {
    const place = u.cursor.idx;
    const event = u.cursor.event;
    if (!event || place === null || place === undefined || (u.cursor.left ?? -1) < 0) {
      hideTip();
      return;
    }
    const number = this.panel.runs[place];
    const run = number === undefined ? undefined : this.history.runs[number];
    if (!run) return;
    const rows = this.panel.followed.flatMap(({ line, step, look }) => {
      const point = step.points.find((one) => one.run === number);
      return point ? [h("tr", {}, h("th", { scope: "row" }, swatch(this.context, look), line.line, point.versions.some((version) => version !== run.name) && h("span", { class: "minor" }, ` ${point.versions.join(", ")}`)), h("td", {}, short(point.median)), h("td", {}, ratio(point.relative)), h("td", {}, count(point.trials.length, "trial")))] : [];
    });
    showTipAt(event.clientX, event.clientY, h("div", { class: "tip-title" }, run.name, h("span", { class: "minor" }, ` · ${moment(run.started)}`)), h("table", { class: "spaced" }, h("tbody", {}, rows)));
  }

  inspect(): HistoryInspection {
    const { name, dop, runs, followed } = this.panel;
    const runName = (run: number): string => this.history.runs[run]?.name ?? "?";
    return {
      step: name,
      dop,
      runs: runs.map(runName),
      lines: followed.map(({ line, step }) => ({ name: line.line, points: step.points.length, trials: step.points.reduce((sum, point) => sum + point.trials.length, 0), levels: levels(step).length })),
      changes: this.changes.map(({ followed: { line }, change }) => ({ line: line.line, at: `${runName(change.before[1])} → ${runName(change.run)}`, text: `${changeText(change.ratio)} ${intervalText(change)}` })),
    };
  }

  get built(): boolean {
    return this.plot !== null;
  }
}

const RUNS: Record<string, string> = { version: "a version of the DBMS", date: "an experiment", commit: "a commit" };

/** The section, or nothing where the report has no history; and a way to see what its plots draw. */
export function historySection(context: Context): { element: HTMLElement | null; inspect: () => HistoryInspection[] } {
  const { history } = context.page;
  if (!history) return { element: null, inspect: () => [] };
  const found = panels(context, history);
  const several = found.some((panel) => panel.dop !== found[0]?.dop);
  const plots = found.map((panel) => new HistoryPlot(context, history, panel, several));
  const byElement = new Map(plots.map((plot) => [plot.element as Element, plot]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) byElement.get(entry.target)?.build();
    },
    { rootMargin: "300px 0px" },
  );
  for (const plot of plots) observer.observe(plot.element);
  window.addEventListener("beforeprint", () => plots.forEach((plot) => plot.build()));
  const changes = plots.reduce((sum, plot) => sum + plot.inspect().changes.length, 0);
  const element = h(
    "section",
    { id: "history", "aria-labelledby": "history-title" },
    h("h2", { id: "history-title" }, `History by ${history.order}`),
    h("p", { class: "note" }, `Small dots are trials, large ones their median; a run is ${RUNS[history.order] ?? "a point of it"}. The y axes do not start at 0. ${changes === 0 ? "No change point was found." : `${count(changes, "change point")} (E-divisive): a dashed line between two runs, above it the size with its 95% interval; bars are the levels between.`}`),
    history.notes.length > 0 && h("ul", { class: "legend strong" }, history.notes.map((note) => h("li", {}, note))),
    h("div", { class: "history-plots" }, plots.map((plot) => plot.element)),
  );
  return { element, inspect: () => plots.filter((plot) => plot.built).map((plot) => plot.inspect()) };
}
