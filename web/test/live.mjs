/**
 * Follows real runs in a real browser, from a service that the command starts:
 *   npm run test:live -- STEELYARD WORK_DIR
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { launch } from "./open.mjs";
import { openTab, settled, violations, visit } from "./tab.mjs";

const [program, work] = process.argv.slice(2).map((path) => resolve(path));
if (!work) throw new Error("say what with and where: npm run test:live -- STEELYARD WORK_DIR");
const [results, data] = ["results", "data"].map((name) => join(work, name));

const RUN = ["run", "insert", "-v", "postgres@13.7", "-v", "postgres@14.3", "--allow-concurrent"];
const SMALL = ["--rows", "20k", "--indexed-rows", "2k", "--steps", "l.i0,l.x,qr100"];
const WHERE = ["--results", results, "--data-dir", data];

/** A token of the service. */
function token(name, ...more) {
  const words = ["serve", "token", "add", name, ...more, "--results", results];
  return spawnSync(program, words, { encoding: "utf8" }).stdout.trim();
}

const started_all = [];

/** A command that runs; what it wrote to stderr is in `heard`. */
function start(words) {
  const child = spawn(program, words, { stdio: ["ignore", "ignore", "pipe"] });
  const started = { child, heard: "" };
  child.stderr.on("data", (text) => {
    started.heard += text;
  });
  started_all.push(started);
  started.ended = new Promise((done) => child.on("exit", (code) => done(code)));
  return started;
}

/** Waits until a command has written something. */
async function heard(started, pattern) {
  for (;;) {
    const found = pattern.exec(started.heard);
    if (found) return found;
    assert.equal(started.child.exitCode, null, `it has ended: ${started.heard}`);
    await new Promise((later) => setTimeout(later, 20));
  }
}

/** A run is seen from its start to its verdicts. */
async function checkRun(page) {
  assert.match(await page.locator('[role="status"]').first().innerText(), /No run is under way/);
  const run = start([...RUN, ...SMALL, "--seconds", "2", "--blocks", "1", ...WHERE]);
  const section = page.locator(".run");
  await section.waitFor();
  await section.locator("h2", { hasText: "insert" }).waitFor();
  await section.locator("pre.log", { hasText: "trial 1/2" }).waitFor();
  await section.locator("pre.log", { hasText: "qr100" }).waitFor();
  assert.deepEqual(await violations(page), [], "all can use it");
  await page.getByText("insert #1", { exact: false }).and(page.locator("p a")).waitFor();
  assert.equal(await run.ended, 0, run.heard);
  assert.equal(await section.count(), 0, "it is not under way any more");
  await page.locator("p a", { hasText: "insert" }).click();
  await settled(page);
  await page.locator("header.head h1").waitFor();
  assert.match(page.url(), /experiment=1$/);
  console.log("ok  a run from its start to its end");
}

/** Somebody without a token, with a wrong one and with the right one adds a note. */
async function checkNote(page, right) {
  await page.getByRole("button", { name: "add a note" }).click();
  const form = page.getByRole("form", { name: "add a note" });
  await form.getByLabel("It is").selectOption("bug");
  await form.getByLabel("Step").selectOption("l.i0");
  await form.getByLabel("Text").fill("https://bugs.example.com/17");
  const add = async (text, says) => {
    await form.getByLabel("Token").fill(text);
    await form.getByRole("button", { name: "Add" }).click();
    await form.locator('[role="status"]', { hasText: says }).waitFor();
  };
  await add("steelyard_x", "does not know this token");
  assert.deepEqual(await violations(page), [], "all can use the form");
  await add(right, "noted");
  await page.locator("body", { hasText: "bug: https://bugs.example.com/17" }).waitFor();
  console.log("ok  a note");
}

/** A run is stopped from the page, and goes on. */
async function checkStop(page, base, right) {
  await visit(page, `${base}?view=live`);
  const run = start([...RUN, ...SMALL, "--seconds", "300", "--blocks", "1", ...WHERE]);
  const step = page.locator(".run strong", { hasText: "qr100" });
  await step.waitFor();
  await page.getByRole("button", { name: "stop this run" }).click();
  const form = page.getByRole("form", { name: "stop this run" });
  await form.getByLabel("Token").fill("steelyard_x");
  await page.keyboard.press("Enter");
  await form.locator('[role="status"]', { hasText: "does not know this token" }).waitFor();
  await form.getByLabel("Token").fill(right);
  await page.keyboard.press("Enter");
  await page.locator("p", { hasText: "has ended." }).waitFor();
  assert.equal(await run.ended, 3, run.heard);
  assert.match(run.heard, /continue with `steelyard run --resume/);
  const resumed = start(["run", "--resume", "--allow-concurrent", ...WHERE]);
  await step.waitFor();
  assert.match(await page.locator(".run h2").innerText(), /#2/);
  resumed.child.kill("SIGINT");
  assert.equal(await resumed.ended, 3, resumed.heard);
  await page.getByText("No run is under way.").waitFor();
  console.log("ok  stopped and resumed");
}

const tokens = [token("owner", "--runs"), token("ci")];
const service = start(["serve", "--results", results, "--listen", "127.0.0.1:0"]);
const browser = await launch();
try {
  const [, base] = await heard(service, /Open (http:\S+) in a browser/);
  const { page, problems, close } = await openTab(browser);
  await visit(page, `${base}?view=live`);
  await checkRun(page);
  await checkNote(page, tokens[1]);
  await checkStop(page, base, tokens[0]);
  // A wrong token is answered with 401, which the browser logs.
  const others = problems.filter((text) => !text.includes("401 (Unauthorized)"));
  assert.deepEqual(others, []);
  await close();
} finally {
  await browser.close();
  // Where something failed, a run would go on.
  for (const { child } of started_all) child.kill("SIGINT");
  await Promise.all(started_all.map(({ ended }) => ended));
}
