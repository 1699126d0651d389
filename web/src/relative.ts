/**
 * Throughput relative to the base as a forest plot: one line per step and variant, a dot with its interval on a
 * logarithmic axis. A table at heart, so it can be read aloud, copied and printed.
 */

import { lookName, swatch, variantName, type Context } from "./context";
import { DEFAULT_MARGIN, stepAnchor, stepLabel, type Relative, type Step, type Verdict } from "./data";
import { append, h, replace, svg } from "./dom";
import { NOTHING, change, count, interval, ratio } from "./format";
import { InSight } from "./insight";
import { labelledTicks, ratioScale, type RatioScale } from "./scale";
import { hideTip, showTip } from "./tip";
import { VERDICTS, verdictMark } from "./verdicts";

interface Entry {
  step: Step;
  relative: Relative;
}

type Order = "run" | "effect";

/** Rows whose marks are drawn at once: as many as a tall window shows. Nobody sees those come. */
const FIRST_ROWS = 50;

function percent(position: number): string {
  return `${(position * 100).toFixed(3)}%`;
}

function backdrop(scale: RatioScale, margin: number): SVGElement[] {
  const from = scale.at(1 - margin);
  const to = scale.at(1 + margin);
  return [
    svg("rect", { class: "margin", x: percent(from), width: percent(to - from), y: 0, height: "100%" }),
    ...scale.ticks.map((tick) => svg("line", { class: tick === 1 ? "one" : "grid", x1: percent(scale.at(tick)), x2: percent(scale.at(tick)), y1: 0, y2: "100%" })),
  ];
}

/** An arrow head where a whisker leaves the axis. */
function clip(position: number, direction: -1 | 1): SVGElement {
  return svg("svg", { x: percent(position), y: "50%", overflow: "visible" }, svg("path", { class: "arrow", d: direction < 0 ? "M0 0L6 -4V4Z" : "M0 0L-6 -4V4Z" }));
}

/** The room of a mark, as large as with the mark in it. */
function markRoom(context: Context, { ratio: value, low, high, variant }: Relative): SVGElement {
  const label = low !== null && high !== null ? `${ratio(value)}, interval ${interval(low, high)}` : "not compared";
  return svg("svg", { class: "forest", role: "img", "aria-label": label, "data-look": lookName(context, variant) });
}

/** Dot, whiskers and grid; the grid alone where there is nothing to judge by. */
function mark({ ratio: value, low, high }: Relative, scale: RatioScale, margin: number): SVGElement[] {
  const whisker: SVGElement[] = [];
  if (value === null) return backdrop(scale, margin);
  if (low !== null && high !== null) {
    const from = scale.at(low);
    const to = scale.at(high);
    whisker.push(svg("line", { class: "whisker", x1: percent(from), x2: percent(to), y1: "50%", y2: "50%" }));
    for (const [limit, position, cut, direction] of [
      [low, from, low < scale.low, -1],
      [high, to, high > scale.high, 1],
    ] as const) {
      if (cut) whisker.push(clip(position, direction));
      else if (Number.isFinite(limit)) whisker.push(svg("svg", { x: percent(position), y: "50%", overflow: "visible" }, svg("line", { class: "whisker", y1: -3.5, y2: 3.5 })));
    }
  }
  return [...backdrop(scale, margin), ...whisker, svg("circle", { class: "dot", cx: percent(scale.at(value)), cy: "50%", r: 4 })];
}

/** What a row says on hover, focus and to a screen reader. */
export function explain(context: Context, relative: Relative): string {
  return relative.sentence || `${variantName(context, relative.variant)}: ${ratio(relative.ratio)} of the base`;
}

interface Row {
  element: HTMLElement;
  /** Draws dot and whiskers, in room that is there from the start. */
  draw: () => void;
}

function row(context: Context, entry: Entry, scale: RatioScale, margin: number, first: boolean, span: number): Row {
  const { relative, step } = entry;
  const room = markRoom(context, relative);
  const text = explain(context, relative);
  const line = h(
    "tr",
    { class: first ? "first" : "", tabindex: -1, "data-step": step.name, "data-dop": step.dop, "data-variant": variantName(context, relative.variant), "data-verdict": relative.verdict, ...(relative.ratio !== null && { "data-compared": "" }) },
    first && h("th", { scope: "rowgroup", rowspan: span, class: "step" }, h("a", { href: `#${stepAnchor(context.page, step)}` }, stepLabel(context.page, step))),
    h("th", { scope: "row", class: "variant" }, swatch(context, relative.variant), h("span", { class: "name" }, variantName(context, relative.variant))),
    h("td", { class: "plot" }, room),
    h("td", { class: "number" }, ratio(relative.ratio)),
    h("td", { class: "number change" }, relative.ratio === null ? NOTHING : change(relative.ratio)),
    h("td", { class: "number range" }, relative.low === null ? h("span", { class: "minor" }, relative.blocks === 1 ? "1 block: too few" : "not compared") : interval(relative.low, relative.high)),
    h("td", { class: "mark" }, verdictMark(relative.verdict), h("span", { class: "offscreen" }, text)),
  );
  const show = (): void => showTip(line, text);
  line.addEventListener("mouseenter", show);
  line.addEventListener("focus", show);
  line.addEventListener("click", show);
  line.addEventListener("mouseleave", hideTip);
  line.addEventListener("blur", hideTip);
  return { element: line, draw: () => append(room, mark(relative, scale, margin)) };
}

function axis(scale: RatioScale): SVGElement {
  const roomy = labelledTicks(scale, 0.075);
  const tight = labelledTicks(scale, 0.2);
  return svg(
    "svg",
    { class: "forest axis", "aria-hidden": "true" },
    scale.ticks.flatMap((tick) => {
      if (!roomy.has(tick)) return [];
      const position = scale.at(tick);
      const anchor = position < 0.03 ? "start" : position > 0.97 ? "end" : "middle";
      return [svg("text", { x: percent(position), y: "62%", "text-anchor": anchor, class: tight.has(tick) ? "" : "roomy" }, tick >= 10 ? String(tick) : tick.toFixed(tick >= 0.1 ? 2 : 3).replace(/(\.\d)0$/, "$1"))];
    }),
  );
}

/** The whole section. */
export function relativeChart(context: Context): HTMLElement {
  const { page } = context;
  const margin = page.experiment.margin ?? DEFAULT_MARGIN;
  const entries: Entry[] = page.steps.flatMap((step) => [...step.relative].sort((a, b) => a.variant - b.variant).map((relative) => ({ step, relative })));
  const section = h("section", { id: "relative", "aria-labelledby": "relative-title" }, h("h2", { id: "relative-title" }, "Relative throughput"));
  if (entries.length === 0) {
    section.append(h("p", { class: "note" }, "No step has been finished by the base and another variant, so there is nothing to compare."));
    return section;
  }
  const scale = ratioScale(entries.map((entry) => entry.relative), margin);
  const wanted = new Set<Verdict>(VERDICTS);
  let order: Order = "run";
  const bodies = h("div", { class: "forest-body" });
  const later = new InSight();

  /** The rows of a step. */
  const body = (group: Entry[], before: number): HTMLElement => {
    const rows = group.map((entry, index) => row(context, entry, scale, margin, index === 0, group.length));
    const element = h("tbody", {}, rows.map((one) => one.element));
    const marks = (): void => rows.forEach((one) => one.draw());
    if (before < FIRST_ROWS) marks();
    else later.add(element, marks);
    return element;
  };

  const draw = (): void => {
    later.clear();
    let before = 0;
    const shown = entries.filter((entry) => wanted.has(entry.relative.verdict));
    const groups: Entry[][] = [];
    if (order === "effect") {
      for (const entry of [...shown].sort((a, b) => (a.relative.ratio ?? 0) - (b.relative.ratio ?? 0))) groups.push([entry]);
    } else {
      for (const entry of shown) {
        const last = groups[groups.length - 1];
        if (last?.[0]?.step === entry.step) last.push(entry);
        else groups.push([entry]);
      }
    }
    replace(
      bodies,
      h(
        "table",
        { class: "relative" },
        h("caption", { class: "offscreen" }, `Throughput relative to ${variantName(context, context.base)}`),
        h(
          "thead",
          {},
          h("tr", {}, h("th", { scope: "col", class: "step" }, "Step"), h("th", { scope: "col", class: "variant" }, "Variant"), h("th", { scope: "col", class: "plot", "aria-label": "Chart" }, axis(scale)), h("th", { scope: "col", class: "number" }, "Ratio"), h("th", { scope: "col", class: "number change" }, "Change"), h("th", { scope: "col", class: "number range" }, "95% interval"), h("th", { scope: "col", class: "mark" }, "Verdict")),
        ),
        groups.map((group) => {
          const element = body(group, before);
          before += group.length;
          return element;
        }),
      ),
      shown.length === 0 && h("p", { class: "note" }, "No comparison has a verdict of the kinds chosen above."),
    );
    bodies.querySelector("tr[data-verdict]")?.setAttribute("tabindex", "0");
  };

  const counts = new Map(VERDICTS.map((verdict) => [verdict, entries.filter((entry) => entry.relative.verdict === verdict).length]));
  const filters = VERDICTS.filter((verdict) => (counts.get(verdict) ?? 0) > 0).map((verdict) => {
    const button = h("button", { type: "button", class: "chip", "aria-pressed": "true", "data-filter": verdict, "aria-label": `Show ${verdict}` }, verdictMark(verdict), h("span", { class: "minor" }, counts.get(verdict)));
    button.addEventListener("click", () => {
      if (wanted.has(verdict)) wanted.delete(verdict);
      else wanted.add(verdict);
      button.setAttribute("aria-pressed", String(wanted.has(verdict)));
      draw();
    });
    return button;
  });
  const sorting = h("select", { "aria-label": "Order of the chart" }, h("option", { value: "run" }, "in order of the run"), h("option", { value: "effect" }, "largest loss first"));
  sorting.addEventListener("change", () => {
    order = sorting.value === "effect" ? "effect" : "run";
    draw();
  });

  // One stop for the tab key; arrows walk from comparison to comparison.
  bodies.addEventListener("keydown", (event) => {
    const rows = [...bodies.querySelectorAll<HTMLElement>("tr[data-verdict]")];
    const from = rows.indexOf(event.target as HTMLElement);
    const to: Record<string, number> = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: rows.length - 1 };
    const row = rows[to[event.key] ?? -1];
    if (from < 0 || !row) return;
    event.preventDefault();
    rows.forEach((other) => (other.tabIndex = other === row ? 0 : -1));
    row.focus();
  });

  draw();
  const unsure = entries.filter((entry) => entry.relative.low === null).length;
  section.append(
    h("div", { class: "bar" }, h("div", { class: "chips", role: "group", "aria-label": "Verdicts shown" }, filters), entries.length > 3 && h("label", { class: "pick" }, sorting)),
    bodies,
    h(
      "p",
      { class: "note" },
      `Throughput of the variant divided by that of ${variantName(context, context.base)}, on a logarithmic axis; right of 1 is faster. Whiskers: 95% interval over blocks. Grey band: ±${(margin * 100).toFixed(1).replace(/\.0$/, "")}%, the margin under which a difference counts as small.`,
      unsure > 0 && ` Without a mark: ${count(unsure, "comparison")} that can’t be judged; the sentence of each says why.`,
    ),
  );
  return section;
}
