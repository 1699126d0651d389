/** What was counted besides instructions: simulated caches and branches, and system calls. */

import type { PageCountEvent, PageCounts, PageKind, Table } from "#page";
import { Breakable, Heads, Scroll } from "../../shared/controls";
import { CopyTable } from "../../shared/copy";
import { exactChange, plain, repeatability, work } from "../../text/exact";
import { NOTHING } from "../../text/format";
import { CountedName, SIGNS } from "./bars";

type Count = PageCountEvent["counts"][number];

/** The table to copy. */
function asTable(counts: PageCounts, events: PageCountEvent[]): Table {
  return {
    id: "count-events",
    title: `Other events per ${counts.noun}`,
    section: "other",
    legend: ["relative to the base; repeatability: ± of the mean of all counts, 95%"],
    columns: ["kind", "event", "variant", "count", "relative", "repeatability"],
    rows: events.flatMap(({ kind, event, counts: all }) =>
      all.map((count) => ({
        label: counts.kinds[kind]?.kind ?? "",
        cells: [
          event,
          counts.variants[count.variant] ?? "",
          plain(count.per_statement),
          count.relative === null ? NOTHING : count.relative.toFixed(4),
          repeatability(count),
        ],
      })),
    ),
  };
}

function change({ relative, verdict, variant }: Count, base: number): string {
  if (relative === null) return variant === base ? "base" : NOTHING;
  if (verdict === "same") return "same";
  const sign = verdict ? SIGNS[verdict] : "";
  return sign ? `${exactChange(relative)} ${sign}` : exactChange(relative);
}

/** A row for each kind and event, and two columns for each variant. */
function Rows({ counts, events }: { counts: PageCounts; events: PageCountEvent[] }) {
  const shown = [...new Set(events.flatMap((one) => one.counts.map(({ variant }) => variant)))];
  const compared = shown.some((variant) => variant !== counts.base);
  return (
    <Scroll name="Other events">
      <table class="data">
        <thead>
          <tr>
            <Heads
              of={[
                ["kind", "label"],
                ["event", "label"],
              ]}
            />
            {shown.map((variant) => (
              <th scope="col" colSpan={compared && variant !== counts.base ? 2 : 1}>
                <CountedName counts={counts} variant={variant} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {events.map((one, index) => {
            const first = events[index - 1]?.kind !== one.kind;
            const rows = events.filter(({ kind }) => kind === one.kind).length;
            return (
              <tr data-event={one.event}>
                {first && (
                  <th scope="row" rowSpan={rows}>
                    <Breakable name={counts.kinds[one.kind]?.kind ?? ""} />
                  </th>
                )}
                <th scope="row">{one.event}</th>
                {shown.map((variant) => {
                  const count = one.counts.find((it) => it.variant === variant);
                  const title = count ? `repeats to ${repeatability(count)}` : undefined;
                  return (
                    <>
                      <td title={title}>{count ? work(count.per_statement) : NOTHING}</td>
                      {variant !== counts.base && (
                        <td title={count?.verdict ?? undefined}>
                          {count ? change(count, counts.base) : NOTHING}
                        </td>
                      )}
                    </>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

/** The events of the kinds that are shown, where any but instructions were counted. */
export function Events({ counts, kinds }: { counts: PageCounts; kinds: PageKind[] }) {
  const events = counts.events.filter(({ kind }) => {
    const known = counts.kinds[kind];
    return known !== undefined && kinds.includes(known);
  });
  if (events.length === 0) return null;
  return (
    <div data-part="events">
      <h3>
        Other events<span class="minor"> per {counts.noun}</span>
      </h3>
      <div class="bar">
        <span class="minor small">
          caches of 32 KiB and 1 MiB and branch prediction, simulated; estimated cycles:
          instructions + 10 L1 misses + 100 LL misses + 10 mispredicted branches
        </span>
        <CopyTable name="the events" table={() => asTable(counts, events)} />
      </div>
      <Rows counts={counts} events={events} />
    </div>
  );
}
