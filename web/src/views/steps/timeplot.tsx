/** One figure over the seconds of a step, a line per variant (and block), with stalls shaded. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type uPlot from "uplot";
import { baseIndex } from "../../data/page";
import { Chart, X_AXIS } from "../../shared/chart";
import { usePage } from "../../shared/page";
import { TipTable } from "../../shared/tip";
import { Marked, Swatch } from "../../shared/variant";
import { ZOOM_KEYS, zoomByKey } from "../../shared/zoom";
import { headingUnit, NOTHING, withUnit } from "../../text/format";
import { isAlone } from "./align";
import { type TimePlotProps, timeOptions } from "./timeoptions";
import { type Inspection, inspection, type PlotView, showVariants } from "./view";

/** What keys do to the plots of a step. */
function keys(view: PlotView, event: KeyboardEvent): void {
  const [low, high] = view.range;
  const stride = event.shiftKey ? Math.max(1, Math.round((high - low) / 20)) : 1;
  zoomByKey(view, event, (direction) => {
    const from = view.cursor ?? (direction > 0 ? Math.ceil(low) - 1 : Math.floor(high) + 1);
    const to = from + direction * stride;
    view.setCursor(Math.min(Math.floor(high), Math.max(Math.ceil(low), to)));
  });
}

export function TimePlot(props: TimePlotProps) {
  const page = usePage();
  const { figure, view, labelled, length } = props;
  const base = baseIndex(page);
  // The base first, so that its line lies under those that are compared with it.
  const order = [...props.lines].sort(
    (a, b) => Number(b.variant === base) - Number(a.variant === base),
  );
  const now = useRef(view);
  now.current = view;
  const inspect = (u: uPlot): Inspection => inspection(page, props.step, figure.id, u, order);

  /** Values of every shown variant at a second; over all blocks, the lowest and the highest. */
  const at = (second: number): [variant: number, text: string][] =>
    page.variants.flatMap((_, variant): [number, string][] => {
      const lines = order.filter((line) => line.variant === variant);
      if (view.hidden.has(variant) || lines.length === 0) return [];
      const values = lines.flatMap((line) => line.values[second] ?? []);
      if (values.length === 0) return [[variant, NOTHING]];
      const [least, most] = [Math.min(...values), Math.max(...values)];
      const text = withUnit(least, figure.unit);
      return [[variant, values.length > 1 ? `${text} … ${withUnit(most, figure.unit)}` : text]];
    });
  /** What servers did by themselves about a second, where a single block is shown. */
  const events = (second: number): [variant: number, text: string][] =>
    props.trials.flatMap(({ variant, events = [] }) =>
      props.block === "all" || view.hidden.has(variant)
        ? []
        : events
            .filter((event) => event.at !== null && Math.round(event.at) === second)
            .map((event): [number, string] => [variant, event.kind]),
    );
  const tip = (second: number): ComponentChildren => (
    <TipTable
      title={`second ${second}`}
      about={figure.label}
      rows={[...at(second), ...events(second)].map(([variant, text]) => [
        <Marked variant={variant} />,
        text,
      ])}
    />
  );
  const alone = isAlone(order);
  const read = alone ? 0 : view.cursor;
  return (
    <figure class="plot" data-plot={figure.id}>
      <figcaption>
        <span class="name">{figure.label}</span>
        <span class="unit">{headingUnit(figure.unit)}</span>
        <span class="readout">
          {read !== null &&
            at(read).map(([variant, text]) => (
              <span class="value">
                <Swatch variant={variant} />
                {text}
              </span>
            ))}
        </span>
      </figcaption>
      {!alone && (
        <Chart
          label={`${figure.label} over time. ${ZOOM_KEYS}`}
          height={props.height + (labelled ? X_AXIS : 6)}
          data={
            [
              Array.from({ length }, (_, second) => second),
              ...order.map((line) => line.values),
            ] as uPlot.AlignedData
          }
          options={() => timeOptions(page, props, order, () => now.current)}
          update={(u) => {
            showVariants(u, view, order);
            u.setScale("x", { min: view.range[0], max: view.range[1] });
          }}
          state={[view.hidden, view.focus, view.fromZero, ...view.range]}
          cursor={view.cursor}
          onCursor={view.setCursor}
          onKey={(event) => keys(view, event)}
          onReset={view.reset}
          tip={tip}
          kind="plots"
          inspect={inspect}
        />
      )}
    </figure>
  );
}
