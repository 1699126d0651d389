/** Latency: the percentile curve and the table p50 … max of each class of statements. */

import { useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { Page, PageLatency, PagePercentiles, PageStep } from "#page";
import { baseIndex, variantName } from "../../data/page";
import { Chart, type ChartOptions } from "../../shared/chart";
import { Scroll } from "../../shared/controls";
import { usePage } from "../../shared/page";
import { faded } from "../../shared/theme";
import { TipTable } from "../../shared/tip";
import { lookOf, Marked, Named } from "../../shared/variant";
import {
  axisDuration,
  duration,
  durationUnit,
  figures,
  grouped,
  NOTHING,
  percentileName,
} from "../../text/format";
import { type Aligned, alignPercentiles, percentilePosition } from "./percentiles";
import { inspection, opacity, type PlotView, showVariants } from "./view";

const HEIGHT = 210;

/** Percentiles that have a name on the axis. */
const TICKS = [50, 90, 99, 99.9, 99.99, 99.999];

/** The names of ticks, from the maximum down, without those that would touch the one before. */
function roomy(u: uPlot, splits: number[], names: string[]): string[] {
  let edge = Infinity;
  return names
    .map((name, index): [string, number] => [name, splits[index] ?? 0])
    .reverse()
    .map(([name, split]) => {
      const half = name.length * 3.2;
      const centre = u.valToPos(split, "x");
      if (centre + half > edge) return "";
      edge = centre - half - 6;
      return name;
    })
    .reverse();
}

/** Of a logarithmic axis the powers of ten; where those are few, twice and five times them too. */
function round(u: uPlot, ticks: number[]): (number | null)[] {
  const { min = 1, max = 10 } = u.scales.y ?? {};
  const leading = Math.log10(max / min) < 2 ? /^[125]e/ : /^1e/;
  return ticks.map((us) => (leading.test(Number(us.toPrecision(3)).toExponential()) ? us : null));
}

function curveOptions(
  page: Page,
  curves: PagePercentiles[],
  { x, percentiles }: Aligned,
  view: () => PlotView,
): ChartOptions {
  const last = x[x.length - 1] ?? 1;
  const highest = percentiles.filter((one) => one < 100).pop() ?? 0;
  const ticks = TICKS.filter((percentile) => percentile <= highest + 1e-9);
  const splits = ticks.map(percentilePosition);
  const names = ticks.map((percentile) => `p${percentileName(percentile)}`);
  if (percentiles.includes(100)) {
    splits.push(last);
    names.push("max");
  }
  return {
    padding: [8, 16, 0, 0],
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: { time: false, range: () => [Math.min(x[0] ?? 0, percentilePosition(50)), last] },
      y: { distr: 3, log: 10 },
    },
    x: { gap: 5, splits: () => splits, values: (u) => roomy(u, splits, names) },
    y: {
      grid: { filter: round },
      filter: round,
      space: 26,
      values: (_u, shown) => shown.map((us) => (us === null ? "" : axisDuration(us))),
    },
    series: [
      {},
      ...curves.map(
        ({ variant }): uPlot.Series => ({
          label: variantName(page, variant),
          show: !view().hidden.has(variant),
          stroke: () => faded(lookOf(page, variant).color, opacity(view(), variant, 1)),
          width: 1.5,
          dash: lookOf(page, variant).dash,
          spanGaps: true,
          points: { show: false },
        }),
      ),
    ],
  };
}

interface PartProps {
  step: PageStep;
  view: PlotView;
  kind: string;
}

/** A curve of latency percentiles, one line per variant. */
function Curves({ step, view, kind, curves }: PartProps & { curves: PagePercentiles[] }) {
  const page = usePage();
  const now = useRef(view);
  now.current = view;
  const aligned = alignPercentiles(curves.map((curve) => curve.points));
  const lines = curves.map(({ variant, points }) => ({ variant, points: points.length }));
  const tip = (index: number) => {
    const percentile = aligned.percentiles[index] ?? 0;
    return (
      <TipTable
        title={percentile >= 100 ? "maximum" : `percentile ${percentileName(percentile)}`}
        rows={curves.flatMap(({ variant }, place) =>
          view.hidden.has(variant)
            ? []
            : [[<Marked variant={variant} />, duration(aligned.values[place]?.[index])]],
        )}
      />
    );
  };
  return (
    <figure class="plot" data-plot={`percentiles.${kind}`}>
      <figcaption>
        <span class="name">Latency by percentile</span>
        <span class="unit">log–log</span>
      </figcaption>
      <Chart
        label={`Latency of ${kind} statements by percentile; the table below has the figures`}
        height={HEIGHT}
        data={[aligned.x, ...aligned.values] as uPlot.AlignedData}
        options={() => curveOptions(page, curves, aligned, () => now.current)}
        update={(u) => showVariants(u, view, curves)}
        state={[view.hidden, view.focus]}
        tip={tip}
        kind="plots"
        inspect={(u) => inspection(page, step, `percentiles.${kind}`, u, lines)}
      />
    </figure>
  );
}

const COLUMNS = ["mean", "p50", "p90", "p95", "p99", "p999", "max"] as const;

/** Three significant digits, but never fewer than the whole part has: 1234 ms stays 1234. */
function scaled(us: number | null, divisor: number): string {
  if (us === null) return NOTHING;
  const value = us / divisor;
  return value >= 1000 ? grouped(value) : figures(value);
}

/** Every column in one unit of its own, so that its figures can be compared at a glance. */
function LatencyTable({ rows, kind }: { rows: PageLatency[]; kind: string }) {
  const base = baseIndex(usePage());
  const units = COLUMNS.map((column) =>
    durationUnit(Math.min(...rows.map((row) => row[column] ?? 0).filter((us) => us > 0))),
  );
  return (
    <Scroll name={`Latency of ${kind} statements`}>
      <table class="data latency">
        <thead>
          <tr>
            <th scope="col" class="label">
              Variant
            </th>
            {COLUMNS.map((column, place) => (
              <th scope="col">
                {column === "p999" ? "p99.9" : column}{" "}
                <span class="minor">{units[place]?.[1]}</span>
              </th>
            ))}
            <th scope="col">count</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr data-kind={row.variant === base ? "base" : undefined}>
              <th scope="row">
                <Named variant={row.variant} />
              </th>
              {COLUMNS.map((column, place) => (
                <td>{scaled(row[column], units[place]?.[0] ?? 1)}</td>
              ))}
              <td>{grouped(row.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function ofClass<T extends { class: string; variant: number }>(all: T[], kind: string): T[] {
  return all.filter((one) => one.class === kind).sort((a, b) => a.variant - b.variant);
}

/** Curve and table for every class of statements that the step has. */
export function Latencies({ step, view }: Omit<PartProps, "kind">) {
  const kinds = new Set([...step.latency, ...step.percentiles].map((one) => one.class));
  if (kinds.size === 0) return null;
  return (
    <div class="latencies">
      {[...kinds].map((kind) => {
        const rows = ofClass(step.latency, kind);
        const curves = ofClass(step.percentiles, kind).filter(({ points }) => points.length > 1);
        return (
          <div class="latency-class" data-class={kind}>
            <h4>
              Latency: {kind}
              <span class="minor"> per statement, all blocks together</span>
            </h4>
            {curves.length > 0 && <Curves step={step} view={view} kind={kind} curves={curves} />}
            {rows.length > 0 && <LatencyTable rows={rows} kind={kind} />}
          </div>
        );
      })}
    </div>
  );
}
