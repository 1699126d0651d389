/**
 * The functions of two builds matched by name, as `steelyard count` does it
 * (crates/report/src/count/functions.rs); sorting and searching.
 */

import type { PageCount, PageCounts } from "#page";

/** What a function does per statement. */
export interface Work {
  own: number;
  inclusive: number;
  calls: number;
}

/** A function in the base and in a variant; null where it was never executed. */
export interface Matched {
  name: string;
  object: string;
  base: Work | null;
  variant: Work | null;
}

export type Figure = keyof Work;

/** Whose figure: the base’s, the variant’s, or the increase. */
export type Side = "base" | "variant" | "moved";

/** What can be sorted by. */
export type SortKey = "name" | `${Side}.${Figure}`;

/** Functions by name; those with the same name are added up. */
function byName(counts: PageCounts, count: PageCount): Map<string, { object: string; work: Work }> {
  const found = new Map<string, { object: string; work: Work }>();
  const { id, own, inclusive, calls } = count.functions;
  id.forEach((place, index) => {
    const [name, object] = counts.functions[place] ?? ["?", ""];
    const entry = found.get(name) ?? { object, work: { own: 0, inclusive: 0, calls: 0 } };
    found.set(name, entry);
    entry.work.own += own[index] ?? 0;
    entry.work.inclusive += inclusive[index] ?? 0;
    entry.work.calls += calls[index] ?? 0;
  });
  const statements = Math.max(1, count.statements);
  for (const { work } of found.values()) {
    work.own /= statements;
    work.inclusive /= statements;
    work.calls /= statements;
  }
  return found;
}

/** The functions of a count, along with those of the base if there is one. */
export function matched(counts: PageCounts, base: PageCount | null, variant: PageCount): Matched[] {
  const after = byName(counts, variant);
  if (!base)
    return [...after].map(([name, { object, work }]) => ({
      name,
      object,
      base: null,
      variant: work,
    }));
  const before = byName(counts, base);
  const found: Matched[] = [];
  for (const [name, { object, work }] of [...after]) {
    const other = before.get(name);
    if (!other) continue;
    found.push({ name, object, base: other.work, variant: work });
    before.delete(name);
    after.delete(name);
  }
  for (const [name, { object, work }] of before)
    found.push({ name, object, base: work, variant: null });
  for (const [name, { object, work }] of after)
    found.push({ name, object, base: null, variant: work });
  return found;
}

/** How much a figure increased; a missing one counts as 0. */
export function moved(one: Matched, figure: Figure): number {
  return (one.variant?.[figure] ?? 0) - (one.base?.[figure] ?? 0);
}

function value(one: Matched, key: SortKey): number {
  const [side, figure] = key.split(".") as [Side, Figure];
  if (side === "moved") return Math.abs(moved(one, figure));
  // Behind those that do nothing.
  return one[side]?.[figure] ?? -1;
}

/** A sorted copy. Differences are sorted by their size; equal ones by name. */
export function sorted(all: Matched[], key: SortKey, descending: boolean): Matched[] {
  const direction = descending ? -1 : 1;
  const names = (a: Matched, b: Matched): number =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  if (key === "name") return [...all].sort((a, b) => direction * names(a, b));
  return [...all].sort((a, b) => direction * (value(a, key) - value(b, key)) || names(a, b));
}

/** Those whose name or object holds every word of a search, in any case. */
export function filtered(all: Matched[], search: string): Matched[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return all;
  return all.filter(({ name, object }) =>
    words.every((word) => name.toLowerCase().includes(word) || object.toLowerCase().includes(word)),
  );
}
