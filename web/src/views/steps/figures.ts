/** Which figures a step can show over time, and which it shows unasked. */

import type { Page, PageStep } from "#page";
import { type Figure, hasFigure } from "./align";

/** Sums that are read more often than their parts: id, label, group, parts. */
const SUMS: [string, string, string, string[]][] = [
  ["cpu", "CPU, user + system", "cpu", ["cpu.us", "cpu.sy"]],
  ["dbms.cpu", "DBMS CPU", "dbms", ["dbms.us", "dbms.sy"]],
  ["client.cpu", "Client CPU", "client", ["client.us", "client.sy"]],
];

/** Shown unasked under the throughput, in this order. */
const DEFAULTS = [
  "state.L0.files",
  "state.estimate-pending-compaction-bytes",
  "cpu",
  "dbms.cpu",
  "sys.cs",
  "dev.rkb",
  "dev.wkb",
  "mem.dirty",
];

const THROUGHPUT = "throughput";

/** Order and headings of the groups in the chooser. */
export const GROUPS: Record<string, string> = {
  [THROUGHPUT]: "Throughput",
  latency: "Latency",
  cpu: "CPU",
  scheduler: "Scheduler",
  device: "Storage",
  memory: "Memory",
  state: "DBMS state",
  dbms: "DBMS processes",
  client: "Client",
};

/** The series of a class of statements. */
const throughputOf = (name: string): string => `tp.${name}`;

/** The series that a step's throughput is counted in. */
export function throughputFigure(page: Page, step: PageStep): Figure {
  const key = throughputOf(step.class);
  const usual = step.better === "less" ? step.unit : "/s";
  const { label = step.unit, unit = usual } = page.catalog[key] ?? {};
  return { id: THROUGHPUT, label: heading(label), unit, group: THROUGHPUT, keys: [key] };
}

/** The target rate of a figure, if it belongs to a paced class. */
export function rateOf(step: PageStep, { keys }: Figure): number | null {
  const paced = Object.entries(step.rates).find(([name]) => throughputOf(name) === keys[0]);
  return paced?.[1] ?? null;
}

/** The name as a heading: its first letter capital, where it starts with a word. */
function heading(label: string): string {
  return /^[a-z]+\b(?![./])/.test(label) ? label.charAt(0).toUpperCase() + label.slice(1) : label;
}

/** Place of a name in a list, behind all of it where it is not in there. */
function rank(list: string[], name: string): number {
  const place = list.indexOf(name);
  return place < 0 ? list.length : place;
}

/** All figures of the catalog, sums first, by group. */
export function allFigures({ catalog }: Page): Figure[] {
  const single = Object.entries(catalog).map(
    ([id, { label, unit, group }]): Figure => ({
      id,
      label: heading(label),
      unit,
      group,
      keys: [id],
    }),
  );
  const sums = SUMS.flatMap(([id, label, group, keys]): Figure[] => {
    const unit = catalog[keys[0] ?? ""]?.unit;
    const known = unit !== undefined && keys.every((key) => key in catalog);
    return known ? [{ id, label, unit, group, keys }] : [];
  });
  const order = Object.keys(GROUPS);
  return [...sums, ...single].sort((a, b) => rank(order, a.group) - rank(order, b.group));
}

/** What is shown unasked: throughput of all classes, and what explains it most often. */
export function defaultFigures(page: Page): Set<string> {
  const all = allFigures(page).filter(({ group }) => group === THROUGHPUT);
  return new Set([...all.map(({ id }) => id), ...DEFAULTS]);
}

/** The figures to plot under the throughput of this step, in the order in which they stand. */
export function figuresFor(page: Page, step: PageStep, chosen: ReadonlySet<string>): Figure[] {
  const main = throughputOf(step.class);
  const place = ({ id, group }: Figure): number => (group === THROUGHPUT ? -1 : rank(DEFAULTS, id));
  return allFigures(page)
    .filter((figure) => chosen.has(figure.id) && figure.id !== main && hasFigure(step, figure))
    .sort((a, b) => place(a) - place(b));
}
