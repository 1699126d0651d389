/** What a change costs a user: how much longer an operation takes. */

import type { PageRelative, PageStep } from "#page";

/** Microseconds that an operation of the base takes, over all clients; null if it is not known. */
function baseTime({ better, dop, rates, throughput, unit }: PageStep, base: number): number | null {
  const rate = throughput[base];
  // With a rate to hold, or where a program reports something else, it is no time.
  const known = better === "more" && !unit.includes("/") && Object.keys(rates).length === 0;
  return known && rate ? (dop / rate) * 1e6 : null;
}

/** Microseconds that an operation takes longer than on the base; negative if it is faster. */
export function timeLost(step: PageStep, relative: PageRelative, base: number): number | null {
  const time = baseTime(step, base);
  return time !== null && relative.ratio ? time * (1 / relative.ratio - 1) : null;
}
