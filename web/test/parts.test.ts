import { describe, expect, it } from "vitest";
import type { Page, PageStep, PageVariant, Table, Verdict } from "#page";
import { intervalName, measureName } from "../src/data/page";
import { readPage } from "../src/data/read";
import { yRange } from "../src/shared/yrange";
import { isNumericColumn, toCsv, toMarkdown, toText } from "../src/text/export";
import { sideBySide } from "../src/views/environment/sides";
import { placeFacts } from "../src/views/head/place";
import { tally, tallyWords, verdictSentence } from "../src/views/head/tally";
import { labelledTicks, rangeOf, rangeText, ratioScale } from "../src/views/relative/scale";
import { alignPercentiles, percentilePosition } from "../src/views/steps/percentiles";

describe("reading the data", () => {
  const problem = (text: string | null): string => {
    const read = readPage(text);
    return "problem" in read ? read.problem : "";
  };
  it("says what is wrong", () => {
    expect(problem(null)).toMatch(/missing/);
    expect(problem("null")).toMatch(/template/);
    expect(problem("{")).toMatch(/not valid JSON/);
    expect(problem('{"format":7}')).toMatch(/format 7/);
  });
});

describe("exports of a table", () => {
  const table: Table = {
    id: "t",
    title: "Throughput",
    legend: ["rows/s"],
    columns: ["variant", "l.i0", "l.i1"],
    rows: [
      { label: "13.7", cells: ["152000", "9380*"] },
      { label: 'a|b, "c"', cells: ["–", "41200"] },
    ],
    section: "absolute",
    note: ["* not held"],
  };
  it("tells figures from words", () => {
    const rows = (...cells: string[]) => ({
      rows: cells.map((cell) => ({ label: "", cells: [cell] })),
    });
    expect(isNumericColumn(rows("1.5", "–", "12%", "1.0B", "−3 ms"), 0)).toBe(true);
    expect(isNumericColumn(rows("(0.934)", "(0.934)*"), 0)).toBe(true);
    expect(isNumericColumn(rows("regression", "equivalent"), 0)).toBe(false);
  });
  it("lines text up", () =>
    expect(toText(table)).toBe(
      'Throughput\n\nLegend:\n* rows/s\n\nvariant     l.i0   l.i1\n13.7      152000  9380*\na|b, "c"       –  41200\n\n* * not held\n',
    ));
  it("escapes Markdown and CSV", () => {
    expect(toMarkdown(table)).toContain('| a\\|b, "c" | – | 41200 |');
    expect(toCsv(table)).toBe('variant,l.i0,l.i1\r\n13.7,152000,9380*\r\n"a|b, ""c""",–,41200\r\n');
  });
});

describe("intervals", () => {
  const name = (...all: [number | null, string][]): string =>
    intervalName(all.map(([confidence, level]) => ({ confidence, level })));
  it("have the confidence of the data, in its words", () => {
    expect(name([0.95, "95%"], [null, ""], [0.95, "95%"])).toBe("95% interval");
    // Rounded here, it would be 99.3%.
    expect(name([0.9925, "99.2%"])).toBe("99.2% interval");
    expect(name([0.9925, "99.2%"], [1 - 0.05 / 3, "98.3%"])).toBe("98.3% to 99.2% interval");
    expect(name([null, ""])).toBe("interval");
  });
  it("are not drawn of few blocks, which have their range", () => {
    const few = { ratio: 0.9, low: null, high: null, blocks: 3, each: [0.93, 0.87, 0.9] };
    expect(rangeOf(few)).toEqual({ ratio: 0.9, low: 0.87, high: 0.93 });
    expect(rangeText(few)).toBe("3 blocks: 0.870 to 0.930");
    const one = { ratio: 0.9, low: null, high: null, blocks: 1, each: [0.9] };
    expect([rangeOf(one).low, rangeText(one)]).toEqual([0.9, "1 block: too few"]);
    const six = { ratio: 0.9, low: 0.8, high: 1, blocks: 6 };
    expect([rangeOf(six).low, rangeText(six)]).toEqual([0.8, "0.800 to 1.000"]);
    const none = { ratio: null, low: null, high: null, blocks: 0 };
    expect([rangeOf(none).low, rangeText(none)]).toEqual([null, "not compared"]);
  });
});

describe("what is measured", () => {
  const of = (better: PageStep["better"], unit: string) => ({ better, unit });
  it("has the unit of the steps", () => {
    expect(measureName([of("more", "rows"), of("more", "queries")])).toBe("Throughput");
    expect(measureName([of("less", "s"), of("less", "s")])).toBe("Time in s");
    expect(measureName([of("less", "instructions")])).toBe("Cost in instructions");
    expect(measureName([of("less", "s"), of("more", "rows")])).toBe("Result");
  });
});

describe("the ratio axis", () => {
  it("puts reciprocal ratios equally far from 1", () => {
    const scale = ratioScale(
      [
        { ratio: 0.5, low: null, high: null },
        { ratio: 2, low: null, high: null },
        { ratio: null, low: null, high: null },
      ],
      0.02,
    );
    expect(scale.at(1) - scale.at(0.5)).toBeCloseTo(scale.at(2) - scale.at(1), 10);
  });
  it("is not blown up by the interval of two blocks", () => {
    const scale = ratioScale([{ ratio: 0.95, low: 0.01, high: 90 }], 0.02);
    expect(scale.high / scale.low).toBeLessThan(4);
    expect(scale.at(90)).toBe(1);
  });
  it("always has a tick at 1, and never many", () => {
    for (const ratio of [0.001, 0.3, 0.8, 0.97, 1, 1.02, 1.3, 4, 50]) {
      const scale = ratioScale([{ ratio, low: ratio * 0.98, high: ratio * 1.02 }], 0.02);
      expect(scale.ticks).toContain(1);
      expect(scale.ticks.length).toBeLessThanOrEqual(9);
      expect(scale.ticks.length).toBeGreaterThanOrEqual(3);
      const labels = [...labelledTicks(scale, 0.2)].map(scale.at).sort((a, b) => a - b);
      for (let index = 1; index < labels.length; index += 1)
        expect((labels[index] ?? 0) - (labels[index - 1] ?? 0)).toBeGreaterThanOrEqual(0.2);
    }
  });
});

describe("the percentile axis", () => {
  it("gives every nine the same room", () => {
    expect(percentilePosition(90)).toBeCloseTo(1, 9);
    expect(percentilePosition(99)).toBeCloseTo(2, 9);
    expect(percentilePosition(99.9)).toBeCloseTo(3, 9);
  });
  it("aligns curves of different grids and puts the maximum last", () => {
    const { x, percentiles, values } = alignPercentiles([
      [
        [50, 10],
        [99, 30],
        [100, 90],
      ],
      [
        [50, 11],
        [90, 20],
      ],
    ]);
    expect(percentiles).toEqual([50, 90, 99, 100]);
    expect(values).toEqual([
      [10, null, 30, 90],
      [11, 20, null, null],
    ]);
    expect([...x].sort((a, b) => a - b)).toEqual(x);
  });
});

describe("y axes", () => {
  it("start at zero and hold the wanted rate", () =>
    expect(yRange(800, 900, 1000, true)).toEqual([0, 1040]));
  it("fit what is in view on request", () => {
    const [low, high] = yRange(900, 1000, null, false);
    expect(low).toBeGreaterThan(880);
    expect(high).toBeLessThan(1020);
  });
  it("have a length even without values", () =>
    expect(yRange(null, null, null, true)).toEqual([0, 1]));
});

describe("the environment", () => {
  const variant = (
    name: string,
    settings: PageVariant["settings"],
    build: [string, string][] = [],
  ): PageVariant => ({
    name,
    dbms: "postgres",
    source: "s",
    version: name,
    build,
    config: [],
    settings,
  });
  const rows = sideBySide([
    variant(
      "13",
      [
        { name: "a", value: "1", default: "1", source: "" },
        { name: "b", value: "2", default: "1", source: "" },
        { name: "c", value: "x", default: "x", source: "" },
      ],
      [["cc", "gcc 11"]],
    ),
    variant("14", [
      { name: "a", value: "1", default: "1", source: "" },
      { name: "b", value: "2", default: "1", source: "" },
      { name: "c", value: "y", default: "y", source: "" },
    ]),
  ]);
  const named = (name: string) => rows.find((row) => row.name === name);
  it("leaves out settings that stand at their default everywhere", () =>
    expect(named("a")).toBeUndefined());
  it("shows what is off its default, and what differs though both are defaults", () => {
    expect(named("b")).toMatchObject({ values: ["2", "2"], differs: false, fallback: "1" });
    expect(named("c")).toMatchObject({ values: ["x", "y"], differs: true, fallback: "x / y" });
  });
  it("marks what a variant does not have", () =>
    expect(named("cc")).toMatchObject({ values: ["gcc 11", null], differs: true }));
  it("finds the place's facts, and not those of other things with the same name", () => {
    const facts = [
      { group: "storage", name: "model", value: "a disk" },
      { group: "storage", name: "file system", value: "ext4" },
      { group: "cpu", name: "model", value: "a processor" },
      { group: "memory", name: "total", value: "32 GB" },
      {
        group: "system",
        name: "kernel",
        value: "unknown: /proc/sys/kernel/osrelease cannot be read",
      },
    ];
    expect(placeFacts(facts)).toEqual([
      ["CPU", "a processor"],
      ["Memory", "32 GB"],
      ["Filesystem", "ext4"],
    ]);
  });
});

describe("the summary of a variant", () => {
  const step = (name: string, verdict: Verdict, ratio: number): PageStep =>
    ({ name, relative: [{ variant: 1, verdict, ratio }] }) as unknown as PageStep;
  const summary = (...steps: PageStep[]) => {
    const variants = [{ name: "a" }, { name: "b" }];
    return tally({ experiment: { base: "a" }, variants, steps } as unknown as Page)[0];
  };
  it("names no step whose difference is uncertain or small", () => {
    const none = summary(step("x", "inconclusive", 0.7), step("y", "equivalent", 1.001));
    expect([none?.worst, none?.best]).toEqual([null, null]);
  });
  it("names the largest differences, also where more is worse", () => {
    const all = summary(
      step("x", "regression", 0.9),
      step("cost", "regression", 1.5),
      step("y", "improvement", 1.1),
      step("z", "inconclusive", 2),
    );
    expect([all?.worst?.step.name, all?.best?.step.name]).toEqual(["cost", "y"]);
  });
});

describe("the sentence on top", () => {
  it("speaks of a comparison only where there is one", () => {
    const page = (...names: string[]): Page =>
      ({
        experiment: { base: "a", blocks: 6 },
        variants: names.map((name) => ({ name })),
        steps: [{ name: "x", relative: [] }],
      }) as unknown as Page;
    expect(verdictSentence(page("a"))).toBe("");
    expect(verdictSentence(page("a", "b"))).toBe("b against a: nothing to compare.");
  });
});

describe("counts of verdicts", () => {
  it("reads like a sentence", () => {
    expect(tallyWords({ regression: 1, improvement: 0, equivalent: 3, inconclusive: 0 })).toBe(
      "1 regression, 3 equivalent",
    );
    expect(tallyWords({ regression: 0, improvement: 0, equivalent: 0, inconclusive: 0 })).toBe(
      "nothing to compare",
    );
  });
});
