/** The results of the variants, counted and in words. */

import type { Page, PageStep, Verdict } from "#page";
import { baseIndex, onlyCounted, variantName } from "../../data/page";
import { VERDICTS } from "../../shared/verdict";
import { count } from "../../text/format";

/** How many verdicts there are of each kind. */
export type Counts = Record<Verdict, number>;

/** How one variant fared over all steps. */
export interface Tally {
  variant: number;
  counts: Counts;
  /** The largest regression. What is not certain, or small, is not named. */
  worst: Extreme | null;
  /** The largest improvement. */
  best: Extreme | null;
}

/** A step with the ratio of a variant in it. */
export interface Extreme {
  step: PageStep;
  ratio: number;
}

const larger = (known: Extreme | null, found: Extreme): Extreme =>
  known && Math.abs(Math.log(known.ratio)) >= Math.abs(Math.log(found.ratio)) ? known : found;

const none = (): Counts => ({ regression: 0, improvement: 0, equivalent: 0, inconclusive: 0 });

/** Verdicts and the steps that changed most, of every variant but the base, in the plan's order. */
export function tally(page: Page): Tally[] {
  return page.variants.flatMap((_, variant) => {
    if (variant === baseIndex(page)) return [];
    const result: Tally = { variant, counts: none(), worst: null, best: null };
    for (const step of page.steps) {
      for (const { variant: of, verdict, ratio } of step.relative) {
        if (of !== variant) continue;
        result.counts[verdict] += 1;
        if (ratio === null) continue;
        if (verdict === "regression") result.worst = larger(result.worst, { step, ratio });
        if (verdict === "improvement") result.best = larger(result.best, { step, ratio });
      }
    }
    return [result];
  });
}

/** "2 regressions, 3 equivalent" for a variant. */
export function tallyWords({ regression, improvement, equivalent, inconclusive }: Counts): string {
  const words = [
    regression > 0 && count(regression, "regression"),
    improvement > 0 && count(improvement, "improvement"),
    equivalent > 0 && `${equivalent} equivalent`,
    inconclusive > 0 && `${inconclusive} inconclusive`,
  ].filter((word) => word !== false);
  return words.length > 0 ? words.join(", ") : "nothing to compare";
}

/** A sentence for each sweep: over how many clients, and in how many lines throughput falls. */
function sweepSentences({ sweeps = [] }: Page): string {
  const sentences = sweeps.map(({ step, clients, lines }) => {
    const falling = lines.filter(({ cliffs }) => cliffs.length > 0).length;
    const falls =
      falling > 0 ? `: throughput falls in ${falling} of ${count(lines.length, "line")}` : "";
    return `${step} over ${clients[0]} to ${clients[clients.length - 1]} clients${falls}.`;
  });
  return sentences.join(" ");
}

/** One sentence for a reader in a hurry; empty for a variant alone. */
export function verdictSentence(page: Page): string {
  const all = tally(page);
  const base = variantName(page, baseIndex(page));
  if (onlyCounted(page)) {
    const kinds = new Set(page.counts?.kinds.map(({ kind }) => kind));
    const of = count(kinds.size, "kind");
    return `Exact instruction counts of ${of} of statements; nothing was run.`;
  }
  const swept = sweepSentences(page);
  if (all.length === 0 && swept !== "") return swept;
  if (page.variants.length === 1) return "";
  if (all.length === 0 || page.steps.length === 0) return "There is nothing to compare yet.";
  const few =
    page.experiment.blocks === 1
      ? " One block is too few to compare: it says nothing about a difference."
      : "";
  if (all.length <= 2) {
    const each = all.map(
      ({ variant, counts }) =>
        `${variantName(page, variant)} against ${base}: ${tallyWords(counts)}`,
    );
    return `${each.join("; ")}.${few} ${swept}`.trim();
  }
  const total = none();
  for (const { counts } of all) for (const verdict of VERDICTS) total[verdict] += counts[verdict];
  const [variants, steps] = [count(all.length, "variant"), count(page.steps.length, "step")];
  return `${variants} against ${base} over ${steps}: ${tallyWords(total)}.${few} ${swept}`.trim();
}
