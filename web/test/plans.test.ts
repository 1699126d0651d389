import { describe, expect, it } from "vitest";
import { timeLost } from "../src/views/relative/cost";
import { marked } from "../src/views/steps/plandiff";

const differing = (own: string, other: string): string[] =>
  marked(own, [other])
    .filter(({ differs }) => differs)
    .map(({ text }) => text.trim());

describe("plans beside each other", () => {
  const index = "Limit\n  ->  Index Scan using t_pkey on t\n        Index Cond: (id = 17)";
  const seq = "Limit\n  ->  Seq Scan on t\n        Filter: (id = 17)";

  it("marks the nodes that the other plan lacks", () => {
    expect(differing(seq, index)).toEqual(["->  Seq Scan on t", "Filter: (id = 17)"]);
    expect(differing(index, seq)).toEqual([
      "->  Index Scan using t_pkey on t",
      "Index Cond: (id = 17)",
    ]);
  });

  it("takes values and places for no difference", () => {
    const deeper = index.replace("17", "4711").replace("  ->", "      ->");
    expect(differing(index, deeper)).toEqual([]);
    expect(differing("Filter: (b = 'it''s')", "Filter: (b = 'x')")).toEqual([]);
    expect(differing("Scan on t1", "Scan on t2")).toEqual([]);
    expect(differing("Scan on t", "Scan on u")).toEqual(["Scan on t"]);
    expect(differing("Limit\n  ->  Index Scan on t", "Index Scan on t")).toEqual(["Limit"]);
  });

  it("takes the plan that is most like it", () => {
    const lines = marked("Sort\nScan on t", ["Sort", "Sort\nScan on t"]);
    expect(lines.some(({ differs }) => differs)).toBe(false);
    expect(marked("Sort", [])).toEqual([{ text: "Sort", differs: false }]);
  });

  it("counts each line of the other plan once", () => {
    expect(differing("Sort\nSort", "Sort")).toEqual(["Sort"]);
  });
});

describe("the time lost", () => {
  const step = { better: "more", dop: 2, throughput: [1000, 800], rates: {}, unit: "queries" };
  const lost = (changes: object, ratio: number | null): number | null =>
    timeLost({ ...step, ...changes } as never, { variant: 1, ratio } as never, 0);

  it("is that of an operation, over the time on the base", () => {
    expect(lost({}, 0.8)).toBeCloseTo(500);
    expect(lost({}, 1.25)).toBeCloseTo(-400);
  });

  it("is unknown without rates", () => {
    expect(lost({}, null)).toBeNull();
    expect(lost({ throughput: [null, 1] }, 0.8)).toBeNull();
    expect(lost({ better: "less" }, 0.8)).toBeNull();
    expect(lost({ rates: { query: 10 } }, 0.8)).toBeNull();
    expect(lost({ unit: "MB/s" }, 0.8)).toBeNull();
  });
});
