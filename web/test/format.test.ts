import { describe, expect, it } from "vitest";
import {
  axisDuration,
  axisValues,
  change,
  count,
  duration,
  figures,
  grouped,
  headingUnit,
  interval,
  judgedRatio,
  moment,
  percentileName,
  ratio,
  short,
  withUnit,
} from "../src/text/format";

const NBSP = "\u00a0";

describe("figures", () => {
  it.each([
    [0, "0"],
    [41236, "41.2k"],
    [27000, "27.0k"],
    [999.4, "999"],
    [999.6, "1.00k"],
    [999_600, "1.00M"],
    [2_400_000_000, "2.40G"],
    [0.0371, "0.0371"],
    [0.00001234, "1.2e-5"],
    [-12.34, "−12.3"],
    [null, "–"],
    [undefined, "–"],
    [NaN, "–"],
  ])("writes %s as %s", (value, text) => expect(figures(value)).toBe(text));

  it.each([
    [27000, "27k"],
    [41236, "41.2k"],
    [100, "100"],
    [0.5, "0.5"],
    [10, "10"],
    [2_000_000, "2M"],
    [null, "–"],
  ])("shortens %s to %s on axes", (value, text) => expect(short(value)).toBe(text));
});

describe("units", () => {
  it("keeps rates and percent close to the figure", () => {
    expect(withUnit(41236, "/s")).toBe("41.2k/s");
    expect(withUnit(61.84, "%")).toBe("61.8%");
    expect(withUnit(20_900, "1/s")).toBe("20.9k/s");
  });
  it("climbs from KB to the unit that reads best", () => {
    expect(withUnit(900, "KB/s")).toBe(`900${NBSP}KB/s`);
    expect(withUnit(62_464, "KB/s")).toBe(`61.0${NBSP}MB/s`);
    expect(withUnit(1_048_576, "KB")).toBe(`1.00${NBSP}GB`);
    expect(withUnit(5_120, "MB")).toBe(`5.00${NBSP}GB`);
    expect(axisValues([0, 512_000], "KB/s")).toEqual(["0", `500${NBSP}MB`]);
    expect(headingUnit("KB/s")).toBe("per second");
  });
  it("never writes two prefixes", () =>
    expect(withUnit(1071, "ms/s")).toBe(`1\u202f071${NBSP}ms/s`));
  it("writes microseconds as what reads best", () => {
    expect(duration(86)).toBe(`86.0${NBSP}µs`);
    expect(duration(1370)).toBe(`1.37${NBSP}ms`);
    expect(duration(2_500_000)).toBe(`2.50${NBSP}s`);
    expect(duration(999.7)).toBe(`1.00${NBSP}ms`);
    expect(axisDuration(100)).toBe(`100${NBSP}µs`);
    expect(axisDuration(10_000)).toBe(`10${NBSP}ms`);
  });
  it("tells ticks apart that are close together", () => {
    expect(axisValues([9_980, 9_990, 10_000, 10_010], "")).toEqual([
      "9.98k",
      "9.99k",
      "10k",
      "10.01k",
    ]);
    expect(axisValues([0, 5_000, 10_000], "")).toEqual(["0", "5k", "10k"]);
    expect(axisValues([1_000_000, 1_000_500], "us")).toEqual([`1${NBSP}s`, `1.0005${NBSP}s`]);
    expect(axisValues([7, 7], "")).toEqual(["7", "7"]);
  });
  it("says that there is nothing", () => expect(withUnit(null, "KB/s")).toBe("–"));
});

describe("comparisons", () => {
  it("writes ratios with three decimals", () => expect(ratio(0.93449)).toBe("0.934"));
  it.each([
    [0.934, "−6.6%"],
    [1.066, "+6.6%"],
    [1.0002, "±0.0%"],
    [2.5, "+150%"],
  ])("writes the ratio %s as the change %s", (value, text) => expect(change(value)).toBe(text));
  it("writes an interval only where there is one", () => {
    expect(interval(0.9, 1.1)).toBe("0.900 to 1.100");
    expect(interval(null, 1.1)).toBe("–");
  });
});

describe("ratios of comparisons", () => {
  it("are in parentheses without an interval", () => {
    expect(judgedRatio({ ratio: 0.934, low: 0.9 })).toBe("0.934");
    expect(judgedRatio({ ratio: 0.934, low: null })).toBe("(0.934)");
    expect(judgedRatio({ ratio: null, low: null })).toBe("–");
  });
});

describe("the rest", () => {
  it("groups thousands", () => expect(grouped(1094400)).toBe("1\u202f094\u202f400"));
  it("names percentiles", () => {
    expect(percentileName(99.9)).toBe("99.9");
    expect(percentileName(50)).toBe("50");
    expect(percentileName(100)).toBe("max");
  });
  it("writes times in UTC and leaves what it cannot read", () => {
    expect(moment("2026-11-20T09:02:11+01:00")).toBe("2026-11-20 08:02 UTC");
    expect(moment("yesterday")).toBe("yesterday");
    expect(moment("")).toBe("–");
  });
  it("counts", () => {
    expect(count(1, "block")).toBe("1 block");
    expect(count(3, "block")).toBe("3 blocks");
  });
});
