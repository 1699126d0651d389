/** Rates of a sliced step, round by round, restart after restart. */

import { useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Page, PageSlices, PageStep } from "#page";
import { variantName } from "../../data/page";
import { Chart, type ChartOptions, X_AXIS } from "../../shared/chart";
import { AXIS_FONT, ink } from "../../shared/ink";
import { usePage } from "../../shared/page";
import { faded } from "../../shared/theme";
import { TipTable } from "../../shared/tip";
import { lookOf, Marked } from "../../shared/variant";
import { yRange } from "../../shared/yrange";
import { axisValues, count, figures, NOTHING } from "../../text/format";
import { extent, type Rounds, rounds, roundsOf } from "./slicedata";
import { inspection, opacity, type PlotView, showVariants } from "./view";

const HEIGHT = 230;
/** Room above the plot: for the numbers of restarts, and for each variant's marks. */
const NUMBERS = 16;
const LANE = 9;
const LANES = 45;

/** What marks a slice without a rate, by its reason. */
export const MARKS = ["", "×", "△", "○"];

/** The variants that have marks, each with a lane. */
function lanesOf({ restarts }: PageSlices): number[] {
  const variants = restarts.flatMap(({ aside }) => aside.map(([, variant]) => variant));
  return [...new Set(variants)].sort((a, b) => a - b);
}

function laneHeight(slices: PageSlices): number {
  return Math.min(LANE, LANES / Math.max(1, lanesOf(slices).length));
}

function options(
  page: Page,
  { unit }: PageStep,
  slices: PageSlices,
  all: Rounds,
  view: () => PlotView,
): ChartOptions {
  const lanes = lanesOf(slices);
  const lane = laneHeight(slices);
  const order = page.variants.map((_, variant) => variant);
  const shown = (variant: number): boolean => !view().hidden.has(variant);
  const color = (variant: number, usual: number): string =>
    faded(lookOf(page, variant).color, opacity(view(), variant, usual));
  const many = all.x.length > 400;

  /** Draws inside the seconds in view; `above` takes in the room above the plot. */
  const within = (u: uPlot, above: number, draw: (ctx: CanvasRenderingContext2D) => void): void => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top - above, bbox.width, bbox.height + above);
    ctx.clip();
    draw(ctx);
    ctx.restore();
  };
  const ends = (u: uPlot, restart: number): [number, number] => [
    u.valToPos(all.begins[restart] ?? 0, "x", true),
    u.valToPos(all.begins[restart + 1] ?? all.end, "x", true),
  ];
  const top = NUMBERS + lanes.length * lane;

  /** Every other restart on a ground of its own, with its number above. */
  const ground = (u: uPlot): void => {
    const pixel = uPlot.pxRatio;
    within(u, top * pixel, (ctx) => {
      ctx.font = `${11 * pixel}px ${AXIS_FONT.replace(/^\S+ /, "")}`;
      ctx.textAlign = "center";
      slices.restarts.forEach((_, index) => {
        const [left, right] = ends(u, index);
        const whole = `restart ${index + 1}`;
        const name = [whole, String(index + 1)].find(
          (text) => ctx.measureText(text).width + 6 * pixel < right - left,
        );
        ctx.fillStyle = faded(ink("grid"), index % 2 === 0 ? 0.55 : 0);
        ctx.fillRect(left, u.bbox.top - top * pixel, right - left, u.bbox.height + top * pixel);
        ctx.fillStyle = ink("axis");
        ctx.fillText(name ?? "", (left + right) / 2, u.bbox.top - (top - 11) * pixel);
      });
    });
  };

  /** From the lowest to the highest rate of a point, where it holds several rounds. */
  const spread = (u: uPlot): void => {
    if (slices.rounds_per_point < 2) return;
    within(u, 0, (ctx) => {
      ctx.lineWidth = uPlot.pxRatio;
      for (const variant of order.filter(shown)) {
        ctx.strokeStyle = color(variant, 0.3);
        ctx.beginPath();
        all.x.forEach((second, place) => {
          const [low, high] = [all.low[variant]?.[place], all.high[variant]?.[place]];
          if (low == null || high == null) return;
          const x = u.valToPos(second, "x", true);
          ctx.moveTo(x, u.valToPos(low, "y", true));
          ctx.lineTo(x, u.valToPos(high, "y", true));
        });
        ctx.stroke();
      }
    });
  };

  /** The median of each restart, a bar over its seconds. */
  const levels = (u: uPlot): void => {
    within(u, 0, (ctx) => {
      ctx.lineWidth = 2 * uPlot.pxRatio;
      slices.restarts.forEach(({ levels }, index) => {
        const [left, right] = ends(u, index);
        for (const variant of order.filter(shown)) {
          const level = levels[variant];
          if (level == null) continue;
          const y = u.valToPos(level, "y", true);
          ctx.strokeStyle = color(variant, 1);
          ctx.beginPath();
          ctx.moveTo(left + uPlot.pxRatio, y);
          ctx.lineTo(right - uPlot.pxRatio, y);
          ctx.stroke();
        }
      });
    });
  };

  /** Slices without a rate, in the lane of their variant. */
  const marks = (u: uPlot): void => {
    const pixel = uPlot.pxRatio;
    within(u, top * pixel, (ctx) => {
      ctx.font = `${10 * pixel}px ${AXIS_FONT.replace(/^\S+ /, "")}`;
      ctx.textAlign = "center";
      slices.restarts.forEach(({ aside, seconds }, index) => {
        for (const [point, variant, reason] of aside) {
          if (!shown(variant)) continue;
          const second = (all.begins[index] ?? 0) + (seconds[point] ?? 0);
          const below = lanes.length - lanes.indexOf(variant) - 1;
          ctx.fillStyle = color(variant, 1);
          const y = u.bbox.top - (below * lane + 2) * pixel;
          ctx.fillText(MARKS[reason] ?? "?", u.valToPos(second, "x", true), y);
        }
      });
    });
  };

  return {
    padding: [top, 18, 0, 0],
    cursor: { points: { size: 6 }, drag: { x: true, y: false, dist: 5 } },
    scales: {
      x: { time: false, range: (_u, min, max) => [min, max] },
      y: {
        range: () => {
          const [low, high] = extent(
            order.filter(shown).flatMap((v) => [all.low[v] ?? [], all.high[v] ?? []]),
          );
          return yRange(low, high, null, view().fromZero);
        },
      },
    },
    x: { gap: 5, space: 60, values: (_u, splits) => splits.map((second) => `${second} s`) },
    y: { space: 24, values: (_u, splits) => axisValues(splits, `${unit}/s`) },
    series: [
      {},
      ...order.map(
        (variant): uPlot.Series => ({
          label: variantName(page, variant),
          show: shown(variant),
          paths: () => null,
          points: {
            show: true,
            size: many ? 3 : 4,
            width: 0,
            fill: () => color(variant, many ? 0.6 : 0.75),
          },
        }),
      ),
    ],
    hooks: { drawClear: [ground], drawAxes: [spread], draw: [levels, marks] },
  };
}

/** What is said of the place under the pointer. */
function RoundTip(props: {
  step: PageStep;
  slices: PageSlices;
  all: Rounds;
  view: PlotView;
  at: number;
}) {
  const { step, slices, all, view, at } = props;
  const page = usePage();
  const place = all.places[at];
  const restart = place && slices.restarts[place.restart];
  if (!restart) return null;
  const shown = page.variants.map((_, variant) => variant).filter((one) => !view.hidden.has(one));
  const rate = (value: number | null | undefined): string => figures(value);
  const name = `restart ${place.restart + 1}`;
  const { point } = place;
  if (point === null) {
    return (
      <TipTable
        title={name}
        about={`${count(restart.rounds, "round")}, median of ${step.unit}/s`}
        rows={shown.map((variant) => [<Marked variant={variant} />, rate(restart.levels[variant])])}
      />
    );
  }
  const [first, last] = roundsOf(restart, point, slices.rounds_per_point);
  const aside = restart.aside.filter(([of, variant]) => of === point && shown.includes(variant));
  return (
    <>
      <TipTable
        title={first === last ? `round ${first}` : `rounds ${first} to ${last}`}
        about={`${name}, ${step.unit}/s`}
        rows={shown.map((variant) => {
          const value = all.rates[variant]?.[at];
          const low = all.low[variant]?.[at];
          const range =
            first === last || low == null
              ? null
              : `${rate(low)} … ${rate(all.high[variant]?.[at])}`;
          return [<Marked variant={variant} />, value == null ? NOTHING : rate(value), range];
        })}
      />
      {aside.map(([, variant, reason, many]) => (
        <div>
          <Marked variant={variant} /> {MARKS[reason]} {many > 1 && `${many} slices `}
          {page.slice_reasons[reason]}
        </div>
      ))}
    </>
  );
}

export function SliceRates(props: { step: PageStep; slices: PageSlices; view: PlotView }) {
  const { step, slices, view } = props;
  const page = usePage();
  const all = useMemo(() => rounds(slices, page.variants.length), []);
  const now = useRef(view);
  now.current = view;
  const lines = all.rates.map((values, variant) => ({
    variant,
    points: values.filter((value) => value !== null).length,
  }));
  return (
    <figure class="plot" data-plot="slices">
      <figcaption>
        <span class="name">Rate per round</span>
        <span class="unit">{step.unit}/s</span>
        <span class="unit drag-hint">drag to zoom, double-click to reset</span>
      </figcaption>
      <Chart
        label={`Rates of ${step.name} per round, restart after restart`}
        height={HEIGHT + X_AXIS + lanesOf(slices).length * laneHeight(slices)}
        data={[all.x, ...all.rates] as uPlot.AlignedData}
        options={() => options(page, step, slices, all, () => now.current)}
        update={(u) => {
          showVariants(u, view, lines);
          const { min = 0, max = all.end } = u.scales.x ?? {};
          u.setScale("x", { min: min ?? 0, max: max ?? all.end });
        }}
        state={[view.hidden, view.focus, view.fromZero]}
        tip={(at) => <RoundTip step={step} slices={slices} all={all} view={view} at={at} />}
        kind="plots"
        inspect={(u) => inspection(page, step, "slices", u, lines)}
      />
    </figure>
  );
}
