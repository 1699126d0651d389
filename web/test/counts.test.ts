import { describe, expect, it } from "vitest";
import type { PageCount, PageCounts } from "#page";
import { exactChange, plain, repeatability, signedWork, work } from "../src/text/exact";
import { filtered, type Matched, matched, moved, sorted } from "../src/views/counts/functions";

/** A count of ten statements with these functions: places and own instructions. */
function count(variant: number, own: [number, number][]): PageCount {
  return {
    variant,
    statements: 10,
    rows: 0,
    total: 1000,
    repeatability: 0,
    relative: null,
    verdict: null,
    phases: [],
    functions: {
      id: own.map(([id]) => id),
      own: own.map(([, value]) => value),
      inclusive: own.map(([, value]) => value * 2),
      calls: own.map(() => 10),
    },
  };
}

const NAMES = ["a", "b", "gone", "f", "f", "g.part.0", "g.cold", "memcpy", "memcpy"];
const counts: PageCounts = {
  experiment: "x",
  started: "",
  finished: true,
  margin: 0.02,
  variants: ["old", "new"],
  base: 0,
  noun: "statement",
  event: "instructions",
  kinds: [],
  events: [],
  functions: NAMES.map((name, place) => [name, place === 8 ? "ld.so" : "postgres"]),
  sentences: [],
  warnings: [],
};
const names = (all: Matched[]): string[] => all.map((one) => one.name);

describe("functions of two builds", () => {
  const base = count(0, [
    [0, 100],
    [1, 1000],
    [2, 50],
    [3, 70],
    [7, 10],
  ]);
  const variant = count(1, [
    [0, 400],
    [1, 1000],
    [4, 60],
    [5, 30],
    [6, 20],
    [7, 10],
    [8, 30],
  ]);
  const found = matched(counts, base, variant);
  const named = (name: string): Matched | undefined => found.find((one) => one.name === name);
  it("are matched by name and given per statement", () => {
    expect(named("a")).toEqual({
      name: "a",
      object: "postgres",
      base: { own: 10, inclusive: 20, calls: 1 },
      variant: { own: 40, inclusive: 80, calls: 1 },
    });
    expect(moved(named("a") as Matched, "own")).toBe(30);
  });
  it("are shown where one build alone has them", () => {
    expect(named("gone")?.variant).toBeNull();
    expect(named("g.cold")?.base).toBeNull();
    expect(moved(named("gone") as Matched, "own")).toBe(-5);
  });
  it("of one name are one", () => expect(named("memcpy")?.variant?.own).toBe(4));
  it("stand alone without a base", () =>
    expect(matched(counts, null, variant).every((one) => one.base === null)).toBe(true));
  it("are sorted by how much they moved, by name where that is equal", () => {
    expect(names(sorted(found, "moved.own", true)).slice(0, 4)).toEqual([
      "a",
      "gone",
      "g.part.0",
      "memcpy",
    ]);
    expect(names(sorted(found, "moved.own", false))[0]).toBe("b");
    expect(
      names(sorted(found, "base.own", true))
        .slice(-2)
        .sort(),
    ).toEqual(["g.cold", "g.part.0"]);
    expect(names(sorted(found, "name", false))).toEqual([...names(found)].sort());
  });
  it("are found by every word of a search", () => {
    expect(names(filtered(found, "MEM"))).toEqual(["memcpy"]);
    expect(names(filtered(found, "postgres cold"))).toEqual(["g.cold"]);
    expect(filtered(found, " ")).toBe(found);
  });
});

describe("exact figures", () => {
  it("have no more digits than they carry", () =>
    expect([123456.4, 999.96, 12.04, 0.5, 0, null].map(work)).toEqual([
      "123\u202f456",
      "1\u202f000",
      "12.0",
      "0.50",
      "0",
      "–",
    ]));
  it("have signs", () =>
    expect([12.04, 7, -0.25, 0.001].map(signedWork)).toEqual(["+12.0", "+7", "−0.25", "0"]));
  it("are changes of a hundredth of a percent", () =>
    expect([1.07284, 0.934, 1.00001].map(exactChange)).toEqual(["+7.28%", "−6.60%", "0.00%"]));
  it("say how well they repeat", () => {
    const of = (fraction: number | null): string => repeatability({ repeatability: fraction });
    expect([0, 0.000003, 0.00001, 0.012, null].map(of)).toEqual([
      "0%",
      "0.0003%",
      "0.001%",
      "1.20%",
      "–",
    ]);
  });
  it("are plain for programs", () =>
    expect([-1234567, 2.5].map(plain)).toEqual(["-1234567", "2.50"]));
});
