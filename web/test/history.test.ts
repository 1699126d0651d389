import { expect, test } from "vitest";
import type { HistoryStep, LineDocument } from "#page";
import { isAlone, levels, type Panel } from "../src/views/history/panels";

const step: HistoryStep = {
  name: "l.i0",
  dop: 1,
  unit: "rows",
  better: "more",
  points: [
    { run: 0, versions: [], trials: [100, 100], median: 100, relative: 1 },
    { run: 2, versions: [], trials: [400, 100], median: 250, relative: 2 },
    { run: 3, versions: [], trials: [50], median: 50, relative: 0.5 },
    { run: 5, versions: [], trials: [50, 50, 50], median: 50, relative: 0.5 },
  ],
  changes: [
    {
      run: 3,
      before: [0, 2],
      after: [3, 5],
      ratio: 0.35,
      low: 0.3,
      high: 0.4,
      p: 0.01,
      dependent_p: null,
      sentence: "",
    },
  ],
  exchanged: "run",
  doubtful: [],
};

test("levels are geometric means of trials between change points", () => {
  const found = levels(step);
  expect(found.map(({ from, to }) => [from, to])).toEqual([
    [0, 2],
    [3, 5],
  ]);
  expect(found[0]?.value).toBeCloseTo(100 * Math.sqrt(2), 9);
  expect(found[1]?.value).toBeCloseTo(50, 9);
});

test("values without a logarithm do not count", () => {
  expect(
    levels({
      ...step,
      changes: [],
      points: [{ run: 0, versions: [], trials: [0], median: 0, relative: null }],
    }),
  ).toEqual([]);
});

test("a single trial of each line is told as text", () => {
  const panel = (...trials: number[]): Panel => ({
    name: "l.i0",
    dop: 1,
    unit: "rows",
    place: "",
    followed: [
      {
        line: { line: "a", workload: "w", machine: "m", steps: [] } as unknown as LineDocument,
        step: { ...step, points: [{ run: 0, versions: [], trials, median: 1, relative: 1 }] },
        look: 0,
      },
    ],
    runs: [0],
    changes: [],
  });
  expect(isAlone(panel(1))).toBe(true);
  expect(isAlone(panel(1, 2))).toBe(false);
  expect(isAlone({ ...panel(1), runs: [0, 1] })).toBe(false);
});
