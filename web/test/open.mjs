/** Opens pages in Debian's Chromium, with everything off that would go to the network. */
import { chromium } from "playwright-core";

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The browser; `CHROMIUM` names another than Debian's. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ARGUMENTS,
  });
}

/** Rows of the relative chart with a mark: what can't be compared has none. */
export const MARKED = "#relative tr[data-compared]";

/** True when all that is in sight is there, and the first step is drawn, which stands ready for the reader. */
function opened(marked) {
  if (window.steelyard === undefined) return false;
  if (window.steelyard.page === null || window.steelyard.page.steps.length === 0) return true;
  const rows = [...document.querySelectorAll(marked)].filter((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return bottom > 0 && top < window.innerHeight;
  });
  return (
    window.steelyard.plots.length + window.steelyard.sweeps.length > 0 &&
    rows.every((row) => row.querySelector("svg circle.dot"))
  );
}

/** A page with a list of everything that went wrong or went to the network. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  // A condition that never comes true fails after this; a busy machine makes none slow enough.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      problems.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") && !request.url().startsWith("data:"))
      problems.push(`request: ${request.url()}`);
  });
  const from = performance.now();
  await page.goto(url, { waitUntil: "load" });
  await page.waitForFunction(opened, MARKED);
  return { page, problems, milliseconds: performance.now() - from, close: () => context.close() };
}
