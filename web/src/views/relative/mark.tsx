/** One comparison on the axis of ratios: dot, whiskers, margin and grid. */

import type { PageRelative } from "#page";
import { usePage } from "../../shared/page";
import { lookName } from "../../shared/variant";
import { ratio } from "../../text/format";
import { labelledTicks, type RatioScale, rangeText } from "./scale";

function percent(position: number): string {
  return `${(position * 100).toFixed(3)}%`;
}

/** One end of an interval: a whisker's foot, an arrow head where it leaves the axis. */
function End(props: { at: number; limit: number; cut: boolean; arrow: string }) {
  if (!props.cut && !Number.isFinite(props.limit)) return null;
  return (
    <svg x={percent(props.at)} y="50%" overflow="visible" aria-hidden="true">
      {props.cut ? (
        <path class="arrow" d={props.arrow} />
      ) : (
        <line class="whisker" y1={-3.5} y2={3.5} />
      )}
    </svg>
  );
}

function Drawing({ relative, scale }: { relative: PageRelative; scale: RatioScale }) {
  const { margin } = usePage().experiment;
  const { ratio: value, low, high, each = [] } = relative;
  const from = scale.at(1 - margin);
  return (
    <>
      <rect
        class="margin"
        x={percent(from)}
        width={percent(scale.at(1 + margin) - from)}
        y={0}
        height="100%"
      />
      {scale.ticks.map((tick) => {
        const x = percent(scale.at(tick));
        return <line class={tick === 1 ? "one" : "grid"} x1={x} x2={x} y1={0} y2="100%" />;
      })}
      {value !== null && low !== null && high !== null && (
        <>
          <line
            class="whisker"
            x1={percent(scale.at(low))}
            x2={percent(scale.at(high))}
            y1="50%"
            y2="50%"
          />
          <End at={scale.at(low)} limit={low} cut={low < scale.low} arrow="M0 0L6 -4V4Z" />
          <End at={scale.at(high)} limit={high} cut={high > scale.high} arrow="M0 0L-6 -4V4Z" />
        </>
      )}
      {each.map(
        (one) =>
          one !== null && <circle class="block" cx={percent(scale.at(one))} cy="50%" r={2} />,
      )}
      {value !== null && (
        <circle
          class={low === null ? "dot single" : "dot"}
          cx={percent(scale.at(value))}
          cy="50%"
          r={4}
        />
      )}
    </>
  );
}

/** The mark, or until it is drawn room as large. */
export function Mark(props: { relative: PageRelative; scale: RatioScale; drawn: boolean }) {
  const { ratio: value, low, variant } = props.relative;
  const what = low === null ? "no interval" : "interval";
  const label = [...(value === null ? [] : [ratio(value), what]), rangeText(props.relative)];
  return (
    <svg
      class="forest"
      role="img"
      aria-label={label.join(", ")}
      data-look={lookName(usePage(), variant)}>
      {props.drawn && <Drawing relative={props.relative} scale={props.scale} />}
    </svg>
  );
}

function tickName(tick: number): string {
  if (tick >= 10) return String(tick);
  return tick.toFixed(tick >= 0.1 ? 2 : 3).replace(/(\.\d)0$/, "$1");
}

/** The ratios over the chart. */
export function Axis({ scale }: { scale: RatioScale }) {
  const roomy = labelledTicks(scale, 0.075);
  const tight = labelledTicks(scale, 0.2);
  return (
    <svg class="forest axis" aria-hidden="true">
      {scale.ticks
        .filter((tick) => roomy.has(tick))
        .map((tick) => {
          const position = scale.at(tick);
          const anchor = position < 0.03 ? "start" : position > 0.97 ? "end" : "middle";
          return (
            <text
              x={percent(position)}
              y="62%"
              text-anchor={anchor}
              class={tight.has(tick) ? "" : "roomy"}>
              {tickName(tick)}
            </text>
          );
        })}
    </svg>
  );
}
