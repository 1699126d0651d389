/** Verdicts as words and signs, never by color alone. */

import type { Verdict } from "#page";

export const VERDICTS: Verdict[] = ["regression", "improvement", "equivalent", "inconclusive"];

export const SIGN: Record<Verdict, string> = {
  regression: "▼",
  improvement: "▲",
  equivalent: "=",
  inconclusive: "?",
};

/** The sign and the word of a verdict. */
export function VerdictMark({ verdict }: { verdict: Verdict }) {
  return (
    <span class="verdict" data-verdict={verdict}>
      <span class="sign" aria-hidden="true">
        {SIGN[verdict]}
      </span>
      <span class="word">{verdict}</span>
    </span>
  );
}
