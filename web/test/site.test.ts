import { expect, test } from "vitest";
import type { Brief } from "#page";
import { parseDocument } from "../src/site/documents";
import { choices, filtered, short } from "../src/site/pages/experiments/filter";
import {
  addressOf,
  experimentAddress,
  FIRST_HISTORY,
  NO_FILTER,
  type Route,
  routeOf,
} from "../src/site/route";

const search = (route: Route): string => new URL(addressOf(route), "http://localhost/a/").search;

test("every state has an address that leads back to it", () => {
  const routes: Route[] = [
    { page: "overview" },
    { page: "experiments", filter: NO_FILTER },
    { page: "experiments", filter: { ...NO_FILTER, q: 'a&b=c #1 "ü"', verdict: "regression" } },
    { page: "experiment", id: 17 },
    { page: "history", chosen: FIRST_HISTORY },
    { page: "history", chosen: { ...FIRST_HISTORY, workload: "w-0", metric: "o/s", step: "l.i0" } },
    { page: "machines" },
    { page: "compare", picks: [] },
    {
      page: "compare",
      picks: [
        { experiment: 2, variant: "a:b &,c" },
        { experiment: 17, variant: "pg14.3" },
      ],
    },
  ];
  for (const route of routes) expect(routeOf(search(route))).toEqual(route);
  expect(addressOf({ page: "overview" })).toBe("./");
  expect(experimentAddress(3, "step-2")).toBe("./?experiment=3#step-2");
});

test("an address of a comparison names variants of experiments", () => {
  const read = routeOf("?view=compare&with=2:pg13.7&with=x:y&with=3&with=:a");
  expect(read).toEqual({ page: "compare", picks: [{ experiment: 2, variant: "pg13.7" }] });
});

test("an address that leads nowhere is known for one", () => {
  for (const wrong of ["?experiment=", "?experiment=-1", "?experiment=../1", "?view=x"])
    expect(routeOf(wrong).page).toBe("unknown");
  expect(routeOf("?utm_source=mail").page).toBe("overview");
});

const brief = (id: number, name: string, versions: [string, string][]): Brief => ({
  id,
  name,
  workload: "insert",
  label: "insert, 10M rows",
  history: "",
  purpose: "run",
  state: "finished",
  base: "a",
  started: "2026-01-01T00:00:00Z",
  trials: 1,
  lost: 0,
  variants: versions.map(([system, version]) => ({ name: `v${version}`, system, version })),
  machines: ["m"],
  verdicts: { regression: id === 1 ? 1 : 0, improvement: 0, equivalent: 1, inconclusive: 0 },
  warnings: 0,
});

test("a filter leaves what has all of it", () => {
  const all = [
    brief(1, "nightly", [
      ["postgres", "13.7"],
      ["postgres", "PostgreSQL 14.10 (Debian 14.10-1)"],
    ]),
    brief(2, "Release", [
      ["mysql", "14.10"],
      ["postgres", "9.6"],
    ]),
  ];
  const machines = new Map([["m", "Big <Iron>"]]);
  const found = (filter: object): number[] =>
    filtered(all, { ...NO_FILTER, ...filter }, machines).map(({ id }) => id);
  expect(found({})).toEqual([1, 2]);
  expect(found({ q: "RELEASE iron" })).toEqual([2]);
  expect(found({ q: "#1" })).toEqual([1]);
  expect(found({ verdict: "regression" })).toEqual([1]);
  expect(found({ version: "14.10" })).toEqual([1, 2]);
  expect(found({ version: "14.10", system: "postgres" }), "of one variant").toEqual([1]);
  expect(found({ machine: "other" })).toEqual([]);
  const { version, system } = choices(all, NO_FILTER, []);
  expect(version).toEqual(["9.6", "13.7", "14.10"]);
  expect(system).toEqual(["mysql", "postgres"]);
  expect(choices(all, { ...NO_FILTER, system: "mysql" }, []).version).toEqual(["14.10"]);
  expect(short("PostgreSQL 14.10 (Debian 14.10-1)")).toBe("14.10");
});

test("a document says what is wrong with the results, or is of another version", () => {
  const problem = (text: string): string => {
    const parsed = parseDocument(text);
    return "problem" in parsed ? parsed.problem : "";
  };
  expect(problem('{"format":1,"problem":"no trials"}')).toBe("no trials");
  expect(problem('{"format":2}')).toMatch(/format 2/);
  expect(problem('{"format":1,"machines":[]}')).toBe("");
});
