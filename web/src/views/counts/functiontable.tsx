/** The functions of a kind, base and variant: searchable, sortable by column. */

import { useMemo, useState } from "preact/hooks";
import type { PageCounts, PageKind, Table } from "#page";
import { Breakable, Scroll, Select } from "../../shared/controls";
import { CopyTable } from "../../shared/copy";
import { plain, signedWork, work } from "../../text/exact";
import { count as counted, NOTHING } from "../../text/format";
import {
  type Figure,
  filtered,
  type Matched,
  matched,
  moved,
  type Side,
  type SortKey,
  sorted,
} from "./functions";

/** Rows shown at first: more would take a while to lay out, and few people read them. */
const ROWS = 25;

const FIGURES: [Figure, string][] = [
  ["own", "own instructions"],
  ["inclusive", "with everything it calls"],
  ["calls", "calls"],
];

/** The first variant that can be compared with the base; otherwise the first one. */
function firstVariant(counts: PageCounts, kind: PageKind | undefined): number {
  const first = kind?.counts.find((count) => count.variant !== counts.base) ?? kind?.counts[0];
  return first?.variant ?? 0;
}

/** The kind and variant that moved most for certain, the first where none did. */
function movedMost(counts: PageCounts): { kind: number; variant: number } {
  let best = { kind: 0, variant: firstVariant(counts, counts.kinds[0]), size: 0 };
  counts.kinds.forEach((kind, index) => {
    for (const { relative, verdict, variant } of kind.counts) {
      const certain = relative !== null && verdict !== "same" && verdict !== "inconclusive";
      const size = certain ? Math.abs(Math.log(relative)) : 0;
      if (size > best.size) best = { kind: index, variant, size };
    }
  });
  return best;
}

/** A column: the figure of a side, or how much it rose. */
interface Column {
  key: SortKey;
  side: Side;
  figure: Figure;
  /** Whether it is the first of its figure. */
  first: boolean;
}

function columns(compared: boolean): Column[] {
  const sides: Side[] = compared ? ["base", "variant", "moved"] : ["variant"];
  return FIGURES.flatMap(([figure]) =>
    sides.map(
      (side, place): Column => ({ key: `${side}.${figure}`, side, figure, first: place === 0 }),
    ),
  );
}

function Cell({ row, column }: { row: Matched; column: Column }) {
  const { side, figure, first } = column;
  const place = first ? "first" : undefined;
  if (side !== "moved")
    return <td class={place}>{row[side] ? work(row[side][figure]) : NOTHING}</td>;
  const value = moved(row, figure);
  const text = signedWork(value);
  const way = figure === "calls" || text === "0" ? "" : value > 0 ? " more" : " fewer";
  return <td class={`moved${way}`}>{text}</td>;
}

interface Sorting {
  key: SortKey;
  descending: boolean;
}

function Heading(props: {
  by: SortKey;
  label: string;
  name: string;
  style: string | undefined;
  sorting: Sorting;
  sort: (by: SortKey) => void;
}) {
  const { by, sorting } = props;
  const active = sorting.key === by;
  const direction = sorting.descending ? "descending" : "ascending";
  return (
    <th scope="col" aria-sort={active ? direction : "none"} class={props.style}>
      <button
        type="button"
        class="sort"
        data-sort={by}
        title={`Sort by ${props.name}`}
        onClick={() => props.sort(by)}>
        {props.label}
        <span class="arrow" aria-hidden="true">
          {active && (sorting.descending ? "\u00a0↓" : "\u00a0↑")}
        </span>
      </button>
    </th>
  );
}

/** What is shown: a kind, a variant of it, and the base if it is compared. */
interface Shown {
  rows: Matched[];
  compared: boolean;
  base: string;
  variant: string;
}

/** The table itself. */
function Functions(props: Shown & { sorting: Sorting; sort: (by: SortKey) => void }) {
  const { rows, compared, sorting, sort } = props;
  const sides: Record<Side, [label: string, name: string]> = {
    base: [props.base, props.base],
    variant: [props.variant, props.variant],
    moved: ["+/−", "difference"],
  };
  const shown = columns(compared);
  const only = (row: Matched): string | null => {
    if (!compared) return null;
    return row.base ? (row.variant ? null : props.base) : props.variant;
  };
  return (
    <Scroll name="Functions">
      <table class="data functions">
        <colgroup span={1} />
        {FIGURES.map(() => (
          <colgroup span={compared ? 3 : 1} />
        ))}
        <thead>
          <tr>
            <td />
            {FIGURES.map(([, title]) => (
              <th scope="colgroup" colSpan={compared ? 3 : 1} class="figure">
                {title}
              </th>
            ))}
          </tr>
          <tr>
            <Heading by="name" label="function" name="name" style="label" {...{ sorting, sort }} />
            {shown.map(({ key, side, figure, first }) => (
              <Heading
                by={key}
                label={sides[side][0]}
                name={`${FIGURES.find(([id]) => id === figure)?.[1]}, ${sides[side][1]}`}
                style={first ? "first" : undefined}
                {...{ sorting, sort }}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr data-only={only(row) ? (row.base ? "base" : "variant") : undefined}>
              <th scope="row">
                <code>
                  <Breakable name={row.name} />
                </code>
                <span class="minor small"> {row.object}</span>
                {only(row) && <span class="only"> only in {only(row)}</span>}
              </th>
              {shown.map((column) => (
                <Cell row={row} column={column} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** What is shown, as a table to copy. */
function asTable({ rows, compared, base, variant }: Shown, kind: string, noun: string): Table {
  const shown = columns(compared);
  const sides: Record<Side, string> = { base, variant, moved: "+/-" };
  return {
    id: "functions",
    title: `Functions of ${kind}, ${variant}${compared ? ` compared with ${base}` : ""}`,
    section: "other",
    legend: [
      `per ${noun}; own: instructions in the function itself, ` +
        "inclusive: including everything it called",
    ],
    columns: ["function", "object", ...shown.map(({ figure, side }) => `${figure} ${sides[side]}`)],
    rows: rows.map((row) => ({
      label: row.name,
      cells: [
        row.object,
        ...shown.map(({ side, figure }) => {
          if (side === "moved") return plain(moved(row, figure));
          return row[side] ? plain(row[side][figure]) : NOTHING;
        }),
      ],
    })),
  };
}

/** How a kind is called where there are several protocols or places. */
function kindNames({ kinds }: PageCounts): string[] {
  const protocols = new Set(kinds.map((kind) => `${kind.protocol} ${kind.place}`)).size > 1;
  const places = new Set(kinds.map((kind) => kind.place)).size > 1;
  return kinds.map(({ kind, protocol, place }) =>
    [kind, ...(protocols ? [protocol] : []), ...(protocols && places ? [place] : [])].join(" · "),
  );
}

/** The table with its controls. */
function Chooser({ counts }: { counts: PageCounts }) {
  const start = useMemo(() => movedMost(counts), []);
  const [place, setPlace] = useState(start.kind);
  const [wanted, setWanted] = useState(start.variant);
  const [search, setSearch] = useState("");
  const [all, setAll] = useState(false);
  const [asked, setAsked] = useState<Sorting>({ key: "moved.own", descending: true });

  const kind = counts.kinds[place];
  const names = kindNames(counts);
  const offered = kind?.counts.map(({ variant }) => variant) ?? [];
  const variant = offered.includes(wanted) ? wanted : firstVariant(counts, kind);
  const compared = variant !== counts.base && offered.includes(counts.base);
  const name = (one: number): string => counts.variants[one] ?? "?";
  const beside = (one: number): string =>
    offered.includes(counts.base) && one !== counts.base
      ? `${name(one)} vs. ${name(counts.base)}`
      : `${name(one)} alone`;

  const every = useMemo(() => {
    const count = kind?.counts.find((one) => one.variant === variant);
    const base = compared ? kind?.counts.find((one) => one.variant === counts.base) : null;
    return count ? matched(counts, base ?? null, count) : [];
  }, [kind, variant, compared]);
  // A variant alone has neither a base nor differences.
  const figure = asked.key.slice(asked.key.indexOf(".") + 1) as Figure;
  const key: SortKey = compared || asked.key === "name" ? asked.key : `variant.${figure}`;
  const sorting = { key, descending: asked.descending };
  const found = sorted(filtered(every, search), key, asked.descending);
  const rows = all ? found : found.slice(0, ROWS);
  const shown = { compared, base: name(counts.base), variant: name(variant) };
  const left = kind?.left_out ?? 0;
  return (
    <div class="functions-part" data-part="functions">
      <h3>
        Functions<span class="minor"> per {counts.noun}</span>
      </h3>
      <div class="bar">
        <Select
          label={counts.noun}
          name={`Kind of ${counts.noun}`}
          control="functions-kind"
          value={place}
          options={names.map((text, index) => [index, text])}
          onChange={(next) => {
            setPlace(next);
            setAll(false);
          }}
        />
        <Select
          label="variant"
          name="Variant"
          control="functions-variant"
          value={variant}
          options={offered.map((one) => [one, beside(one)])}
          onChange={(next) => {
            setWanted(next);
            setAll(false);
          }}
        />
        <label class="pick">
          search{" "}
          <input
            type="search"
            placeholder="name or library"
            aria-label="Search functions"
            data-control="functions-search"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        <CopyTable
          name="the functions"
          table={() => asTable({ ...shown, rows: found }, names[place] ?? "", counts.noun)}
        />
      </div>
      <Functions
        {...shown}
        rows={rows}
        sorting={sorting}
        sort={(by) =>
          setAsked({ key: by, descending: key === by ? !asked.descending : by !== "name" })
        }
      />
      <p class="note" aria-live="polite">
        {found.length === 0 ? "No function matches." : counted(found.length, "function")}
        {search.trim() !== "" && ` of ${every.length}`}
        {rows.length < found.length && (
          <>
            , the first {rows.length} are shown:{" "}
            <button
              type="button"
              class="quiet"
              data-control="functions-all"
              onClick={() => setAll(true)}>
              show all {found.length}
            </button>
          </>
        )}
        {left > 0 &&
          `. ${counted(left, "function")} below 0.001% of the ${counts.noun}, including all that ` +
            `they call, ${left === 1 ? "is" : "are"} left out.`}
      </p>
    </div>
  );
}

/** The functions, where any are known. */
export function FunctionTable({ counts }: { counts: PageCounts }) {
  const any = counts.kinds.some((kind) => kind.counts.some((one) => one.functions.id.length > 0));
  return any ? <Chooser counts={counts} /> : null;
}
