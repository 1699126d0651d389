import { describe, expect, it } from "vitest";
import type { LiveInterval, LiveRun } from "#page";
import { lasted, told } from "../src/site/pages/live/follow";
import { placeOf, rangeOf } from "../src/site/pages/live/narrowing";

const run = (process: number, began_ms = 0): LiveRun => ({
  process,
  machine: null,
  name: `run ${process}`,
  experiment: null,
  began_ms,
  budget: null,
  used: 0,
  done: 0,
  all: null,
  part: "step",
  at: "",
  step: null,
  next: null,
  intervals: [],
  warnings: [],
  log: [],
});

const row = (ratio: number, low: number | null, high: number | null): LiveInterval => ({
  step: "l.i0",
  variant: "b",
  ratio,
  low,
  high,
  margin: 0.02,
  verdict: null,
});

describe("runs under way", () => {
  it("has those that are gone as ended, the latest first", () => {
    const none = { runs: [], ended: [], connected: true, plans: null };
    const document = (...runs: LiveRun[]) => ({ format: 1, service: true, runs, plans: null });
    const two = told(none, document(run(1), run(2)));
    expect(two).toEqual({ ...none, runs: [run(1), run(2)] });
    const one = told(two, document(run(2)));
    expect(one.ended).toEqual([run(1)]);
    // The number of a process is used again.
    const again = told(one, document(run(2, 5)));
    expect([again.runs, again.ended]).toEqual([[run(2, 5)], [run(2), run(1)]]);
  });

  it("says how long something lasted", () => {
    const times = [-5, 400, 59_000, 125_000, 3_661_000].map(lasted);
    expect(times).toEqual(["0s", "0s", "59s", "2m05s", "1h01m"]);
  });

  it("shows intervals where they are, and what is beyond the plot at its end", () => {
    const range = rangeOf([row(1.001, 0.9, 1.1)]);
    expect(range).toBeCloseTo(0.05);
    expect(rangeOf([row(0, null, null)])).toBeCloseTo(0.05);
    expect(placeOf(1, range)).toBeCloseTo(120);
    expect(placeOf(0.5, range)).toBe(4);
    expect(placeOf(2, range)).toBe(236);
    expect(placeOf(0, range)).toBe(4);
  });
});
