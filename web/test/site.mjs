/**
 * Opens the pages of a site in a real browser and uses them:
 *   npm run test:site                  with made-up experiments
 *   npm run test:site -- /path/site    with a site that the command wrote
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { writeSampleSite } from "../sample/site.mjs";
import { launch } from "./open.mjs";
import { serving } from "./serving.mjs";
import { openTab, settled, violations, visit } from "./tab.mjs";

const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

const heading = (page) => page.locator("h1").first().innerText();

/** Every page opens, also when it is loaded again, on any screen, in both themes. */
async function checkPages(browser, base, pages) {
  for (const [colorScheme, width] of [
    ["light", 1280],
    ["dark", 1280],
    ["light", 360],
    ["dark", 360],
  ]) {
    const { page, problems, close } = await openTab(browser, {
      colorScheme,
      viewport: { width, height: 800 },
    });
    const wrong = [];
    for (const address of pages) {
      await visit(page, base + address);
      const title = await heading(page);
      assert.ok(title.length > 0, `${address} has a heading`);
      await page.reload();
      await settled(page);
      assert.equal(await heading(page), title, `${address} is the same when it is loaded again`);
      assert.equal(await overflow(page), 0, `nothing sticks out of ${address} at ${width} px`);
      for (const one of await violations(page)) wrong.push(`${address}: ${one}`);
      assert.equal(await page.evaluate(() => window.hacked), undefined, "no name is a script");
    }
    assert.deepEqual(wrong, [], `${colorScheme} at ${width} px: all can use it`);
    assert.deepEqual(problems, [], `${colorScheme} at ${width} px: no errors`);
    await close();
    console.log(`ok  ${pages.length} pages, ${colorScheme}, ${width} px`);
  }
}

/** From page to page by links, back and forward. */
async function checkWay(browser, base) {
  const { page, problems, close } = await openTab(browser);
  await visit(page, base);
  const loads = [];
  page.on("framenavigated", (frame) => loads.push(frame.url()));
  await page.evaluate(() => {
    window.sameApp = true;
  });
  const seen = [[page.url(), await heading(page)]];
  for (const name of ["Experiments", "History", "Machines"]) {
    await page.locator("nav.top a", { hasText: name }).click();
    await settled(page);
    assert.equal(await page.locator('nav.top a[aria-current="page"]').innerText(), name);
    seen.push([page.url(), await heading(page)]);
  }
  await page.locator("nav.top a", { hasText: "Overview" }).click();
  await settled(page);
  const link = page.locator("[data-experiment] a").first();
  await link.click();
  await settled(page);
  await page.locator("header.head h1, .problem h1").first().waitFor();
  seen.push([page.url(), await heading(page)]);
  assert.match(page.url(), /experiment=\d+/);
  // A place on the page is one step of the way, and leads nowhere else.
  const part = page.locator("nav.parts a").last();
  if ((await part.count()) > 0) {
    await part.click();
    assert.match(page.url(), /experiment=\d+#/);
    await page.goBack();
  }
  await page.goBack();
  for (const [address, title] of seen.slice(0, -1).reverse()) {
    await page.goBack();
    await page.waitForURL(address);
    await settled(page);
    assert.equal(await heading(page), title, `back to ${address}`);
  }
  for (const [address, title] of seen.slice(1, -1)) {
    await page.goForward();
    await page.waitForURL(address);
    await settled(page);
    assert.equal(await heading(page), title, `forward to ${address}`);
  }
  assert.equal(await page.evaluate(() => window.sameApp), true, "the app was loaded once");
  assert.deepEqual(problems, []);
  await close();
  console.log("ok  back and forward");
}

/** With the keyboard alone: to a list, to what is looked for, to an experiment. */
async function checkKeyboard(browser, base) {
  const { page, problems, close } = await openTab(browser);
  await visit(page, base);
  const focused = () =>
    page.evaluate(() => ({
      text: document.activeElement?.textContent?.trim(),
      id: document.activeElement?.id,
      control: document.activeElement?.getAttribute("data-control"),
      experiment: document.activeElement?.closest("[data-experiment]") !== null,
      outline: getComputedStyle(document.activeElement ?? document.body).outlineStyle,
    }));
  const until = async (wanted) => {
    for (let presses = 0; presses < 200; presses += 1) {
      await page.keyboard.press("Tab");
      const now = await focused();
      if (wanted(now)) return now;
    }
    throw new Error("it cannot be reached with Tab");
  };
  await page.keyboard.press("Tab");
  assert.equal((await focused()).text, "Skip to the content");
  const list = await until(({ text }) => text === "Experiments");
  assert.notEqual(list.outline, "none", "what has the focus can be seen");
  await page.keyboard.press("Enter");
  await settled(page);
  await page.locator('[data-control="q"]').waitFor();
  assert.equal((await focused()).id, "content", "reading goes on in the page that came");
  const name = await page
    .locator("tbody [data-experiment] a, tr[data-experiment] a")
    .last()
    .innerText();
  await until(({ control }) => control === "q");
  await page.keyboard.type(name);
  await page.waitForFunction(
    (words) =>
      [...document.querySelectorAll("tr[data-experiment] th a")].every((row) =>
        row.textContent.includes(words),
      ),
    name,
  );
  assert.equal(new URL(page.url()).searchParams.get("q"), name, "the address has what was typed");
  assert.equal((await focused()).control, "q", "and typing can go on");
  await until(({ experiment, text }) => experiment && text === name);
  await page.keyboard.press("Enter");
  await page.waitForURL(/experiment=\d+/);
  await settled(page);
  assert.deepEqual(problems, []);
  await close();
  console.log("ok  keyboard alone");
}

/** What is found as one types and chooses, and that an address has it. */
async function checkFilters(browser, base, briefs) {
  const { page, problems, close } = await openTab(browser);
  await visit(page, `${base}?view=experiments`);
  const rows = () => page.locator("tr[data-experiment]").count();
  const said = () => page.locator('p[role="status"]').innerText();
  assert.equal(await rows(), 100, "a list begins with the newest");
  await page.locator("button", { hasText: "more" }).click();
  assert.equal(await rows(), briefs.length);
  const expect = async (wanted, what) => {
    const number = briefs.filter(wanted).length;
    assert.ok(number > 0 && number < briefs.length, what);
    await page.waitForFunction(
      (text) => document.querySelector('p[role="status"]')?.textContent.startsWith(text),
      `${number} of `,
    );
    assert.equal(await rows(), Math.min(number, 100), what);
  };
  const choose = (control, value) =>
    page.locator(`[data-control="${control}"]`).selectOption(value);
  await choose("verdict", "regression");
  await expect(({ verdicts }) => verdicts.regression > 0, "regressions");
  await choose("system", "postgres");
  await choose("version", "14.0");
  const both = (one) =>
    one.verdicts.regression > 0 && one.variants.some(({ version }) => version === "14.0");
  await expect(both, "of a version");
  const address = page.url();
  await page.reload();
  await settled(page);
  await expect(both, "also when it is loaded again");
  await choose("system", "mysql");
  assert.equal(
    await page.locator('[data-control="version"]').inputValue(),
    "",
    "of another system",
  );
  await page.goBack();
  assert.equal(page.url(), address);
  await expect(both, "and when one goes back");
  await page.locator("button", { hasText: "clear" }).click();
  await page.locator('[data-control="q"]').fill("nightly SYSBENCH");
  await expect(
    ({ name, workload }) => name.includes("nightly") && workload === "sysbench",
    "all words, in any order",
  );
  await page.locator('[data-control="q"]').fill("no such experiment");
  await page.waitForFunction(() => document.querySelector("tr[data-experiment]") === null);
  assert.match(await said(), /^0 of /);
  assert.deepEqual(problems, []);
  await close();
  console.log("ok  filters");
}

/** A history in all orders and metrics; a point of it leads to its experiment. */
async function checkHistory(browser, base) {
  const { page, problems, close } = await openTab(browser);
  await visit(page, `${base}?view=history`);
  await page.locator("table.data tbody a").first().click();
  await settled(page);
  await page.waitForFunction(() => window.steelyard.history.length > 0);
  const steps = await page.evaluate(() => window.steelyard.history.map(({ step }) => step));
  await page.locator('[data-control="step"]').fill(steps[0]);
  await page.waitForFunction(
    (step) => window.steelyard.history.every((plot) => plot.step.includes(step)),
    steps[0],
  );
  for (const control of ["metric", "order"]) {
    const options = await page.locator(`[data-control="${control}"] option`).allInnerTexts();
    for (const option of options.slice(1)) {
      await page.locator(`[data-control="${control}"]`).selectOption(option);
      assert.equal(new URL(page.url()).searchParams.get(control), option);
      await settled(page);
    }
  }
  await page.waitForFunction(() => window.steelyard.history.length > 0);
  await page.locator(".runs summary").first().click();
  const linked = await page.locator(".runs li a").first().getAttribute("href");
  assert.match(linked, /experiment=\d+/);
  const plot = page.locator(".history-step .u-over").first();
  await plot.scrollIntoViewIfNeeded();
  const { width, height } = await plot.boundingBox();
  await plot.click({ position: { x: width / 2, y: height / 2 } });
  await page.waitForURL(/experiment=\d+/);
  assert.deepEqual(problems, []);
  await close();
  console.log("ok  history");
}

/** What is not there is said, and a server that went away too. */
async function checkMissing(browser, base, stop) {
  const { page, close } = await openTab(browser);
  for (const [address, words] of [
    ["?experiment=987654", /no experiment 987654/],
    ["?experiment=x", /leads to no page/],
    ["?view=nothing", /leads to no page/],
    ["?view=history&workload=none&machine=none", /no such history/],
  ]) {
    await visit(page, base + address);
    assert.match(await page.locator("#content").innerText(), words, address);
  }
  await visit(page, base);
  await stop();
  await page.locator("nav.top a", { hasText: "Machines" }).click();
  await settled(page);
  assert.match(await page.locator('[role="alert"]').innerText(), /Is the server still running/);
  await close();
  console.log("ok  what is not there");
}

const given = process.argv[2];
const temporary = mkdtempSync(join(tmpdir(), "steelyard-site-"));
const directory = given ? resolve(given) : temporary;
const briefs = given ? null : writeSampleSite(directory);
const read = (path) => JSON.parse(readFileSync(join(directory, "api/v1", path), "utf8"));
const { histories } = read("history.json");
const ids = read("experiments.json").experiments.map(({ id }) => id);
const shown = briefs ? [1, 2, 3, 4, 5] : ids.slice(0, 5);
const pages = [
  "",
  "?view=experiments",
  "?view=history",
  ...histories
    .slice(0, 2)
    .map(({ workload, machine }) => `?view=history&workload=${workload}&machine=${machine}`),
  "?view=machines",
  "?view=live",
  "?view=compare",
  ...(briefs ? ["?view=compare&with=1:pg13.7&with=1:pg14.3&with=2:pg14.3&with=9:none"] : []),
  ...shown.map((id) => `?experiment=${id}`),
];
const { address: base, stop } = await serving(directory);
const browser = await launch();
try {
  await checkPages(browser, base, pages);
  await checkWay(browser, base);
  await checkKeyboard(browser, base);
  if (briefs) await checkFilters(browser, base, briefs);
  if (histories.length > 0) await checkHistory(browser, base);
  await checkMissing(browser, base, stop);
} finally {
  await browser.close();
  await stop();
  rmSync(temporary, { recursive: true, force: true });
}
