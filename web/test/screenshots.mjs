/** Pictures of a page in several widths and both themes: npm run screenshots -- REPORT.html OUT_DIR */
import { mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { launch, openPage } from "./open.mjs";

const [report, out = "screenshots"] = process.argv.slice(2);
if (!report) throw new Error("say which page: npm run screenshots -- REPORT.html OUT_DIR");
mkdirSync(out, { recursive: true });
const browser = await launch();
try {
  for (const [name, width, colorScheme] of [
    ["wide", 1280, "light"],
    ["wide-dark", 1280, "dark"],
    ["tablet", 800, "light"],
    ["phone", 360, "light"],
    ["phone-dark", 360, "dark"],
  ]) {
    const { page, close } = await openPage(browser, pathToFileURL(report).href, { viewport: { width, height: 900 }, colorScheme });
    await page.waitForTimeout(300);
    await page.screenshot({ path: `${out}/${name}.png`, fullPage: true });
    await close();
  }
} finally {
  await browser.close();
}
