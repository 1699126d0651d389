/** Verdicts as words and signs, and their counts. Never told by colour alone. */

import type { Context } from "./context";
import { stepLabel, type Step, type Verdict } from "./data";
import { h } from "./dom";

export const VERDICTS: Verdict[] = ["regression", "improvement", "equivalent", "inconclusive"];

export const SIGN: Record<Verdict, string> = { regression: "▼", improvement: "▲", equivalent: "=", inconclusive: "?" };

/** The sign and the word of a verdict. */
export function verdictMark(verdict: Verdict): HTMLElement {
  return h("span", { class: "verdict", "data-verdict": verdict }, h("span", { class: "sign", "aria-hidden": "true" }, SIGN[verdict] ?? "?"), h("span", { class: "word" }, verdict));
}

/** How one variant fared over all steps. */
export interface Tally {
  variant: number;
  counts: Record<Verdict, number>;
  worst: { step: Step; ratio: number } | null;
  best: { step: Step; ratio: number } | null;
}

/** Counts of verdicts and the extreme steps for every variant but the base, in order of the plan. */
export function tally(context: Context): Tally[] {
  return context.page.variants.flatMap((_, variant) => {
    if (variant === context.base) return [];
    const result: Tally = { variant, counts: { regression: 0, improvement: 0, equivalent: 0, inconclusive: 0 }, worst: null, best: null };
    for (const step of context.page.steps) {
      for (const relative of step.relative) {
        if (relative.variant !== variant) continue;
        result.counts[relative.verdict] += 1;
        const { ratio } = relative;
        if (ratio === null) continue;
        if (!result.worst || ratio < result.worst.ratio) result.worst = { step, ratio };
        if (!result.best || ratio > result.best.ratio) result.best = { step, ratio };
      }
    }
    return [result];
  });
}

/** "2 regressions, 3 equivalent" for a variant. */
export function tallyWords(counts: Record<Verdict, number>): string {
  const words: string[] = [];
  if (counts.regression) words.push(counts.regression === 1 ? "1 regression" : `${counts.regression} regressions`);
  if (counts.improvement) words.push(counts.improvement === 1 ? "1 improvement" : `${counts.improvement} improvements`);
  if (counts.equivalent) words.push(`${counts.equivalent} equivalent`);
  if (counts.inconclusive) words.push(`${counts.inconclusive} inconclusive`);
  return words.length > 0 ? words.join(", ") : "nothing to compare";
}

/** A step's name as text, for sentences. */
export function where(context: Context, step: Step): string {
  return stepLabel(context.page, step);
}
