import { expect, test } from "vitest";
import type { Brief, Page } from "#page";
import { samplePage } from "../sample/page.mjs";
import { compared, remarks, type Side, sidesOf, unlike } from "../src/site/pages/compare/relate";

const one = samplePage({ variants: 3, steps: 10, seconds: 20, blocks: 6 }) as Page;
const names = one.variants.map(({ name }) => name);
const base = one.experiment.base;
const other = names.find((name) => name !== base) ?? "";

const brief = (id: number, more: Partial<Brief> = {}): Brief => ({
  id,
  name: `nightly ${id}`,
  workload: "insert",
  label: "insert, 10M rows",
  history: "insert-1",
  purpose: "run",
  state: "finished",
  base,
  started: "2026-01-01T00:00:00Z",
  trials: 6,
  lost: 0,
  variants: [],
  machines: ["m"],
  verdicts: { regression: 0, improvement: 0, equivalent: 0, inconclusive: 0 },
  warnings: 0,
  ...more,
});

/** Sides of the first experiment and of a second, which may differ from it. */
function sides(wanted: [number, string][], second: Page = one, of: Partial<Brief> = {}): Side[] {
  const pages = new Map([
    [1, one],
    [2, second],
  ]);
  const picks = wanted.map(([experiment, variant]) => ({ experiment, variant }));
  return sidesOf(picks, pages, [brief(1), brief(2, of)]).sides;
}

test("variants of one experiment keep their verdicts", () => {
  const steps = compared(
    sides([
      [1, base],
      [1, other],
    ]),
  );
  expect(steps.length).toBeGreaterThan(0);
  for (const { step, cells } of steps) {
    const judged = step.relative.find(({ variant }) => names[variant] === other);
    if (!judged) continue;
    expect(cells[1]?.ratio).toBe(judged.ratio);
    expect(cells[1]?.verdict).toBe(judged.verdict);
  }
});

test("those of another have a ratio in doubt, and never a verdict", () => {
  for (const first of [base, other]) {
    const steps = compared(
      sides([
        [1, first],
        [2, base],
        [2, other],
      ]),
    );
    for (const { cells } of steps) {
      for (const cell of cells.slice(1)) {
        expect(cell.verdict).toBeUndefined();
        expect(cell.ratio === null || cell.doubtful).toBe(true);
        expect(cell.said).toMatch(/not interleaved|no result|failed/);
      }
    }
    const [, same] = steps[0]?.cells ?? [];
    if (first === base) expect(same?.ratio).toBe(1);
  }
  // Nor those of one experiment by another of its variants than its base.
  const [step] = compared(
    sides([
      [1, other],
      [1, base],
    ]),
  );
  expect(step?.cells[1]?.verdict).toBeUndefined();
});

test("steps that ran in another way, or after others, are not related", () => {
  const changed = (change: object): Page => ({
    ...one,
    steps: one.steps.map((step) => ({ ...step, ...change })),
  });
  for (const [change, said] of [
    [{ ways: ["in slices"] }, /ran in slices, the first in blocks/],
    [{ after: ["l.i0"] }, /other data/],
  ] as const) {
    const [step] = compared(
      sides(
        [
          [1, base],
          [2, base],
        ],
        changed(change),
      ),
    );
    expect(step?.cells[1]?.ratio).toBeNull();
    expect(step?.cells[1]?.throughput).not.toBeNull();
    expect(step?.cells[1]?.said).toMatch(said);
  }
  const step = one.steps[0];
  if (step) expect(unlike(step, step)).toBeNull();
});

test("another workload is not related", () => {
  const [step] = compared(
    sides(
      [
        [1, base],
        [2, base],
      ],
      one,
      { history: "select-2" },
    ),
  );
  expect(step?.cells[1]?.ratio).toBeNull();
  expect(step?.cells[1]?.said).toMatch(/another workload/);
});

test("a wrong or failed query is no figure to compare", () => {
  const wrong = one.steps.map(({ name }) => ({ step: name, code: "wrong-result", text: "x" }));
  const [step] = compared(
    sides(
      [
        [1, base],
        [2, base],
      ],
      { ...one, warnings: wrong },
    ),
  );
  expect(step?.cells[1]?.ratio).toBeNull();
});

test("what must be known is said", () => {
  const told = (of: Partial<Brief>): string =>
    remarks(
      sides(
        [
          [1, base],
          [2, base],
        ],
        one,
        of,
      ),
      new Map([
        ["m", "Big Iron"],
        ["n", "Laptop"],
      ]),
    ).join("\n");
  expect(told({})).toMatch(/not interleaved/);
  expect(told({})).not.toMatch(/machine: |workload/);
  expect(told({ machines: ["n"] })).toMatch(/Experiment 2 ran on another machine: Laptop, not Big/);
  expect(told({ history: "x" })).toMatch(/another workload/);
  expect(remarks(sides([[1, base]]), new Map())).toEqual([]);
  const { missing } = sidesOf([{ experiment: 9, variant: "x" }], new Map(), []);
  expect(missing).toEqual(["x of experiment 9 is not there."]);
});
