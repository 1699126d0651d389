/** Steps that ran in slices, in a page that is open: their rates and ratios are drawn, and nothing per second. */
import assert from "node:assert/strict";

const drawn = (page, step, dop) =>
  page.evaluate(
    ([step, dop]) =>
      Object.fromEntries(
        window.steelyard.plots
          .filter((plot) => plot.step === step && plot.dop === dop)
          .map((plot) => [plot.plot, plot]),
      ),
    [step, dop],
  );

/** What the data say of each step with slices. */
const wanted = (page) =>
  page.evaluate(() =>
    window.steelyard.page.steps.flatMap(({ name, dop, slices, trials }, index) =>
      slices
        ? [
            {
              id: `step-${index + 1}`,
              name,
              dop,
              perSecond: trials.length > 0,
              seconds: slices.restarts.reduce((sum, { length }) => sum + length, 0),
              points: window.steelyard.page.variants.map((_, variant) =>
                slices.restarts.reduce(
                  (sum, { rates }) => sum + rates[variant].filter((rate) => rate !== null).length,
                  0,
                ),
              ),
              running: slices.running.map(({ restarts }) => restarts.length),
              reasons: new Set(slices.restarts.flatMap(({ aside }) => aside.map((one) => one[2])))
                .size,
            },
          ]
        : [],
    ),
  );

/** Checks every step that ran in slices; returns how many there are. */
export async function checkSlices(page) {
  const steps = await wanted(page);
  for (const { id, name, dop, perSecond, seconds, points, running, reasons } of steps.slice(0, 4)) {
    const panel = page.locator(`#${id}`);
    const toggle = panel.locator(".step-toggle");
    if ((await toggle.getAttribute("aria-expanded")) === "false") await toggle.click();
    await panel.scrollIntoViewIfNeeded();
    await panel.locator('[data-plot="slices"] canvas').waitFor();
    const plots = await drawn(page, name, dop);
    const about = `${name}, dop ${dop}`;
    assert.deepEqual(
      plots.slices.series.map((series) => series.points),
      points,
      `${about}: every point is drawn`,
    );
    const [low, high] = plots.slices.x;
    assert.ok(
      low === 0 && Math.abs(high - seconds) < 1e-6 * seconds,
      `${about}: the axis ends at ${high}, the data at ${seconds}`,
    );
    if (!perSecond)
      assert.deepEqual(
        Object.keys(plots).filter((plot) => !/^(slices|running|percentiles\..*)$/.test(plot)),
        [],
        `${about}: nothing per second`,
      );
    assert.deepEqual(
      (plots.running?.series ?? []).map((series) => series.points),
      running,
      `${about}: a line for every variant that is compared`,
    );
    assert.equal(await panel.locator(".running-verdicts tbody tr").count(), running.length);
    assert.equal(
      await panel.locator(".aside li").count(),
      reasons,
      `${about}: every reason is told`,
    );

    const over = panel.locator('[data-plot="slices"] .u-over');
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.3, middle);
    assert.match(await page.locator(".tip").innerText(), /round|restart/, "hovering tells a round");
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, middle, { steps: 4 });
    await page.mouse.up();
    const [from, to] = (await drawn(page, name, dop)).slices.x;
    assert.ok(to - from < 0.5 * seconds, `${about}: dragging zooms to ${from}, ${to}`);
    const last = panel.locator("button[data-variant][aria-pressed]").last();
    await last.click();
    const hidden = await drawn(page, name, dop);
    assert.deepEqual(hidden.slices.x, [from, to], "hiding a variant leaves the seconds in view");
    for (const plot of [hidden.slices, hidden.running])
      if (plot) assert.equal(plot.series.at(-1).visible, false, `${about}: hidden in ${plot.plot}`);
    await last.click();
    await over.dblclick();
    assert.deepEqual(
      (await drawn(page, name, dop)).slices.x,
      [low, high],
      `${about}: a double click shows all again`,
    );
    if (Math.max(0, ...running) > 1) {
      const ratios = panel.locator('[data-plot="running"] .u-over');
      await ratios.scrollIntoViewIfNeeded();
      await ratios.hover();
      assert.match(await page.locator(".tip").innerText(), /after \d+ restart/);
    }
    await page.mouse.move(1, 1);
    await toggle.click();
  }
  return steps.length;
}
