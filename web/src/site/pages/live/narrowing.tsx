/** The comparisons of a run under way, as they narrow. */

import type { LiveInterval, Verdict } from "#page";
import { Heads, Scroll } from "../../../shared/controls";
import { SIGN, VerdictMark } from "../../../shared/verdict";
import { change } from "../../../text/format";

const WIDTH = 240;
const HEIGHT = 18;
/** Smallest half range of the plots, as a log ratio. */
const LEAST = 0.05;

/** Half the range that shows all ratios, as a log ratio. */
export function rangeOf(rows: LiveInterval[]): number {
  const far = rows.map((row) => 1.3 * Math.abs(Math.log(row.ratio ?? 1)) + row.margin);
  return Math.max(LEAST, ...far.filter(Number.isFinite));
}

/** Where a ratio lies in a plot, cut off at its ends. */
export function placeOf(ratio: number, range: number): number {
  const share = (Math.log(Math.max(ratio, Number.MIN_VALUE)) + range) / (2 * range);
  return Math.min(1, Math.max(0, share)) * (WIDTH - 8) + 4;
}

function Plot({ row, range }: { row: LiveInterval; range: number }) {
  const x = (ratio: number): string => placeOf(ratio, range).toFixed(1);
  const [from, to] = [placeOf(1 - row.margin, range), placeOf(1 + row.margin, range)];
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <rect class="band" x={from} width={to - from} y="0" height={HEIGHT} />
      <line class="one" x1={x(1)} x2={x(1)} y1="0" y2={HEIGHT} />
      {row.low !== null && row.high !== null && (
        <line class="interval" x1={x(row.low)} x2={x(row.high)} y1={HEIGHT / 2} y2={HEIGHT / 2} />
      )}
      {row.ratio !== null && <circle class="ratio" cx={x(row.ratio)} cy={HEIGHT / 2} r="4" />}
    </svg>
  );
}

/** A verdict, if it is one. */
function verdictOf({ verdict }: LiveInterval): Verdict | null {
  return verdict !== null && verdict in SIGN ? (verdict as Verdict) : null;
}

export function Narrowing({ rows, name }: { rows: LiveInterval[]; name: string }) {
  const range = rangeOf(rows);
  return (
    <Scroll name={name}>
      <table class="data narrowing">
        <caption class="offscreen">{name}</caption>
        <thead>
          <tr>
            <Heads
              of={[
                ["Step", "label"],
                ["Variant", "label"],
                ["Throughput"],
                ["Interval", "label"],
                ["", "label"],
                ["So far", "label"],
              ]}
            />
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const verdict = verdictOf(row);
            return (
              <tr key={`${row.step} ${row.variant}`}>
                <th scope="row">{row.step}</th>
                <td class="label">{row.variant}</td>
                <td>{row.ratio === null ? "" : change(row.ratio)}</td>
                <td class="label">
                  {row.low === null || row.high === null
                    ? "after more restarts"
                    : `${change(row.low)} to ${change(row.high)}`}
                </td>
                <td class="label">
                  <Plot row={row} range={range} />
                </td>
                <td class="label">
                  {verdict === null ? (
                    <span class="minor">undecided</span>
                  ) : (
                    <VerdictMark verdict={verdict} />
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}
