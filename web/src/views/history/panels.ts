/** Which plots a history has, and what each shows. */

import type { ChangeDocument, HistoryDocument, HistoryStep, LineDocument, Page } from "#page";
import { baseIndex } from "../../data/page";
import { grouped } from "../../shared/group";

/** A line with its step: what one plot shows of it. */
export interface Followed {
  line: LineDocument;
  step: HistoryStep;
  /** Which variant's color it has. */
  look: number;
}

/** A change point at its position on the axis. */
export interface Change {
  followed: Followed;
  change: ChangeDocument;
  at: number;
  /** Which line of labels above the plot, so that neighbors do not overlap. */
  lane: number;
}

/** One plot: a step of all lines that share workload and machine. */
export interface Panel {
  name: string;
  dop: number;
  unit: string;
  place: string;
  followed: Followed[];
  /** Places of runs with points, in order: the axis. */
  runs: number[];
  changes: Change[];
}

/** Lines named after a variant have its color, others the colors after those. */
function looks(page: Page, { lines }: HistoryDocument): Map<string, number> {
  const names = [...new Set(lines.map(({ line }) => line))];
  let next = lines.length > 1 ? page.variants.length : baseIndex(page);
  return new Map(
    names.map((name) => {
      const variant = page.variants.findIndex((one) => one.name === name);
      return [name, variant >= 0 ? variant : next++];
    }),
  );
}

function changesOf(followed: Followed[], runs: number[]): Change[] {
  const found: Change[] = [];
  for (const one of followed) {
    for (const change of one.step.changes) {
      // Between the last run before it and the first after it.
      const at = (runs.indexOf(change.before[1]) + runs.indexOf(change.run)) / 2;
      const lane = found.filter((other) => Math.abs(other.at - at) < runs.length / 4).length;
      found.push({ followed: one, change, at, lane });
    }
  }
  return found;
}

/** The plots; lines of one step share a plot where workload and machine are the same. */
export function panels(page: Page, history: HistoryDocument): Panel[] {
  const look = looks(page, history);
  const all = history.lines.flatMap((line) =>
    line.steps.map((step): Followed => ({ line, step, look: look.get(line.line) ?? 0 })),
  );
  const place = ({ workload, machine }: LineDocument): string => `${workload}, ${machine}`;
  const several = new Set(history.lines.map(place)).size > 1;
  return grouped(all, ({ line, step }) => `${place(line)}\n${step.name}\n${step.dop}`).flatMap(
    ([, followed]) => {
      const [first] = followed;
      if (!first) return [];
      const points = followed.flatMap(({ step }) => step.points.map(({ run }) => run));
      const runs = [...new Set(points)].sort((a, b) => a - b);
      const { name, dop, unit } = first.step;
      const where = several ? place(first.line) : "";
      return [
        { name, dop, unit, place: where, followed, runs, changes: changesOf(followed, runs) },
      ];
    },
  );
}

/** Stretches of runs between change points, with the geometric mean of their trials. */
export function levels(step: HistoryStep): { from: number; to: number; value: number }[] {
  const cuts = step.changes.map(({ run }) => run);
  const stretches = grouped(step.points, ({ run }) => cuts.filter((cut) => cut <= run).length);
  return stretches.flatMap(([, points]) => {
    const trials = points.flatMap((point) => point.trials).filter((value) => value > 0);
    const [first, last] = [points[0], points[points.length - 1]];
    if (trials.length === 0 || !first || !last) return [];
    const mean = trials.reduce((sum, value) => sum + Math.log(value), 0) / trials.length;
    return [{ from: first.run, to: last.run, value: Math.exp(mean) }];
  });
}

/** True if a plot would be one dot: a single run, with a single trial of each line. */
export function isAlone({ runs, followed }: Panel): boolean {
  const single = ({ step }: Followed): boolean =>
    step.points.every(({ trials }) => trials.length <= 1);
  return runs.length === 1 && followed.every(single);
}
