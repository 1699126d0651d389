/** The ratio of a sliced step as restarts came: its interval narrows to the one that is judged. */

import { useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Page, PageRunning, PageSlices, PageStep } from "#page";
import { baseIndex, intervalName, variantName } from "../../data/page";
import { Chart, type ChartOptions, X_AXIS } from "../../shared/chart";
import { Heads, Scroll } from "../../shared/controls";
import { ink } from "../../shared/ink";
import { usePage } from "../../shared/page";
import { faded } from "../../shared/theme";
import { TipTable } from "../../shared/tip";
import { lookOf, Marked, Named } from "../../shared/variant";
import { VerdictMark } from "../../shared/verdict";
import { count, interval, judgedRatio, ratio } from "../../text/format";
import { ratioRange } from "./slicedata";
import { inspection, opacity, type PlotView, showVariants } from "./view";

const HEIGHT = 230;

/** By restart what a variant has at it; restarts that say nothing about it are missing. */
function byRestart({ restarts }: PageSlices, running: PageRunning) {
  return restarts.map(({ block }) => running.restarts.find((one) => one.block === block));
}

function options(page: Page, slices: PageSlices, view: () => PlotView): ChartOptions {
  const { running, margin, restarts } = slices;
  const shown = () => running.filter(({ variant }) => !view().hidden.has(variant));
  const color = (variant: number, usual: number): string =>
    faded(lookOf(page, variant).color, opacity(view(), variant, usual));

  /** Dots of several variants are drawn side by side. */
  const beside = (place: number): number =>
    (place - (running.length - 1) / 2) * Math.min(0.05, 0.24 / running.length);

  const under = (u: uPlot): void => {
    const { ctx, bbox } = u;
    const pixel = uPlot.pxRatio;
    const x = (value: number): number => u.valToPos(value, "x", true);
    const y = (value: number): number => u.valToPos(value, "y", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = pixel;
    for (const edge of [1, ...margin]) {
      ctx.strokeStyle = ink("text");
      ctx.setLineDash(edge === 1 ? [] : [4 * pixel, 4 * pixel]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y(edge));
      ctx.lineTo(bbox.left + bbox.width, y(edge));
      ctx.stroke();
    }
    ctx.setLineDash([]);
    for (const one of shown()) {
      const corners = byRestart(slices, one).flatMap((known, index): [number, number, number][] =>
        known && known.low !== null && known.high !== null
          ? [[x(index + 1), y(known.low), y(known.high)]]
          : [],
      );
      ctx.beginPath();
      for (const [at, low] of corners) ctx.lineTo(at, low);
      for (const [at, , high] of [...corners].reverse()) ctx.lineTo(at, high);
      ctx.closePath();
      ctx.fillStyle = color(one.variant, 0.16);
      ctx.strokeStyle = color(one.variant, 0.4);
      ctx.fill();
      ctx.stroke();
    }
    running.forEach((one, place) => {
      if (view().hidden.has(one.variant)) return;
      ctx.strokeStyle = color(one.variant, 0.8);
      byRestart(slices, one).forEach((known, index) => {
        if (!known) return;
        ctx.beginPath();
        ctx.arc(x(index + 1 + beside(place)), y(known.own), 2.6 * pixel, 0, 2 * Math.PI);
        ctx.stroke();
      });
    });
    ctx.restore();
  };

  return {
    padding: [8, 18, 0, 0],
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: { time: false, range: () => [0.5, restarts.length + 0.5] },
      y: { range: () => ratioRange(shown(), margin) },
    },
    x: {
      grid: { show: false },
      incrs: [1, 2, 5, 10, 20, 50],
      space: 34,
      values: (_u, splits) => splits.map((at) => (at > 0 && at <= restarts.length ? `${at}` : "")),
    },
    y: { space: 30, values: (_u, splits) => splits.map((value) => ratio(value)) },
    series: [
      {},
      ...running.map(
        ({ variant }): uPlot.Series => ({
          label: variantName(page, variant),
          show: !view().hidden.has(variant),
          stroke: () => color(variant, 1),
          width: 2,
          dash: lookOf(page, variant).dash,
          spanGaps: true,
          points: { show: true, size: 6, width: 0, fill: () => color(variant, 1) },
        }),
      ),
    ],
    hooks: { drawAxes: [under] },
  };
}

/** What the comparison came to, variant by variant. */
function Verdicts({ step, slices, sure }: { step: PageStep; slices: PageSlices; sure: string }) {
  const judged = step.relative.filter((one) =>
    slices.running.some(({ variant }) => variant === one.variant),
  );
  return (
    <Scroll name={`Verdicts of ${step.name}`}>
      <table class="data running-verdicts">
        <thead>
          <tr>
            <Heads of={[["Variant", "label"], ["ratio"], [sure], ["verdict", "label"]]} />
          </tr>
        </thead>
        <tbody>
          {judged.map((one) => (
            <tr title={one.sentence}>
              <th scope="row">
                <Named variant={one.variant} />
              </th>
              <td>{judgedRatio(one)}</td>
              <td>{interval(one.low, one.high)}</td>
              <td class="label">
                <VerdictMark verdict={one.verdict} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

export function RunningRatio(props: { step: PageStep; slices: PageSlices; view: PlotView }) {
  const { step, slices, view } = props;
  const page = usePage();
  const now = useRef(view);
  now.current = view;
  const { running, restarts } = slices;
  const columns = running.map((one) => byRestart(slices, one));
  const lines = running.map(({ variant, restarts }) => ({ variant, points: restarts.length }));
  const base = variantName(page, baseIndex(page));
  const sure = intervalName(step.relative);
  const tip = (index: number) => (
    <TipTable
      title={`after ${count(index + 1, "restart")}`}
      about={`ratio, ${sure}, this restart alone`}
      rows={running.flatMap(({ variant }, place) => {
        const known = columns[place]?.[index];
        if (view.hidden.has(variant) || !known) return [];
        const { ratio: value, low, high, own } = known;
        return [[<Marked variant={variant} />, ratio(value), interval(low, high), ratio(own)]];
      })}
    />
  );
  return (
    <div class="running">
      {restarts.length > 1 && (
        <figure class="plot" data-plot="running">
          <figcaption>
            <span class="name">Ratio to {base}</span>
            <span class="unit">after each restart</span>
          </figcaption>
          <Chart
            label={`Ratio to ${base} after each of ${count(restarts.length, "restart")}`}
            height={HEIGHT + X_AXIS}
            data={
              [
                restarts.map((_, index) => index + 1),
                ...columns.map((column) => column.map((known) => known?.ratio ?? null)),
              ] as uPlot.AlignedData
            }
            options={() => options(page, slices, () => now.current)}
            update={(u) => showVariants(u, view, lines)}
            state={[view.hidden, view.focus]}
            tip={tip}
            kind="plots"
            inspect={(u) => inspection(page, step, "running", u, lines)}
          />
          <p class="note">
            Line and band: the ratio over all restarts so far and its {sure}, from the second
            restart on. Rings: each restart alone. Dashed: the margin, {interval(...slices.margin)}.
          </p>
        </figure>
      )}
      <Verdicts step={step} slices={slices} sure={sure} />
    </div>
  );
}
