/** Latency: the percentile curve and the table p50 … max of one class of statements. */

import uPlot from "uplot";
import { lookOf, named, swatch, variantName, type Context } from "./context";
import type { Latency, Percentiles, Step } from "./data";
import { h } from "./dom";
import { axisDuration, duration, durationUnit, figures, grouped, percentileName, NOTHING } from "./format";
import type { Drawing, Inspection, PlotGroup } from "./group";
import { AXIS_FONT, ink } from "./ink";
import { faded } from "./theme";
import { hideTip, showTipAt } from "./tip";

/** Where "max" stands beyond the last percentile, in decades of the remaining share. */
const MAX_GAP = 0.75;

/** Position of a percentile: 0 → 0, 90 → 1, 99 → 2, 99.9 → 3. The tail gets the room that it matters. */
export function percentilePosition(percentile: number): number {
  return -Math.log10(Math.max(1e-12, 1 - Math.max(0, percentile) / 100));
}

/** Curves on one x axis: positions, the percentile of each, and a value per curve, null where it has none. */
export function alignPercentiles(curves: readonly (readonly [number, number][])[]): { x: number[]; percentiles: number[]; values: (number | null)[][] } {
  const below = [...new Set(curves.flatMap((curve) => curve.map(([percentile]) => percentile)).filter((percentile) => percentile < 100))].sort((a, b) => a - b);
  const end = Math.ceil((below.length > 0 ? percentilePosition(below[below.length - 1] ?? 0) : 0) * 2 - 1e-9) / 2 + MAX_GAP;
  const withMax = curves.some((curve) => curve.some(([percentile]) => percentile >= 100));
  const percentiles = withMax ? [...below, 100] : below;
  const values = curves.map((curve) => {
    const by = new Map(curve.map(([percentile, us]) => [Math.min(100, percentile), us]));
    return percentiles.map((percentile) => by.get(percentile) ?? null);
  });
  return { x: percentiles.map((percentile) => (percentile >= 100 ? end : percentilePosition(percentile))), percentiles, values };
}

/** The names of ticks, from the maximum down, without those that would touch the one kept before. */
function roomy(u: uPlot, splits: number[], names: string[]): string[] {
  let edge = Infinity;
  return splits
    .map((split, index): string => {
      const position = splits.length - 1 - index;
      const name = names[position] ?? "";
      const half = name.length * 3.2;
      const centre = u.valToPos(splits[position] ?? split, "x");
      if (centre + half > edge) return "";
      edge = centre - half - 6;
      return name;
    })
    .reverse();
}

/** Of the ticks of a logarithmic axis the powers of ten; where that leaves few, twice and five times those too. */
function round(u: uPlot, ticks: number[]): (number | null)[] {
  const { min, max } = u.scales["y"] ?? {};
  const decades = Math.log10((max ?? 10) / (min ?? 1));
  const leading = decades < 2 ? /^[125]e/ : /^1e/;
  return ticks.map((us) => (leading.test(Number(us.toPrecision(3)).toExponential()) ? us : null));
}

/** A curve of latency percentiles, one line per variant. */
class PercentilePlot implements Drawing {
  readonly element: HTMLElement;
  readonly id: string;
  private readonly plot: uPlot;
  private readonly aligned: ReturnType<typeof alignPercentiles>;

  constructor(
    private readonly context: Context,
    private readonly group: PlotGroup,
    private readonly curves: Percentiles[],
    kind: string,
    width: number,
  ) {
    this.id = `percentiles.${kind}`;
    this.aligned = alignPercentiles(curves.map((curve) => curve.points));
    const holder = h("div", { class: "canvas", role: "img", "aria-label": `Latency of ${kind} statements by percentile; the table below has the figures` });
    this.element = h("figure", { class: "plot", "data-plot": this.id }, h("figcaption", {}, h("span", { class: "name" }, "Latency by percentile"), h("span", { class: "unit" }, "log–log")), holder);
    this.plot = new uPlot(this.plotOptions(width), [this.aligned.x, ...this.aligned.values] as uPlot.AlignedData, holder);
    holder.addEventListener("mouseleave", hideTip);
    group.add(this);
  }

  private plotOptions(width: number): uPlot.Options {
    const grid = { stroke: () => ink("grid"), width: 1 };
    const axis = { stroke: () => ink("axis"), font: AXIS_FONT, grid, ticks: { show: false } };
    const { x, percentiles } = this.aligned;
    const last = x[x.length - 1] ?? 1;
    const named = [50, 90, 99, 99.9, 99.99, 99.999].filter((percentile) => percentile <= (percentiles.filter((one) => one < 100).pop() ?? 0) + 1e-9);
    const splits = [...named.map(percentilePosition), ...(percentiles.includes(100) ? [last] : [])];
    const names = [...named.map((percentile) => `p${percentileName(percentile)}`), ...(percentiles.includes(100) ? ["max"] : [])];
    return {
      width,
      height: 210,
      padding: [8, 16, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 6 }, y: false },
      scales: {
        x: { time: false, range: () => [Math.min(x[0] ?? 0, percentilePosition(50)), last] },
        y: { distr: 3, log: 10 },
      },
      axes: [
        { ...axis, splits: () => splits, values: (u) => roomy(u, splits, names), size: 26, gap: 5 },
        { ...axis, grid: { ...grid, filter: round }, filter: round, size: 54, gap: 6, space: 26, values: (_u, ticks) => ticks.map((us) => (us === null || us === undefined ? "" : axisDuration(us))) },
      ],
      series: [
        {},
        ...this.curves.map((curve): uPlot.Series => ({
          label: variantName(this.context, curve.variant),
          show: !this.group.hidden.has(curve.variant),
          stroke: () => faded(lookOf(this.context, curve.variant).colour, this.group.focus === null || this.group.focus === curve.variant ? 1 : 0.15),
          width: 1.5,
          dash: lookOf(this.context, curve.variant).dash,
          spanGaps: true,
          points: { show: false },
        })),
      ],
      hooks: {
        setCursor: [
          (u) => {
            const { idx, event } = u.cursor;
            if (idx === null || idx === undefined || !event || (u.cursor.left ?? -1) < 0) return hideTip();
            showTipAt(event.clientX, event.clientY, this.tip(idx));
          },
        ],
      },
    };
  }

  private tip(index: number): HTMLElement[] {
    const percentile = this.aligned.percentiles[index] ?? 0;
    return [
      h("div", { class: "tip-title" }, percentile >= 100 ? "maximum" : `percentile ${percentileName(percentile)}`),
      h(
        "table",
        {},
        h(
          "tbody",
          {},
          this.curves.map((curve, position) => !this.group.hidden.has(curve.variant) && h("tr", {}, h("th", { scope: "row" }, swatch(this.context, curve.variant), variantName(this.context, curve.variant)), h("td", {}, duration(this.aligned.values[position]?.[index])))),
        ),
      ),
    ];
  }

  restyle(): void {
    this.plot.batch(() => {
      this.curves.forEach((curve, index) => {
        const show = !this.group.hidden.has(curve.variant);
        if (this.plot.series[index + 1]?.show !== show) this.plot.setSeries(index + 1, { show }, false);
      });
      this.plot.redraw(false);
    });
  }

  resize(width: number): void {
    const wanted = this.width(width);
    if (wanted > 0 && wanted !== this.plot.width) this.plot.setSize({ width: wanted, height: this.plot.height });
  }

  /** The room that the layout leaves for the curve, which stands beside its table where there is room for both. */
  private width(fallback: number): number {
    return this.element.clientWidth || fallback;
  }

  inspect(): Inspection {
    const x = this.plot.scales["x"];
    return {
      plot: this.id,
      x: [x?.min ?? NaN, x?.max ?? NaN],
      series: this.curves.map((curve, index) => ({ name: variantName(this.context, curve.variant), block: null, visible: this.plot.series[index + 1]?.show ?? false, points: curve.points.length })),
    };
  }

  destroy(): void {
    this.group.remove(this);
    this.plot.destroy();
    this.element.remove();
  }
}

const COLUMNS: [string, keyof Pick<Latency, "mean" | "p50" | "p90" | "p95" | "p99" | "p999" | "max">][] = [
  ["mean", "mean"],
  ["p50", "p50"],
  ["p90", "p90"],
  ["p95", "p95"],
  ["p99", "p99"],
  ["p99.9", "p999"],
  ["max", "max"],
];

/** Every column in one unit of its own, so that its figures can be compared at a glance. */
function latencyTable(context: Context, rows: Latency[], kind: string): HTMLElement {
  const units = COLUMNS.map(([, key]) => durationUnit(Math.min(...rows.map((row) => row[key]).filter((us) => Number.isFinite(us) && us > 0))));
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `Latency of ${kind} statements` },
    h(
      "table",
      { class: "data latency" },
      h(
        "thead",
        {},
        h("tr", {}, h("th", { scope: "col", class: "label" }, "Variant"), COLUMNS.map(([name], index) => h("th", { scope: "col" }, name, " ", h("span", { class: "minor" }, units[index]?.[1] ?? ""))), h("th", { scope: "col" }, "count")),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            { "data-kind": row.variant === context.base ? "base" : undefined },
            h("th", { scope: "row" }, named(context, row.variant)),
            COLUMNS.map(([, key], index) => h("td", {}, scaled(row[key], units[index]?.[0] ?? 1))),
            h("td", {}, grouped(row.count)),
          ),
        ),
      ),
    ),
  );
}

/** Three significant digits, but never fewer than the whole part has: 1234 ms stays 1234. */
function scaled(us: number | null | undefined, divisor: number): string {
  if (us === null || us === undefined || !Number.isFinite(us)) return NOTHING;
  const value = us / divisor;
  return value >= 1000 ? grouped(value) : figures(value);
}

/** Curve and table for every class of statements that the step has; `built` receives the plots. */
export function latencySection(context: Context, step: Step, group: PlotGroup, width: number): HTMLElement | null {
  const kinds = [...new Set([...step.latency.map((one) => one.class), ...step.percentiles.map((one) => one.class)])];
  if (kinds.length === 0) return null;
  return h(
    "div",
    { class: "latencies" },
    kinds.map((kind) => {
      const rows = step.latency.filter((one) => one.class === kind).sort((a, b) => a.variant - b.variant);
      const curves = step.percentiles.filter((one) => one.class === kind && one.points.length > 1).sort((a, b) => a.variant - b.variant);
      return h(
        "div",
        { class: "latency-class", "data-class": kind },
        h("h4", {}, `Latency: ${kind}`, h("span", { class: "minor" }, kind === "insert" || kind === "delete" ? " per statement, all blocks together" : " all blocks together")),
        curves.length > 0 && new PercentilePlot(context, group, curves, kind, Math.min(width, 640)).element,
        rows.length > 0 && latencyTable(context, rows, kind),
      );
    }),
  );
}
