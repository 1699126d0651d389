/** Which lines of a sweep are shown, how they are told apart, and what they are at each point. */

import type { Page, PageCurve, PageSweep, PageSweepLine, Value } from "#page";
import { baseIndex } from "../../data/page";
import { lookAt } from "../../shared/variant";

/** What lines differ in: the version, or a dimension. */
export interface Factor {
  key: string;
  name: string;
  values: string[];
  /** The place of a line's value in `values`. */
  of: (line: PageSweepLine) => number;
}

/** A factor whose lines are all shown. */
export const EACH = -1;

/** What the reader chose: the factor that has the colors, and of the others a value or all. */
export interface Choice {
  by: string;
  fixed: Record<string, number>;
}

/** A line as it is shown. */
export interface Shown {
  line: PageSweepLine;
  /** Its place in the sweep. */
  place: number;
  name: string;
  /** Which variant's color it has. */
  look: number;
  /** Which dash: lines of one color differ in it. */
  dash: number;
}

/** The label that says where clients and servers run is what a sweep is about, if it varies. */
const FIRST = "pinning";

/** More lines than this at once are hard to tell apart. */
const MANY_LINES = 6;

const VARIANT = "variant";

/** What the lines of a sweep differ in: dimensions, then the version. */
export function factors(page: Page, sweep: PageSweep): Factor[] {
  const dimensions = sweep.dimensions.map(
    ({ name, values }): Factor => ({
      key: `label ${name}`,
      name,
      values: values.map((value) => (value === "" ? "–" : value)),
      of: ({ labels = {} }) => values.indexOf(labels[name] ?? ""),
    }),
  );
  const variants: Factor = {
    key: VARIANT,
    name: "variant",
    values: page.variants.map(({ name }) => name),
    of: ({ variant }) => variant,
  };
  const first = dimensions.filter(({ name }) => name === FIRST);
  const others = dimensions.filter(({ name }) => name !== FIRST);
  return [...first, ...others, variants].filter(({ values }) => values.length > 1);
}

/** What is shown at first, or by another factor. */
export function usualChoice(page: Page, all: Factor[], by = all[0]?.key ?? VARIANT): Choice {
  let lines = all.find(({ key }) => key === by)?.values.length ?? 1;
  const fixed: Record<string, number> = {};
  // The versions first: differences between them are what most sweeps are run for.
  const others = all.filter(({ key }) => key !== by);
  others.sort((a, b) => Number(b.key === VARIANT) - Number(a.key === VARIANT));
  for (const { key, values } of others) {
    const fits = lines * values.length <= MANY_LINES;
    fixed[key] = fits ? EACH : key === VARIANT ? baseIndex(page) : 0;
    if (fits) lines *= values.length;
  }
  return { by, fixed };
}

/** The lines that a choice leaves. */
export function shownLines(page: Page, sweep: PageSweep, choice: Choice): Shown[] {
  const all = factors(page, sweep);
  const colored = all.find(({ key }) => key === choice.by);
  const others = all.filter(({ key }) => key !== choice.by);
  const dashed = others.filter(({ key }) => (choice.fixed[key] ?? EACH) === EACH);
  const shown = sweep.lines.flatMap((line, place): Shown[] => {
    const wanted = others.every((factor) => {
      const value = choice.fixed[factor.key] ?? EACH;
      return value === EACH || value === factor.of(line);
    });
    if (!wanted) return [];
    const at = colored?.of(line) ?? 0;
    const dash = dashed.reduce((sum, factor) => sum * factor.values.length + factor.of(line), 0);
    const words = [colored, ...dashed].flatMap((factor) =>
      factor ? (factor.values[factor.of(line)] ?? []) : [],
    );
    const name = words.join(", ") || (page.variants[line.variant]?.name ?? "");
    const look = choice.by === VARIANT ? at : lookAt(page, at);
    return [{ line, place, name, look, dash }];
  });
  return shown.sort((a, b) => (colored ? colored.of(a.line) - colored.of(b.line) : 0));
}

/** What the main chart shows. */
export type Measure = "throughput" | "client" | "relative";

const without = (value: Value | undefined): Value => value ?? null;

/** Each value divided by a number of its own. */
function divided(curve: Value[], by: number[]): Value[] {
  return curve.map((value, at) => (value === null ? null : value / (by[at] ?? 1)));
}

/** A line's curve in the main chart; null where it has none, as the base relative to itself. */
export function mainCurve(
  page: Page,
  { clients }: PageSweep,
  { throughput, steps, variant }: PageSweepLine,
  measure: Measure,
): PageCurve | null {
  if (measure === "throughput") return throughput;
  if (measure === "client") {
    const { mean, low, high } = throughput;
    return {
      mean: divided(mean, clients),
      low: divided(low, clients),
      high: divided(high, clients),
    };
  }
  const found = steps.map((step) =>
    step === null
      ? undefined
      : page.steps[step]?.relative.find((relative) => relative.variant === variant),
  );
  if (found.every((one) => one === undefined)) return null;
  return {
    mean: found.map((one) => without(one?.ratio)),
    low: found.map((one) => without(one?.low)),
    high: found.map((one) => without(one?.high)),
  };
}

/** The single trials of a line in the main chart. */
export function mainBlocks(sweep: PageSweep, line: PageSweepLine, measure: Measure): Value[][] {
  if (measure === "relative") return [];
  const each = measure === "client";
  return line.blocks.map((values, at) =>
    values.map((value) => (value === null ? null : value / (each ? (sweep.clients[at] ?? 1) : 1))),
  );
}

/** The lowest and the highest of what is drawn in a part of the axis; intervals only so far. */
export function extent(
  clients: number[],
  curves: (PageCurve | null)[],
  blocks: Value[][][],
  [from, to]: readonly [number, number],
): [low: number | null, high: number | null] {
  const inView = clients.map((number) => number >= from - 1e-9 && number <= to + 1e-9);
  const values: number[] = [];
  const add = (value: Value | undefined): void => {
    if (value !== null && value !== undefined) values.push(value);
  };
  inView.forEach((shown, at) => {
    if (!shown) return;
    for (const curve of curves) add(curve?.mean[at]);
    for (const line of blocks) for (const value of line[at] ?? []) add(value);
  });
  if (values.length === 0) return [null, null];
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const room = Math.max((high - low) * 0.25, Math.abs(high) * 0.02);
  const [least, most] = [low - room, high + room];
  for (const curve of curves) {
    curve?.low.forEach((value, at) => {
      if (inView[at] && value !== null) low = Math.min(low, Math.max(value, least));
    });
    curve?.high.forEach((value, at) => {
      if (inView[at] && value !== null) high = Math.max(high, Math.min(value, most));
    });
  }
  return [low, high];
}

/** The number of clients next to a place of the axis, to the left or to the right. */
export function nextClients(clients: number[], from: number | null, direction: -1 | 1): number {
  const ahead =
    direction > 0
      ? clients.find((number) => from === null || number > from)
      : [...clients].reverse().find((number) => from === null || number < from);
  return ahead ?? (direction > 0 ? clients[clients.length - 1] : clients[0]) ?? 0;
}
