/**
 * Puts made-up results into the built page:
 *   npm run sample -- OUT.html [normal|nasty|one|big|bigger|many|sliced|sweep|swept]
 * `bigger` is the big one with six blocks.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { STEPS, samplePage } from "./page.mjs";

export const KINDS = {
  normal: {
    variants: 3,
    steps: 10,
    seconds: 120,
    blocks: 6,
    history: { order: "version" },
    counts: {},
    profiles: true,
    slices: { of: ["qr100", "qp100"], restarts: 6, points: 60, shorter: 24 },
  },
  nasty: {
    variants: 4,
    steps: 10,
    seconds: 60,
    blocks: 2,
    nasty: true,
    seed: 3,
    history: { order: "date", dates: 3 },
    counts: {},
    profiles: true,
  },
  one: {
    variants: 2,
    steps: 6,
    seconds: 20,
    blocks: 1,
    seed: 5,
    counts: { variants: 1, small: 3 },
  },
  big: { variants: 6, steps: 40, seconds: 300, blocks: 1, dops: [1, 4, 16, 40], seed: 7 },
  bigger: { variants: 6, steps: 40, seconds: 300, blocks: 6, dops: [1, 4, 16, 40], seed: 7 },
  sweep: {
    variants: 2,
    steps: 2,
    seconds: 20,
    blocks: 3,
    seed: 15,
    sweep: {
      clients: [1, 2, 4, 8, 12, 16, 20, 22, 24, 28, 36, 45, 50, 64, 80, 90, 100, 120, 150, 176],
    },
  },
  // One version: 176 numbers of clients, three lines, four blocks.
  swept: {
    variants: 1,
    steps: 0,
    blocks: 4,
    seed: 17,
    sweep: { clients: Array.from({ length: 176 }, (_, at) => at + 1) },
  },
  counted: { variants: 3, steps: 0, blocks: 6, seed: 9, counts: {} },
  many: {
    variants: 10,
    steps: 20,
    seconds: 90,
    blocks: 6,
    dops: [1, 8],
    seed: 11,
    history: { order: "date" },
    counts: { small: 1500 },
    slices: { of: ["qr500"], restarts: 6, points: 33, each: 40 },
  },
  // As large as slices get: 40 steps, 6 variants, 30 restarts.
  sliced: {
    variants: 6,
    steps: 40,
    seconds: 1,
    blocks: 30,
    dops: [1, 4, 16, 40],
    seed: 13,
    slices: { of: STEPS.map(([name]) => name), restarts: 30, points: 11, each: 27 },
  },
};

const PLACEHOLDER = '<script type="application/json" id="steelyard-data">null</script>';

/**
 * The text of a page with results, the way `steelyard report` writes it. Every `<` is escaped, not `</` alone: the
 * text `<!--<script>` in a name would otherwise keep the browser from seeing the end of the data. All that is not
 * ASCII is escaped too: one dash makes the browser hold the whole text in two bytes a character, and a page of 75 MB
 * then takes 2.3 s instead of 1.4 s to open.
 */
export function withData(template, page) {
  if (!template.includes(PLACEHOLDER))
    throw new Error(`expected the line ${PLACEHOLDER} in the built page`);
  const json = JSON.stringify(page).replace(
    /[<\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return template.replace(PLACEHOLDER, () => PLACEHOLDER.replace("null", () => json));
}

/** Writes a sample page of one kind. */
export function writeSample(out, kind) {
  const request = KINDS[kind];
  if (!request) throw new Error(`expected one of ${Object.keys(KINDS).join(", ")}, found ${kind}`);
  const template = readFileSync(
    new URL("../../crates/report/page/report.html", import.meta.url),
    "utf8",
  );
  writeFileSync(out, withData(template, samplePage(request)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [out, kind = "normal"] = process.argv.slice(2);
  if (!out) throw new Error("say where to: npm run sample -- OUT.html [KIND]");
  writeSample(out, kind);
}
