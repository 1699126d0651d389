/** Tabs of a real browser, and what is wrong with what they show. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A tab with a list of everything that went wrong. */
export async function openTab(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  // A condition that never comes true fails after this; a busy machine makes none slow enough.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    // A document that is not there is answered with 404, which the page explains.
    const expected = message.text().includes("404 (Not Found)");
    if (["error", "warning"].includes(message.type()) && !expected)
      problems.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, problems, close: () => context.close() };
}

/** Waits until nothing is being read. */
export async function settled(page) {
  await page.waitForFunction(() => document.querySelector("#content, .problem") !== null);
  await page.waitForFunction(() => document.querySelector(".waiting") === null);
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

export async function visit(page, address) {
  await page.goto(address);
  await settled(page);
}

/** What axe finds wrong with the page as it stands (WCAG 2.2 AA and good practice). */
export async function violations(page) {
  // The page's own policy forbids scripts that are put into it; the debugger is not bound by that.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations: found } = await window.axe.run(document, { iframes: false });
    return found.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map((node) => node.html.slice(0, 160))
          .join(" | ")}`,
    );
  });
}
