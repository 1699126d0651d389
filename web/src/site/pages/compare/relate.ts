/**
 * Figures of variants of several experiments beside each other. Only variants of one experiment
 * were interleaved, so only they have verdicts; the others have ratios at most, in parentheses.
 */

import type { Brief, Page, PageStep, Verdict } from "#page";
import { variantName } from "../../../data/page";
import type { Picked } from "../../route";

/** A variant with all that is known of its experiment. */
export interface Side {
  pick: Picked;
  page: Page;
  brief: Brief;
  /** Place of the variant in its experiment. */
  place: number;
}

/** A variant in a step. */
export interface Cell {
  throughput: number | null;
  /** Relative to the first variant; null for that one, and where it makes no sense. */
  ratio: number | null;
  /** Whether the ratio has no interval. */
  doubtful: boolean;
  verdict?: Verdict;
  /** Why there is no verdict, or the verdict in words. */
  said: string;
}

export interface Compared {
  step: PageStep;
  /** In the order of the variants. */
  cells: Cell[];
}

const NO_RESULT: Cell = { throughput: null, ratio: null, doubtful: false, said: "no result" };

/** The variants that are there; those that are not, in words. */
export function sidesOf(
  picks: Picked[],
  pages: ReadonlyMap<number, Page>,
  briefs: Brief[],
): { sides: Side[]; missing: string[] } {
  const sides: Side[] = [];
  const missing: string[] = [];
  for (const pick of picks) {
    const page = pages.get(pick.experiment);
    const brief = briefs.find(({ id }) => id === pick.experiment);
    const place = page?.variants.findIndex(({ name }) => name === pick.variant) ?? -1;
    if (page && brief && place >= 0) sides.push({ pick, page, brief, place });
    else missing.push(`${pick.variant} of experiment ${pick.experiment} is not there.`);
  }
  return { sides, missing };
}

const keyOf = ({ name, dop, labels = {} }: PageStep): string =>
  JSON.stringify([name, dop, Object.entries(labels).sort()]);

/** The same step of another experiment. */
function sameStep(page: Page, step: PageStep): PageStep | undefined {
  const key = keyOf(step);
  return page.steps.find(
    (other) => keyOf(other) === key && other.unit === step.unit && other.class === step.class,
  );
}

const same = (one: string[], other: string[]): boolean =>
  one.length === other.length && one.every((text, place) => text === other[place]);

/** Why the figures of a step in two experiments can't even be related. */
export function unlike(one: PageStep, other: PageStep): string | null {
  if (!same(one.ways, other.ways)) {
    const [here, there] = [one, other].map(({ ways }) => ways.join(" and "));
    return `ran ${there}, the first ${here}; such figures differ also for the same system`;
  }
  if (!same(one.after, other.after)) return "came after other steps, so it found other data";
  return null;
}

/** Whether what a variant did in a step is a result: a query may have failed, or be wrong. */
function isWrong({ page, place }: Side, step: PageStep): boolean {
  const name = variantName(page, place);
  return page.warnings.some(
    (warning) =>
      (warning.code === "wrong-result" || warning.code === "query-failed") &&
      warning.step === step.name &&
      (warning.variant === undefined || warning.variant === name),
  );
}

function cellOf(first: Side, base: PageStep, side: Side): Cell {
  const step = sameStep(side.page, base);
  const throughput = step?.throughput[side.place] ?? null;
  if (!step || throughput === null) return NO_RESULT;
  const alone = { throughput, ratio: null, doubtful: false };
  if (isWrong(side, step) || isWrong(first, base))
    return { ...alone, said: "a query failed, or gave other results" };
  const ofBase = base.throughput[first.place] ?? null;
  if (side.brief.id === first.brief.id) {
    if (side.place === first.place) return { ...alone, said: "" };
    const relative = step.relative.find(({ variant }) => variant === side.place);
    const isBase = variantName(first.page, first.place) === first.page.experiment.base;
    if (relative && isBase) {
      const { ratio, low, verdict, sentence } = relative;
      return { throughput, ratio, doubtful: low === null, verdict, said: sentence };
    }
    const ratio = ofBase ? throughput / ofBase : null;
    const base_ = first.page.experiment.base;
    return { throughput, ratio, doubtful: true, said: `judged only against ${base_}` };
  }
  if (side.brief.history !== first.brief.history)
    return { ...alone, said: "not compared: another workload" };
  const why = unlike(base, step);
  if (why !== null) return { ...alone, said: `not compared: it ${why}` };
  const ratio = ofBase ? throughput / ofBase : null;
  return { throughput, ratio, doubtful: true, said: "not interleaved, so without a verdict" };
}

/** The steps of the first variant with the figures of all. */
export function compared(sides: Side[]): Compared[] {
  const [first] = sides;
  if (!first) return [];
  const measured = first.page.steps.filter(({ throughput }) => throughput[first.place] != null);
  return measured.map((step) => ({ step, cells: sides.map((it) => cellOf(first, step, it)) }));
}

/** What must be known about variants of other experiments than the first. */
export function remarks(sides: Side[], machines: ReadonlyMap<string, string>): string[] {
  const [first] = sides;
  if (!first) return [];
  const found: string[] = [];
  const others = sides.filter(({ brief }) => brief.id !== first.brief.id);
  if (others.length > 0)
    found.push(
      "Variants of different experiments were not interleaved: a difference may be the " +
        "machine's, so it has no verdict. To get one, run both in one experiment.",
    );
  const nameOf = ({ brief }: Side): string =>
    brief.machines.map((key) => machines.get(key) ?? "unknown machine").join(", ");
  const elsewhere = others.filter(({ brief }) => !same(brief.machines, first.brief.machines));
  for (const id of new Set(elsewhere.map(({ brief }) => brief.id))) {
    const side = elsewhere.find(({ brief }) => brief.id === id);
    if (side)
      found.push(`Experiment ${id} ran on another machine: ${nameOf(side)}, not ${nameOf(first)}.`);
  }
  for (const { brief } of others)
    if (brief.history !== first.brief.history)
      found.push(
        `Experiment ${brief.id} ran another workload (${brief.label}, not ${first.brief.label}): ` +
          "its figures are of other work.",
      );
  return [...new Set(found)];
}
