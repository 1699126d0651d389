/**
 * Pictures of the pages of a site, in several widths and both themes:
 *   npm run screenshots:site -- OUT_DIR [SITE_DIR]     made-up experiments without a site
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { writeSampleSite } from "../sample/site.mjs";
import { launch } from "./open.mjs";
import { serving } from "./serving.mjs";

/** Longer pages are cut. */
const HEIGHT = 1500;

const [out, given] = process.argv.slice(2);
if (!out) throw new Error("say where to: npm run screenshots:site -- OUT_DIR");
mkdirSync(out, { recursive: true });
const temporary = mkdtempSync(join(tmpdir(), "steelyard-site-"));
const directory = given ? resolve(given) : temporary;
if (!given) writeSampleSite(directory);
const read = (path) => JSON.parse(readFileSync(join(directory, "api/v1", path), "utf8"));
const [history] = read("history.json").histories;
const { base, stop } = await serving(directory).then(({ address, stop }) => ({
  base: address,
  stop,
}));
const browser = await launch();
const pages = {
  overview: "",
  experiments: "?view=experiments",
  filtered: "?view=experiments&q=release&verdict=regression",
  history: "?view=history",
  lines: `?view=history&workload=${history?.workload}&machine=${history?.machine}`,
  machines: "?view=machines",
  experiment: `?experiment=${given ? read("experiments.json").experiments[0].id : 1}`,
  missing: "?experiment=987654",
};
try {
  for (const [name, width, colorScheme] of [
    ["wide", 1280, "light"],
    ["wide-dark", 1280, "dark"],
    ["phone", 390, "light"],
    ["phone-dark", 390, "dark"],
  ]) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    for (const [place, address] of Object.entries(pages)) {
      await page.goto(base + address);
      await page.waitForFunction(
        () => document.querySelector("#content") && !document.querySelector(".waiting"),
      );
      await page.waitForTimeout(500);
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.screenshot({
        path: `${out}/${place}-${name}.png`,
        fullPage: true,
        clip: { x: 0, y: 0, width, height: Math.min(HEIGHT, height) },
      });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await stop();
  rmSync(temporary, { recursive: true, force: true });
}
