/** What the parts of the page need to know about its data. */

import type { Page, PageRelative, PageStep, PageSweep } from "#page";

/** Index of the base among the variants; the first where the plan's base is not among them. */
export function baseIndex(page: Page): number {
  return Math.max(
    0,
    page.variants.findIndex((variant) => variant.name === page.experiment.base),
  );
}

/** A variant's name, or its number where the data names none. */
export function variantName(page: Page, variant: number): string {
  return page.variants[variant]?.name ?? `variant ${variant + 1}`;
}

/** Whether nothing was run, so that there are only instruction counts. */
export function onlyCounted(page: Page): boolean {
  return page.steps.length === 0 && (page.counts?.kinds.length ?? 0) > 0;
}

/** What names a step: steps of one name differ in their clients or labels. */
type StepKey = Pick<PageStep, "name" | "dop" | "labels">;

/** What distinguishes a step from others of its name. */
export function stepMarks(page: Page, { name, dop, labels = {} }: StepKey): string[] {
  const marks = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  const several = page.steps.some((other) => other.name === name && other.dop !== dop);
  return several ? [`dop ${dop}`, ...marks] : marks;
}

/** A step's name as the reader sees it. */
export function stepLabel(page: Page, step: StepKey): string {
  return [step.name, ...stepMarks(page, step)].join(" · ");
}

/** By place, the sweep that shows a step instead of the parts of the page that list steps. */
export function sweepOf({ sweeps = [] }: Page): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  sweeps.forEach(({ one_server, lines }, sweep) => {
    if (!one_server) return;
    for (const { steps } of lines)
      for (const step of steps) if (step !== null) found.set(step, sweep);
  });
  return found;
}

/** The steps that no sweep shows. */
export function ordinarySteps(page: Page): PageStep[] {
  const swept = sweepOf(page);
  return page.steps.filter((_, place) => !swept.has(place));
}

/** The id of a step's panel, for links within the page. */
export function stepAnchor(page: Page, step: PageStep): string {
  return `step-${page.steps.indexOf(step) + 1}`;
}

/** What these steps measure, as a heading: throughput, or a cost in its unit, as "Time in s". */
export function measureName(steps: Pick<PageStep, "better" | "unit">[]): string {
  const costs = steps.filter(({ better }) => better === "less");
  if (costs.length === 0) return "Throughput";
  const [unit = "", ...others] = new Set(costs.map((step) => step.unit));
  if (costs.length < steps.length || others.length > 0 || unit === "") return "Result";
  return /^(h|min|m?s|µs|us|ns|seconds)$/.test(unit) ? `Time in ${unit}` : `Cost in ${unit}`;
}

/** The steps that are the points of a sweep. */
export function sweepSteps(page: Page, sweep: PageSweep): PageStep[] {
  const places = new Set(sweep.lines.flatMap(({ steps }) => steps));
  return page.steps.filter((_, place) => places.has(place));
}

/** What the intervals of comparisons are called: "95% interval", "98.3% to 99% interval". */
export function intervalName(comparisons: Pick<PageRelative, "confidence" | "level">[]): string {
  const known = comparisons.filter(({ confidence }) => confidence !== null);
  known.sort((one, other) => (one.confidence ?? 0) - (other.confidence ?? 0));
  const texts = new Set([known[0], known[known.length - 1]].flatMap((end) => end?.level ?? []));
  return `${[...texts].join(" to ")} interval`.trim();
}

/** The margin as text: "2%". */
export function marginText(page: Page): string {
  return `${(page.experiment.margin * 100).toFixed(1).replace(/\.0$/, "")}%`;
}
