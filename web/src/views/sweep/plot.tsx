/** One figure over the numbers of clients, a line per value of what the reader chose. */

import { useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { PageSweep } from "#page";
import { Chart, X_AXIS } from "../../shared/chart";
import { useNear } from "../../shared/near";
import { usePage } from "../../shared/page";
import { TipTable } from "../../shared/tip";
import { Swatch } from "../../shared/variant";
import { ZOOM_KEYS, zoomByKey } from "../../shared/zoom";
import { count, NOTHING } from "../../text/format";
import { nextClients, type Shown } from "./lines";
import { type Drawn, headroom, type PlotProps, sweepOptions } from "./options";

/** Values at the cursor that stand side by side above a narrow plot, and the height of a row. */
const VALUES = 4;
const READOUT = 16;

interface SweepPlotProps extends PlotProps {
  sweep: PageSweep;
  /** Its `data-plot`. */
  id: string;
  label: string;
  about: string;
  /** What it means. */
  meaning?: string;
  /** The plot is made anew when this changes. */
  version: string;
  /** Whether it is as wide as the page. */
  wide?: boolean;
  /** Text of a value. */
  text: (value: number) => string;
}

export function LineSwatch({ shown }: { shown: Shown }) {
  return <Swatch variant={shown.look} dashed={shown.dash > 0} />;
}

export function SweepPlot(props: SweepPlotProps) {
  const page = usePage();
  const { sweep, clients, drawn, view, text } = props;
  const now = useRef(view);
  now.current = view;
  const room = useRef<HTMLDivElement>(null);
  const near = useNear(room);
  const height = props.height + X_AXIS + headroom(props);
  const visible = drawn.filter(({ shown }) => !view.hidden.has(shown.place));
  const value = ({ curve }: Drawn, at: number): string => {
    const mean = curve.mean[at];
    return mean == null ? NOTHING : text(mean);
  };
  const interval = ({ curve }: Drawn, at: number): string | null => {
    const [low, high] = [curve.low[at], curve.high[at]];
    return low == null || high == null ? null : `${text(low)} … ${text(high)}`;
  };
  const at = view.cursor === null ? -1 : clients.indexOf(view.cursor);
  const tip = (place: number) => (
    <TipTable
      title={count(clients[place] ?? 0, "client")}
      about={props.label}
      rows={visible.map((one) => [
        <>
          <LineSwatch shown={one.shown} />
          {one.shown.name}
        </>,
        value(one, place),
        interval(one, place),
      ])}
    />
  );
  const rows = Math.max(1, Math.ceil(drawn.length / (props.wide ? 12 : VALUES)));
  return (
    <figure class="plot" data-plot={props.id}>
      <figcaption title={props.meaning}>
        <span class="name">{props.label}</span>
        <span class="unit">{props.about}</span>
      </figcaption>
      <div class="readout sweep-readout" data-rows={rows} style={`height:${READOUT * rows}px`}>
        {at < 0 && <span class="minor">{props.meaning}</span>}
        {at >= 0 &&
          visible.map((one) => (
            <span class="value">
              <LineSwatch shown={one.shown} />
              {value(one, at)}
            </span>
          ))}
      </div>
      <div ref={room} style={`min-height:${height}px`}>
        {near && (
          <Chart
            key={props.version}
            label={`${props.label} of ${sweep.step} over clients. ${ZOOM_KEYS}`}
            height={height}
            data={[clients, ...drawn.map(({ curve }) => curve.mean)] as uPlot.AlignedData}
            options={() => sweepOptions(page, props, () => now.current)}
            update={(u) => {
              drawn.forEach(({ shown }, index) => {
                const show = !view.hidden.has(shown.place);
                if (u.series[index + 1]?.show !== show) u.setSeries(index + 1, { show }, false);
              });
              u.setScale("x", { min: view.range[0], max: view.range[1] });
              u.redraw(false, true);
            }}
            state={[view.hidden, view.focus, view.fromZero, ...view.range]}
            cursor={view.cursor}
            onCursor={(place) => view.setCursor(place === null ? null : (clients[place] ?? null))}
            onKey={(event) =>
              zoomByKey(view, event, (direction) =>
                view.setCursor(nextClients(clients, view.cursor, direction)),
              )
            }
            onReset={view.reset}
            tip={tip}
            kind="sweeps"
            inspect={(u) => inspection(props, u)}
          />
        )}
      </div>
    </figure>
  );
}

/** What a plot draws, for tests and for the console. */
function inspection({ sweep, id, drawn, marked }: SweepPlotProps, u: uPlot): object {
  const { min = Number.NaN, max = Number.NaN } = u.scales.x ?? {};
  return {
    step: sweep.step,
    plot: id,
    x: [min, max],
    lines: drawn.map(({ shown, curve }, index) => ({
      name: shown.name,
      visible: u.series[index + 1]?.show ?? false,
      points: curve.mean.filter((value) => value !== null).length,
      cliffs: marked ? shown.line.cliffs.length : 0,
    })),
  };
}
