/** Pictures of a page in several widths and both themes: npm run screenshots -- REPORT.html OUT_DIR [NAME…] */
import { mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { launch, openPage } from "./open.mjs";

/** Long pages come in slices that can be looked at in full size. */
const SLICE = 1400;

const [report, out = "screenshots"] = process.argv.slice(2);
if (!report) throw new Error("say which page: npm run screenshots -- REPORT.html OUT_DIR");
mkdirSync(out, { recursive: true });
const browser = await launch();
try {
  const wanted = process.argv.slice(4);
  for (const [name, width, colorScheme] of [
    ["wide", 1280, "light"],
    ["wide-dark", 1280, "dark"],
    ["tablet", 800, "light"],
    ["phone", 360, "light"],
    ["phone-dark", 360, "dark"],
  ]) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const { page, close } = await openPage(browser, pathToFileURL(report).href, {
      viewport: { width, height: 900 },
      colorScheme,
    });
    await page.waitForTimeout(300);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    for (let top = 0, part = 1; top < height; top += SLICE, part += 1) {
      await page.screenshot({
        path: `${out}/${name}-${part}.png`,
        fullPage: true,
        clip: { x: 0, y: top, width, height: Math.min(SLICE, height - top) },
      });
    }
    await close();
  }
} finally {
  await browser.close();
}
