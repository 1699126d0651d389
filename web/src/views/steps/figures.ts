/** Which figures a step can show over time, and which it shows unasked. */

import type { Page, PageStep } from "#page";
import { type Figure, hasFigure } from "./align";

/** Sums that are read more often than their parts. */
const SUMS: Figure[] = [
  { id: "cpu", label: "CPU, user + system", unit: "%", group: "cpu", keys: ["cpu.us", "cpu.sy"] },
  { id: "dbms.cpu", label: "DBMS CPU", unit: "ms/s", group: "dbms", keys: ["dbms.us", "dbms.sy"] },
  {
    id: "client.cpu",
    label: "Client CPU",
    unit: "ms/s",
    group: "client",
    keys: ["client.us", "client.sy"],
  },
];

/** Headings for amounts, whose axes climb from KB to what reads best. */
const LABELS: Record<string, string> = {
  "dev.rkb": "Read from storage",
  "dev.wkb": "Written to storage",
  "dev.dkb": "Discarded on storage",
  "mem.dirty": "Dirty pages",
  "mem.writeback": "Pages being written",
  "dbms.rkb": "DBMS, read from storage",
  "dbms.wkb": "DBMS, written to storage",
};

/** Shown unasked, in this order. */
export const DEFAULTS = [
  "tp.insert",
  "tp.delete",
  "cpu",
  "dbms.cpu",
  "sys.cs",
  "dev.rkb",
  "dev.wkb",
  "mem.dirty",
];

/** Order and headings of the groups in the chooser. */
export const GROUPS: [string, string][] = [
  ["throughput", "Throughput"],
  ["latency", "Latency"],
  ["cpu", "CPU"],
  ["scheduler", "Scheduler"],
  ["device", "Storage"],
  ["memory", "Memory"],
  ["dbms", "DBMS processes"],
  ["client", "Client"],
];

/** The series that a step's throughput is counted in. */
export function throughputFigure(page: Page, step: PageStep): Figure {
  const key = step.unit === "queries" ? "tp.query" : "tp.insert";
  const entry = page.catalog[key];
  return {
    id: "throughput",
    label: heading(entry?.label ?? step.unit),
    unit: entry?.unit ?? "/s",
    group: "throughput",
    keys: [key],
  };
}

/** The name as a heading: its first letter capital, where it starts with a word. */
function heading(label: string): string {
  return /^[a-z]+\b(?![./])/.test(label) ? label.charAt(0).toUpperCase() + label.slice(1) : label;
}

/** All figures of the catalog beside the throughput, sums first, by group. */
export function allFigures(page: Page): Figure[] {
  const single: Figure[] = Object.entries(page.catalog).map(([key, entry]) => ({
    id: key,
    label: LABELS[key] ?? heading(entry.label),
    unit: entry.unit,
    group: entry.group,
    keys: [key],
  }));
  const sums = SUMS.filter((figure) => figure.keys.every((key) => key in page.catalog)).map(
    (figure) => {
      const unit = page.catalog[figure.keys[0] ?? ""]?.unit;
      return { ...figure, unit: unit ?? figure.unit };
    },
  );
  const order = GROUPS.map(([group]) => group);
  const rank = (group: string): number =>
    order.indexOf(group) < 0 ? order.length : order.indexOf(group);
  return [...sums, ...single].sort((a, b) => rank(a.group) - rank(b.group));
}

/** The figures to plot under the throughput of this step, in the order in which they stand. */
export function figuresFor(page: Page, step: PageStep, chosen: ReadonlySet<string>): Figure[] {
  const main = throughputFigure(page, step).keys[0];
  const rank = (id: string): number =>
    DEFAULTS.includes(id) ? DEFAULTS.indexOf(id) : DEFAULTS.length;
  return allFigures(page)
    .filter((figure) => chosen.has(figure.id) && figure.id !== main && hasFigure(step, figure))
    .sort((a, b) => rank(a.id) - rank(b.id));
}
