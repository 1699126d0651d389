/** The list of steps: every panel's head at once, its plots only when it is open and in sight. */

import { swatch, variantName, type Context } from "./context";
import { stepAnchor, type Step } from "./data";
import { h, replace } from "./dom";
import { count, ratio, short } from "./format";
import type { Inspection } from "./group";
import { Choice, StepBody } from "./stepbody";
import { SIGN } from "./verdicts";

/** What a plot draws, and in which step. */
export interface StepInspection extends Inspection {
  step: string;
  dop: number;
}

/** One step. */
class StepPanel {
  readonly element: HTMLElement;
  private readonly body = h("div", { class: "step-body", hidden: true });
  private readonly button: HTMLButtonElement;
  private filled: StepBody | null = null;
  private visible = false;

  constructor(
    private readonly context: Context,
    readonly step: Step,
    private readonly choice: Choice,
  ) {
    const id = stepAnchor(context.page, step);
    this.button = h("button", { type: "button", class: "step-toggle", "aria-expanded": "false", "aria-controls": `${id}-body` }, h("span", { class: "arrow", "aria-hidden": "true" }), h("span", { class: "step-name" }, step.name), context.page.steps.some((other) => other.dop !== step.dop) && h("span", { class: "minor" }, `dop ${step.dop}`));
    this.body.id = `${id}-body`;
    this.element = h("section", { class: "step", id, "data-step": step.name, "data-dop": step.dop, "aria-label": `Step ${step.name}` }, h("div", { class: "step-head" }, h("h3", {}, this.button), this.glance()), this.body);
    this.button.addEventListener("click", () => this.open(this.body.hidden));
  }

  /** The step at a glance: throughput of the base and every ratio with its verdict's sign. */
  private glance(): HTMLElement {
    const { context, step } = this;
    const base = step.throughput[context.base];
    return h(
      "span",
      { class: "glance" },
      h("span", { class: "base-value" }, swatch(context, context.base), `${short(base)} ${step.unit}/s`),
      [...step.relative]
        .sort((a, b) => a.variant - b.variant)
        .map((one) => h("span", { class: "ratio", "data-verdict": one.verdict, title: `${variantName(context, one.variant)}: ${one.verdict}` }, swatch(context, one.variant), h("span", { class: "offscreen" }, variantName(context, one.variant)), ratio(one.ratio), h("span", { class: "sign", "aria-label": one.verdict }, SIGN[one.verdict] ?? "?"))),
    );
  }

  open(open: boolean): void {
    this.body.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open && this.visible) this.build();
  }

  /** Called when the panel comes into sight or leaves it. */
  seen(visible: boolean): void {
    this.visible = visible;
    if (visible && !this.body.hidden) this.build();
  }

  /** Builds the panel if the reader would see it when scrolling there. */
  buildIfOpen(): void {
    if (!this.body.hidden) this.build();
  }

  private build(): void {
    if (this.filled || this.unreadable()) return;
    this.filled = new StepBody(this.context, this.step, this.choice, this.body);
  }

  /** Reads the figures of the step. Where that fails, the panel says so and the rest of the page stays of use. */
  private unreadable(): boolean {
    try {
      for (const trial of this.step.trials) void trial.series;
      return false;
    } catch (error) {
      replace(this.body, h("p", { class: "note", role: "alert" }, `The figures of this step are not valid JSON (${error instanceof Error ? error.message : "unknown error"}). Write the report again with “steelyard report”.`));
      return true;
    }
  }

  inspect(): StepInspection[] {
    return (this.filled?.inspect() ?? []).map((one) => ({ step: this.step.name, dop: this.step.dop, ...one }));
  }
}

/** The section, and a way to see what its plots draw. */
export function stepsSection(context: Context): { element: HTMLElement; inspect: () => StepInspection[]; openAnchor: (id: string) => void } {
  const choice = new Choice();
  const panels = context.page.steps.map((step) => new StepPanel(context, step, choice));
  const byElement = new Map(panels.map((panel) => [panel.element as Element, panel]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) byElement.get(entry.target)?.seen(entry.isIntersecting);
    },
    { rootMargin: "300px 0px" },
  );
  for (const panel of panels) observer.observe(panel.element);
  panels[0]?.open(true);
  // The first is open from the start: ready when the reader gets there, but after the head has been painted.
  requestAnimationFrame(() => window.setTimeout(() => panels[0]?.buildIfOpen(), 0));
  window.addEventListener("beforeprint", () => panels.forEach((panel) => panel.buildIfOpen()));
  const all = (open: boolean) => (): void => panels.forEach((panel) => panel.open(open));
  const element = h(
    "section",
    { id: "steps", "aria-labelledby": "steps-title" },
    h("h2", { id: "steps-title" }, "Steps over time"),
    panels.length === 0
      ? h("p", { class: "note" }, "No step has been measured.")
      : h("div", { class: "bar" }, h("span", { class: "minor" }, `${count(panels.length, "step")} in order of the run, one value per second`), panels.length > 1 && h("span", { class: "controls" }, h("button", { type: "button", class: "quiet", onclick: all(true) }, "open all"), h("button", { type: "button", class: "quiet", onclick: all(false) }, "close all"))),
    panels.map((panel) => panel.element),
  );
  return {
    element,
    inspect: () => panels.flatMap((panel) => panel.inspect()),
    openAnchor: (id) => {
      const panel = panels.find((one) => one.element.id === id);
      panel?.open(true);
      panel?.element.scrollIntoView();
    },
  };
}
