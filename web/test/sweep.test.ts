import { describe, expect, it } from "vitest";
import type { Page, PageSweep, PageSweepLine } from "#page";
import { samplePage } from "../sample/page.mjs";
import { aroundIdle, idleWindows } from "../src/views/steps/align";
import {
  EACH,
  extent,
  factors,
  mainCurve,
  nextClients,
  shownLines,
  usualChoice,
} from "../src/views/sweep/lines";
import { marksOf } from "../src/views/sweep/options";

const page = samplePage({
  variants: 2,
  steps: 0,
  blocks: 3,
  sweep: { clients: [1, 22, 24, 50, 90, 100, 176] },
}) as unknown as Page;
const sweep = page.sweeps?.[0] as PageSweep;

describe("the lines of a sweep", () => {
  const all = factors(page, sweep);

  it("differ in dimensions and versions", () =>
    expect(all.map(({ name, values }) => [name, values.length])).toEqual([
      ["pinning", 3],
      ["variant", 2],
    ]));

  it("have a color per value, and a dash per other value", () => {
    const shown = shownLines(page, sweep, usualChoice(page, all));
    expect(shown.map(({ name, look, dash }) => [name, look, dash])).toEqual([
      ["none, pg13.7", 0, 0],
      ["none, pg14.3", 0, 1],
      ["colocated, pg13.7", 1, 0],
      ["colocated, pg14.3", 1, 1],
      ["random, pg13.7", 2, 0],
      ["random, pg14.3", 2, 1],
    ]);
  });

  it("are those of one value where the others are fixed", () => {
    const choice = { by: "variant", fixed: { "label pinning": 2 } };
    const shown = shownLines(page, sweep, choice);
    expect(shown.map(({ name, place }) => [name, place])).toEqual([
      ["pg13.7", 4],
      ["pg14.3", 5],
    ]);
  });

  it("are not all shown at first where they are many", () => {
    const many = { ...sweep, dimensions: [...sweep.dimensions, { name: "x", values: ["1", "2"] }] };
    const choice = usualChoice(page, factors(page, many));
    expect(choice.by).toBe("label pinning");
    expect(choice.fixed).toEqual({ variant: EACH, "label x": 0 });
  });

  it("are divided by the clients, or by the base", () => {
    const [base, other] = sweep.lines as [PageSweepLine, PageSweepLine];
    const each = mainCurve(page, sweep, base, "client");
    expect(each?.mean[1]).toBeCloseTo((base.throughput.mean[1] ?? 0) / 22);
    expect(mainCurve(page, sweep, base, "relative")).toBeNull();
    expect(mainCurve(page, sweep, other, "relative")?.mean[6]).toBeCloseTo(1.12);
  });

  it("have a band of the range where blocks are few", () => {
    const [, other] = sweep.lines as [PageSweepLine, PageSweepLine];
    const [low, high] = [other.throughput.low[6], other.throughput.high[6]];
    expect([low, high]).toEqual(
      [Math.min, Math.max].map((end) => end(...(other.blocks[6] as number[]))),
    );
    expect(mainCurve(page, sweep, other, "relative")?.low[6]).toBeNull();
  });

  it("have their falls in lanes", () => {
    const shown = shownLines(page, sweep, usualChoice(page, all));
    const drawn = shown.map((one) => ({ shown: one, curve: one.line.throughput, blocks: [] }));
    const marks = marksOf({ clients: sweep.clients, drawn });
    expect(marks.map(({ from, to, lane }) => [from, to, lane])).toEqual([
      [22, 24, 0],
      [22, 24, 1],
      [24, 50, 2],
      [24, 50, 3],
    ]);
  });
});

describe("what is in view", () => {
  const curve = { mean: [1, 10, 20], low: [0.5, -900, 18], high: [1.5, 900, 22] };
  it("has room for an interval, but not for any", () => {
    expect(extent([1, 2, 4], [curve], [], [1, 4])).toEqual([-3.75, 24.75]);
    expect(extent([1, 2, 4], [curve], [[[], [], [30]]], [4, 4])).toEqual([18, 30]);
    expect(extent([1, 2, 4], [null], [], [1, 4])).toEqual([null, null]);
  });
  it("has a next number of clients", () => {
    expect(nextClients([1, 2, 4], null, 1)).toBe(1);
    expect(nextClients([1, 2, 4], 2, 1)).toBe(4);
    expect(nextClients([1, 2, 4], 2, -1)).toBe(1);
    expect(nextClients([1, 2, 4], 1, -1)).toBe(1);
  });
});

describe("idle-priority threads", () => {
  const { trials } = page.steps.find(({ trials }) => trials.some(({ idle }) => idle)) ?? {};
  it("have a window on the axis", () => expect(idleWindows(trials ?? [])).toEqual([[9.5, 19.5]]));
  it("are told per variant", () =>
    expect(aroundIdle(trials ?? []).map((one) => [one.variant, one.duringRatio])).toEqual([
      [0, expect.closeTo(3.2)],
      [1, expect.closeTo(3.2)],
    ]));
});
