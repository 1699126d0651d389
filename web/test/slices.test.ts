import { describe, expect, it } from "vitest";
import type { PageRestart, PageSlices } from "#page";
import { asideByReason, extent, ratioRange, rounds, roundsOf } from "../src/views/steps/slicedata";

const restart = (more: Partial<PageRestart> = {}): PageRestart => ({
  block: 1,
  rounds: 3,
  length: 0.16,
  seconds: [0.02, 0.08, 0.14],
  levels: [20, 21],
  rates: [
    [10, 20, 30],
    [11, null, 31],
  ],
  low: [],
  high: [],
  aside: [[1, 1, 2, 1]],
  ...more,
});

const slices = (restarts: PageRestart[]): PageSlices => ({
  length_ms: 40,
  rounds_per_point: 1,
  shorter: 0,
  restarts,
  margin: [0.98, 1.02],
  running: [],
});

describe("rounds", () => {
  it("puts restarts behind each other, with nothing between them", () => {
    const all = rounds(slices([restart(), restart({ block: 4 })]), 3);
    const seconds = [0, 0.02, 0.08, 0.14, 0.16, 0.18, 0.24, 0.3, 0.32];
    expect(all.x.map((second) => Number(second.toFixed(6)))).toEqual(seconds);
    expect(all.rates[0]).toEqual([null, 10, 20, 30, null, 10, 20, 30, null]);
    expect(all.rates[1]).toEqual([null, 11, null, 31, null, 11, null, 31, null]);
    expect(all.rates[2]).toEqual(Array(9).fill(null));
    expect(all.low).toEqual(all.rates);
    expect([all.begins, all.end]).toEqual([[0, 0.16], 0.32]);
    expect(all.places[4]).toEqual({ restart: 1, point: null });
    expect(all.places[6]).toEqual({ restart: 1, point: 1 });
    expect(all.places).toHaveLength(all.x.length);
  });

  it("keeps the lowest and the highest of points that hold several rounds", () => {
    const low = [
      [9, 19, 29],
      [8, null, 30],
    ];
    const all = rounds(slices([restart({ low, high: low })]), 2);
    expect(all.low[1]).toEqual([null, 8, null, 30, null]);
    expect(extent([...all.low, ...all.high])).toEqual([8, 30]);
    expect(extent([[null]])).toEqual([null, null]);
  });

  it("names the rounds of a point; the last of a restart may hold fewer", () => {
    const one = restart({ rounds: 10 });
    expect([0, 2].map((point) => roundsOf(one, point, 4))).toEqual([
      [1, 4],
      [9, 10],
    ]);
  });
});

describe("slices without a rate", () => {
  it("are counted by reason and variant, in order", () => {
    const aside: PageRestart["aside"] = [
      [0, 1, 3, 2],
      [0, 1, 1, 1],
      [2, 0, 1, 4],
    ];
    const found = asideByReason(slices([restart({ aside }), restart({ aside })]));
    expect([...found].map(([reason, of]) => [reason, [...of]])).toEqual([
      [
        1,
        [
          [0, 8],
          [1, 2],
        ],
      ],
      [3, [[1, 4]]],
    ]);
  });
});

describe("the axis of running ratios", () => {
  const point = (own: number, low: number | null, high: number | null) => ({
    block: 1,
    own,
    ratio: own,
    low,
    high,
  });

  it("holds ratios, margin and the last interval, but not the first ones", () => {
    const restarts = [point(0.95, null, null), point(0.96, 0.1, 9), point(0.94, 0.93, 0.97)];
    const [low, high] = ratioRange([{ variant: 1, restarts }], [0.98, 1.02]);
    expect(low).toBeGreaterThan(0.91);
    expect(low).toBeLessThan(0.93);
    expect(high).toBeGreaterThan(1.02);
    expect(high).toBeLessThan(1.04);
  });

  it("stands around 1 where nothing is shown, and a margin without an edge has no line", () => {
    const [low, high] = ratioRange([], [0, 2]);
    expect(low).toBeGreaterThan(0.8);
    expect(high).toBeGreaterThan(2);
  });
});
