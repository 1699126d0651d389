/** Sweeps over clients, in a page that is open: every line and counter is drawn, on one axis. */
import assert from "node:assert/strict";

const drawn = (page) =>
  page.evaluate(() => Object.fromEntries(window.steelyard.sweeps.map((plot) => [plot.plot, plot])));

const wanted = (page) =>
  page.evaluate(() => {
    const [sweep] = window.steelyard.page.sweeps ?? [];
    if (!sweep) return null;
    const [dimension] = sweep.dimensions;
    return {
      clients: sweep.clients,
      dimension: dimension?.name,
      values: dimension?.values ?? [],
      lines: sweep.lines.length,
      variants: window.steelyard.page.variants.length,
      cliffs: sweep.lines.reduce((sum, line) => sum + line.cliffs.length, 0),
      metrics: sweep.metrics
        .filter(({ subject, name }) =>
          subject === "latency" ? /\.(p50|p95|p99|p999)$/.test(name) : subject !== "other",
        )
        .map(({ name }) => name),
      points: sweep.lines.flatMap(({ steps }) => steps).filter((step) => step !== null),
      steps: window.steelyard.page.steps.length,
    };
  });

/** Waits until a plot's axis is as asked. */
const axisIs = (page, plot, test) =>
  page.waitForFunction(
    ([plot, test]) => {
      const found = window.steelyard.sweeps.find((one) => one.plot === plot);
      // biome-ignore lint/security/noGlobalEval: a condition of the test.
      return found && eval(test)(found.x);
    },
    [plot, test],
  );

/** Checks the first sweep of a page that has at most one dimension; returns whether there is one. */
export async function checkSweep(page) {
  const sweep = await wanted(page);
  assert.equal(await page.locator("#sweep").count(), sweep ? 1 : 0, "sweeps are there if any are");
  if (!sweep) return false;
  const [first, last] = [sweep.clients[0], sweep.clients.at(-1)];
  const section = page.locator("section.sweep");
  await section.locator('[data-plot="main"] canvas').waitFor();

  // All lines at once, and each version alone.
  let main = (await drawn(page)).main;
  assert.equal(main.lines.length, sweep.lines, "few lines are all drawn");
  for (const { points } of main.lines) assert.equal(points, sweep.clients.length);
  assert.equal(
    main.lines.reduce((sum, line) => sum + line.cliffs, 0),
    sweep.cliffs,
    "every fall is marked",
  );
  assert.equal(await section.locator(".fall").count(), sweep.cliffs, "and told in words");
  if (sweep.variants > 1 && sweep.dimension !== undefined) {
    await section.locator('[data-control="sweep-variant"]').selectOption("1");
    await page.waitForFunction(
      (lines) =>
        window.steelyard.sweeps.find(({ plot }) => plot === "main")?.lines.length === lines,
      sweep.values.length,
    );
    await section.locator('[data-control="sweep-by"]').selectOption("variant");
    await page.waitForFunction(
      (name) =>
        window.steelyard.sweeps.find(({ plot }) => plot === "main")?.lines[0].name.startsWith(name),
      await page.evaluate(() => window.steelyard.page.variants[0].name),
    );
    await section.locator('[data-control="sweep-measure"]').selectOption("relative");
    await page.waitForFunction(
      (lines) =>
        window.steelyard.sweeps.find(({ plot }) => plot === "main")?.lines.length === lines,
      sweep.lines - sweep.values.length,
    );
    await section.locator('[data-control="sweep-by"]').selectOption(`label ${sweep.dimension}`);
  }
  await section.locator('[data-control="sweep-measure"]').selectOption("client");
  await section.locator('[data-control="sweep-measure"]').selectOption("throughput");
  await section.locator('[data-plot="main"] canvas').waitFor();

  // A line is hidden in all plots.
  const chip = section.locator("button[data-line]").last();
  await chip.click();
  assert.equal((await drawn(page)).main.lines.at(-1).visible, false);
  await chip.click();
  assert.equal((await drawn(page)).main.lines.at(-1).visible, true);

  // Every counter is drawn when the reader is there, and shares the axis.
  for (const metric of sweep.metrics) {
    const plot = section.locator(`[data-plot="${metric}"]`);
    await plot.scrollIntoViewIfNeeded();
    await plot.locator("canvas").waitFor();
  }
  const over = section.locator('[data-plot="main"] .u-over');
  await over.scrollIntoViewIfNeeded();
  let box = await over.boundingBox();
  const at = (share) => [box.x + box.width * share, box.y + box.height / 2];
  await page.mouse.move(...at(0.25));
  await page.mouse.down();
  await page.mouse.move(...at(0.4), { steps: 4 });
  await page.mouse.move(...at(0.5), { steps: 4 });
  await page.mouse.up();
  const width = last - first;
  await axisIs(page, "main", `(x) => x[1] - x[0] < ${0.5 * width}`);
  const all = await drawn(page);
  for (const metric of sweep.metrics)
    assert.deepEqual(all[metric].x, all.main.x, `${metric} shows the same clients`);

  // One cursor for all, with the values of all lines.
  box = await over.boundingBox();
  await page.mouse.move(...at(0.6));
  assert.match(await page.locator(".tip").innerText(), /clients? · Throughput/);
  for (const metric of sweep.metrics.slice(0, 3))
    assert.equal(
      await section.locator(`[data-plot="${metric}"] .sweep-readout .value`).count(),
      all.main.lines.length,
      `${metric} tells every line`,
    );
  await over.dblclick();
  await axisIs(page, "main", `(x) => x[0] === ${first} && x[1] === ${last}`);
  const log = section.locator('[data-control="sweep-log"]');
  await log.check();
  await section.locator('[data-plot="main"] canvas').waitFor();
  main = (await drawn(page)).main;
  assert.deepEqual(main.x, [first, last], "a logarithmic axis shows all clients");
  await log.uncheck();
  const figures = section.locator("details.sweep-group");
  await figures.locator("summary").click();
  await figures.locator("canvas").first().waitFor();
  await page.mouse.move(1, 1);

  // Its points are steps, listed when asked for; a link to one opens the list.
  const ordinary = sweep.steps - new Set(sweep.points).size;
  assert.equal(await page.locator("section.step").count(), ordinary, "its points are folded");
  const points = page.locator("details.step-points");
  await points.locator("summary").click();
  await page.waitForFunction(
    (number) => document.querySelectorAll("section.step").length === number,
    sweep.steps,
  );
  await points.locator("> summary").click();
  return true;
}

/** A link to a point with idle-priority threads shows when they ran, and what came of it. */
export async function checkIdle(page) {
  const place = await page.evaluate(() =>
    window.steelyard.page.steps.findIndex(({ trials }) => trials.some(({ idle }) => idle)),
  );
  assert.ok(place >= 0, "a point has idle-priority threads");
  await page.evaluate((place) => {
    window.location.hash = `#step-${place + 1}`;
  }, place);
  const panel = page.locator(`#step-${place + 1}`);
  await panel.locator('[data-plot="throughput"] canvas').waitFor();
  const row = await panel.locator(".idle-rates tbody tr").first().innerText();
  assert.match(row, /3\.20 ×.*2\.70 ×/s, "the ratios");
  assert.match(await panel.locator(".idle").innerText(), /from second 10 to 20/);
}
