import { describe, expect, it } from "vitest";
import type { Page } from "#page";
import { embeddedText, parseEmbedded } from "../src/data/embedded";
import { readPage } from "../src/data/read";

const trial = (block: number) => ({
  variant: 0,
  block,
  started: "",
  stalls: [],
  series: { "tp.insert": [1, null, 3 + block], "cpu.us": [] },
});
const page = (name: string) => ({
  format: 1,
  experiment: { name },
  variants: [{ name: "a" }],
  steps: [
    { name: "l.i0", dop: 1, unit: "rows", trials: [trial(1), trial(2)] },
    { name: "l.x", dop: 1, unit: "rows", trials: [] },
    { name: "l.i1", dop: 1, unit: "rows", trials: [trial(3)] },
  ],
});

function read(text: string): Page {
  const result = readPage(text);
  if ("problem" in result) throw new Error(result.problem);
  return result.page;
}

const withText = (textContent: string): Element => ({ textContent }) as Element;

describe("the data's text", () => {
  it("is that of the script in its holder", () => {
    expect(
      embeddedText(
        withText('\n<script type="application/json" id="steelyard-data">{"a":1}</script>\n'),
      ),
    ).toBe('{"a":1}');
  });
  it("is missing without holder or script", () => {
    expect([embeddedText(null), embeddedText(withText("\n"))]).toEqual([null, null]);
  });
});

describe("series", () => {
  it("are left as text until they are asked for, and are the same then", () => {
    const { steps } = read(JSON.stringify(page("x")));
    const first = steps[0]?.trials[1];
    expect(Object.getOwnPropertyDescriptor(first, "series")?.get).toBeTypeOf("function");
    expect(first?.series).toEqual(trial(2).series);
    expect(Object.getOwnPropertyDescriptor(first, "series")?.get).toBeUndefined();
    expect(first?.series).toBe(first?.series);
    expect(
      JSON.parse(JSON.stringify(steps)).map((step: { trials: unknown }) => step.trials),
    ).toEqual(page("x").steps.map((step) => step.trials));
  });
  it("are told from text that looks like them", () => {
    for (const name of [',"series":{', '\\",\\"series":{"a}', '},"series":{}', '"', "\\"]) {
      const found = read(JSON.stringify(page(name)));
      expect(found.experiment.name).toBe(name);
      expect(found.steps.map((step) => step.trials.map((one) => one.series))).toEqual(
        page(name).steps.map((step) => step.trials.map((one) => one.series)),
      );
    }
  });
  it("are read with all else where something is not as the report writes it", () => {
    const odd = { ...page("x"), extra: { a: 1, series: { b: [1] } } };
    expect(parseEmbedded(JSON.stringify(odd)).raw).toEqual(odd);
    const brace = page("x");
    for (const one of brace.steps[0]?.trials ?? []) {
      Object.assign(one.series, { "a}": [1], "b{": [2] });
    }
    expect(read(JSON.stringify(brace)).steps[0]?.trials[0]?.series).toEqual(
      brace.steps[0]?.trials[0]?.series,
    );
    expect(read(JSON.stringify(page("x"), null, 1)).steps[2]?.trials[0]?.series).toEqual(
      trial(3).series,
    );
  });
  it("that are not valid are found when they are asked for", () => {
    const broken = read(JSON.stringify(page("x")).replace("[1,null,6]", "[1,nul,6]"));
    expect(broken.steps[0]?.trials[0]?.series).toEqual(trial(1).series);
    expect(() => broken.steps[2]?.trials[0]?.series).toThrow(SyntaxError);
  });
  it("that were cut short leave no page", () => {
    const text = JSON.stringify(page("x"));
    for (const length of [
      text.length - 1,
      text.indexOf("[1,null,5") + 3,
      text.indexOf("[1,null,5") - 20,
    ])
      expect(readPage(text.slice(0, length))).toEqual({
        problem: expect.stringMatching(/not valid JSON/),
      });
  });
});
