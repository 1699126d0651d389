import { describe, expect, it } from "vitest";
import type { PageStep, PageTrial } from "#page";
import {
  blocksOf,
  type Figure,
  hasFigure,
  isAlone,
  isolated,
  isThinned,
  lines,
  seconds,
  shownTrials,
  stallBands,
  stalledSeconds,
  sum,
} from "../src/views/steps/align";

const trial = (
  variant: number,
  block: number,
  series: PageTrial["series"],
  stalls: [number, number][] = [],
): PageTrial => ({ variant, block, started: "", stalls, series });
const step = (trials: PageTrial[]): PageStep => ({
  name: "l.i0",
  dop: 1,
  class: "insert",
  better: "more",
  unit: "rows",
  rates: {},
  ways: [],
  after: [],
  throughput: [],
  relative: [],
  latency: [],
  percentiles: [],
  trials,
});
const figure = (...keys: string[]): Figure => ({ id: "f", label: "", unit: "", group: "", keys });

describe("sums of series", () => {
  it("adds second by second and keeps gaps", () =>
    expect(
      sum([
        [1, 2, null, 4],
        [10, null, 30, 40],
      ]),
    ).toEqual([11, null, null, 44]));
  it("ends with a gap where one series ends sooner", () =>
    expect(sum([[1, 2], [10]])).toEqual([11, null]));
  it("is empty where a part was not measured", () => expect(sum([[1, 2], undefined])).toEqual([]));
});

describe("a plot of one second", () => {
  const single = step([trial(0, 1, { a: [5] }), trial(1, 1, { a: [4] })]);
  it("is told as text", () => {
    expect(isAlone(lines(single, figure("a"), 1, 1))).toBe(true);
    const longer = step([trial(0, 1, { a: [5, 6] })]);
    expect(isAlone(lines(longer, figure("a"), 1, 2))).toBe(false);
    expect(isAlone([])).toBe(false);
  });
});

describe("lines of a figure", () => {
  const measured = step([
    trial(1, 2, { a: [5] }),
    trial(0, 1, { a: [1, null, 3] }),
    trial(1, 1, { a: [4, 5, 6, 7], b: [1, 1, 1, 1] }),
  ]);
  it("knows blocks and the longest trial", () => {
    expect(blocksOf(measured)).toEqual([1, 2]);
    expect(seconds(measured)).toBe(4);
    expect(seconds(step([]))).toBe(0);
  });
  it("fills all lines to one length, in order of variant and block", () => {
    expect(lines(measured, figure("a"), "all", 4)).toEqual([
      { variant: 0, block: 1, values: [1, null, 3, null], points: 2 },
      { variant: 1, block: 1, values: [4, 5, 6, 7], points: 4 },
      { variant: 1, block: 2, values: [5, null, null, null], points: 1 },
    ]);
  });
  it("shows of each variant the block with the most series, where a report was thinned", () => {
    const thinned = step([
      trial(0, 1, { a: [1] }),
      trial(0, 2, { a: [1], b: [1] }),
      trial(1, 1, { a: [1], b: [1] }),
      trial(1, 2, { a: [1] }),
    ]);
    expect(isThinned(thinned)).toBe(true);
    expect(shownTrials(thinned, "fullest").map((one) => [one.variant, one.block])).toEqual([
      [0, 2],
      [1, 1],
    ]);
    expect(isThinned(step([trial(0, 1, { a: [1] }), trial(1, 1, { b: [1], c: [1] })]))).toBe(false);
  });
  it("shows one block", () =>
    expect(shownTrials(measured, 2).map((one) => one.variant)).toEqual([1]));
  it("draws nothing for a trial that lacks the series", () =>
    expect(lines(measured, figure("a", "b"), 1, 4)[0]).toEqual({
      variant: 0,
      block: 1,
      values: [null, null, null, null],
      points: 0,
    }));
  it("knows what was measured at all", () => {
    expect(hasFigure(measured, figure("a", "b"))).toBe(true);
    expect(hasFigure(measured, figure("c"))).toBe(false);
  });
});

describe("single values between gaps", () => {
  it("finds them, at the ends too", () =>
    expect(isolated([1, null, 2, 3, null, 4])).toEqual([0, 5]));
  it("finds none in a whole line", () => expect(isolated([1, 2, 3])).toEqual([]));
});

describe("stall bands", () => {
  it("cover the stalled seconds, whose values stand in their middle", () =>
    expect(stallBands([[10, 12]], 0, 100)).toEqual([[9.5, 11.5]]));
  it("joins what touches or overlaps", () =>
    expect(
      stallBands(
        [
          [12, 14],
          [10, 12],
          [20, 30],
          [22, 24],
        ],
        0,
        100,
      ),
    ).toEqual([
      [9.5, 13.5],
      [19.5, 29.5],
    ]));
  it("cuts to the seconds in view and drops what is out of it", () =>
    expect(
      stallBands(
        [
          [0, 5],
          [50, 60],
          [90, 95],
        ],
        3,
        55,
      ),
    ).toEqual([
      [3, 4.5],
      [49.5, 55],
    ]));
  it("ignores bands without length", () =>
    expect(
      stallBands(
        [
          [5, 5],
          [7, 6],
        ],
        0,
        10,
      ),
    ).toEqual([]));
  it("counts overlapping seconds once", () =>
    expect(
      stalledSeconds([
        [10, 12],
        [11, 15],
      ]),
    ).toBe(5));
  it("does not change what it was given", () => {
    const stalls: [number, number][] = [
      [5, 6],
      [1, 2],
    ];
    stallBands(stalls, 0, 10);
    expect(stalls).toEqual([
      [5, 6],
      [1, 2],
    ]);
  });
});
