/** What a step's panel holds when it is open: buttons, plots over time, stalls, latencies. */

import { blocksOf, isThinned, lines, seconds, shownTrials, stalledSeconds, hasFigure, type BlockChoice } from "./align";
import { lookOf, swatch, variantName, type Context } from "./context";
import type { Step } from "./data";
import { h, replace } from "./dom";
import { DEFAULTS, allFigures, figuresFor, throughputFigure, GROUPS } from "./figures";
import { short } from "./format";
import { PlotGroup, type Inspection } from "./group";
import { latencySection } from "./percentiles";
import { onTheme } from "./theme";
import { TimePlot } from "./timeplot";

const MAIN_HEIGHT = 230;
const SIDE_HEIGHT = 74;

/** What the reader chose to see in every step. */
export class Choice {
  readonly figures = new Set<string>(DEFAULTS);
  private readonly listeners = new Set<() => void>();

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  set(figure: string, shown: boolean): void {
    if (shown) this.figures.add(figure);
    else this.figures.delete(figure);
    for (const listener of this.listeners) listener();
  }
}

/** What a plot draws, and in which step. */
export interface StepInspection extends Inspection {
  step: string;
  dop: number;
}

/** Fills the body of one step's panel, which stands in the page and is as wide as it will be. */
export class StepBody {
  private readonly plots = h("div", { class: "plots" });
  private readonly group: PlotGroup;
  private timed: TimePlot[] = [];
  private block: BlockChoice;
  private width: number;

  constructor(
    private readonly context: Context,
    private readonly step: Step,
    private readonly choice: Choice,
    body: HTMLElement,
  ) {
    const group = new PlotGroup(Math.max(1, seconds(step)));
    this.group = group;
    this.block = isThinned(step) ? "fullest" : (blocksOf(step)[0] ?? "all");
    const caption = h("p", { class: "note stalls" });
    const zoom = h("span", { class: "zoom", "aria-live": "polite" });
    const range = (): void => {
      const [low, high] = group.range;
      replace(zoom, group.zoomed() ? [`seconds ${Math.round(low)} to ${Math.round(high)} `, h("button", { type: "button", class: "quiet", onclick: () => group.reset() }, "show all")] : h("span", { class: "minor drag-hint" }, "drag to zoom, double-click to reset"));
    };
    group.onRange(range);
    range();
    const bar = h("div", { class: "bar step-bar" }, this.legend(), h("span", { class: "controls" }, this.blockPicker(caption), this.figurePicker(), this.zeroPicker(), this.touchZoom(), zoom));
    body.append(bar, this.plots, caption);
    this.width = body.clientWidth;
    this.drawTimed();
    this.describeStalls(caption);
    const latencies = latencySection(context, step, group, this.width);
    if (latencies) body.append(latencies);
    new ResizeObserver(() => {
      const width = this.plots.clientWidth;
      if (width === this.width || width === 0) return;
      this.width = width;
      group.resize(width);
    }).observe(body);
    group.resize(this.width);
    onTheme(() => group.restyle());
    choice.onChange(() => this.drawTimed());
  }

  private legend(): HTMLElement {
    const { context, group } = this;
    return h(
      "div",
      { class: "chips legend-buttons", role: "group", "aria-label": "Variants shown" },
      context.page.variants.map((variant, index) => {
        const dash = lookOf(context, index).dash.length > 0;
        const button = h("button", { type: "button", class: "chip", "data-variant": variant.name, "aria-pressed": "true", "data-dash": dash }, swatch(context, index), variant.name);
        button.addEventListener("click", () => {
          group.toggle(index);
          // A finger leaves no button, so the focus would stay.
          group.setFocus(null);
          button.setAttribute("aria-pressed", String(!group.hidden.has(index)));
        });
        button.addEventListener("mouseenter", () => group.setFocus(group.hidden.has(index) ? null : index));
        button.addEventListener("mouseleave", () => group.setFocus(null));
        return button;
      }),
    );
  }

  private blockPicker(caption: HTMLElement): HTMLElement | null {
    const blocks = blocksOf(this.step);
    if (blocks.length < 2) return null;
    const select = h("select", { "aria-label": "Block shown", "data-control": "block" }, isThinned(this.step) && h("option", { value: "fullest" }, "typical blocks"), blocks.map((block) => h("option", { value: block }, `block ${block}`)), h("option", { value: "all" }, "all blocks"));
    select.addEventListener("change", () => {
      this.block = select.value === "all" || select.value === "fullest" ? select.value : Number(select.value);
      this.drawTimed();
      this.describeStalls(caption);
    });
    return h("label", { class: "pick" }, select);
  }

  private zeroPicker(): HTMLElement {
    const box = h("input", { type: "checkbox", checked: true, "data-control": "zero" });
    box.addEventListener("change", () => this.group.setFromZero(box.checked));
    return h("label", { class: "pick" }, box, " y from 0");
  }

  /** Zoom for fingers, which cannot drag a range. */
  private touchZoom(): HTMLElement {
    const button = (sign: string, name: string, factor: number): HTMLElement => h("button", { type: "button", class: "chip", "aria-label": name, onclick: () => this.group.zoom(factor) }, sign);
    return h("span", { class: "touch-zoom chips" }, button("+", "Zoom in about the cursor", 0.5), button("−", "Zoom out", 2));
  }

  private figurePicker(): HTMLElement | null {
    const main = throughputFigure(this.context.page, this.step).keys[0];
    const offered = allFigures(this.context.page).filter((figure) => figure.id !== main && hasFigure(this.step, figure));
    if (offered.length === 0) return null;
    const boxes: { box: HTMLInputElement; id: string }[] = [];
    const groups = [...new Set(offered.map((figure) => figure.group))];
    const picker = h(
      "details",
      { class: "picker" },
      h("summary", {}, "plots"),
      h(
        "div",
        { class: "picker-panel" },
        groups.map((id) =>
          h(
            "fieldset",
            {},
            h("legend", {}, GROUPS.find(([group]) => group === id)?.[1] ?? id),
            offered
              .filter((figure) => figure.group === id)
              .map((figure) => {
                const box = h("input", { type: "checkbox", "data-figure": figure.id });
                box.addEventListener("change", () => this.choice.set(figure.id, box.checked));
                boxes.push({ box, id: figure.id });
                return h("label", {}, box, figure.label);
              }),
          ),
        ),
        h("p", { class: "minor" }, "holds for every step"),
      ),
    );
    const sync = (): void => boxes.forEach(({ box, id }) => (box.checked = this.choice.figures.has(id)));
    sync();
    this.choice.onChange(sync);
    document.addEventListener("click", (event) => {
      if (picker.open && !picker.contains(event.target as Node)) picker.open = false;
    });
    picker.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      picker.open = false;
      picker.querySelector("summary")?.focus();
    });
    return picker;
  }

  /** Draws the plots over time anew, keeping range, cursor and hidden variants. */
  private drawTimed(): void {
    const { context, step, group, block } = this;
    for (const plot of this.timed) plot.destroy();
    this.timed = [];
    const main = throughputFigure(context.page, step);
    const trials = shownTrials(step, block);
    const shown = { ...step, trials };
    const side = figuresFor(context.page, shown, this.choice.figures);
    const width = this.plots.clientWidth || this.width;
    const hasMain = hasFigure(shown, main);
    replace(this.plots, !hasMain && h("p", { class: "note" }, step.trials.length === 0 ? "No trial of this step has been finished." : "This step has no throughput per second: it is one statement, or too short."));
    const all = hasMain ? [main, ...side] : side;
    all.forEach((figure, index) => {
      const plot = new TimePlot({
        context,
        step,
        group,
        figure,
        lines: lines(step, figure, block, group.length),
        trials,
        block,
        width,
        height: figure === main ? MAIN_HEIGHT : SIDE_HEIGHT,
        labelled: figure === main || index === all.length - 1,
        target: figure.keys[0] === "tp.insert" ? step.rate_target : undefined,
      });
      this.timed.push(plot);
      this.plots.append(plot.element);
    });
  }

  private describeStalls(caption: HTMLElement): void {
    const { context, step, block } = this;
    const parts = context.page.variants.flatMap((_, variant) => {
      const trials = shownTrials(step, block).filter((trial) => trial.variant === variant);
      const total = trials.reduce((sum, trial) => sum + stalledSeconds(trial.stalls), 0);
      return total > 0 ? [h("span", { class: "value" }, swatch(context, variant), `${variantName(context, variant)} ${total} s`)] : [];
    });
    replace(caption, parts.length > 0 ? ["Stalls (ticks above the plots, shaded): ", parts] : typeof block === "number" ? "No stalls in this block." : "No stalls.", isThinned(step) && " To keep this file small, hardware per second is kept for one typical block of each variant.", step.rate_target !== undefined && ` Dashed line: the insert rate that was wanted, ${short(step.rate_target)}/s.`);
  }

  inspect(): Inspection[] {
    return this.group.all().map((drawing) => drawing.inspect());
  }
}
