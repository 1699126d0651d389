/**
 * Throughput relative to the base as a forest plot: one line per step and variant, a dot with its
 * interval on a logarithmic axis. A table at heart, so it can be read aloud, copied and printed.
 */

import "./relative.css";
import { useRef, useState } from "preact/hooks";
import type { PageRelative, PageStep, Verdict } from "#page";
import {
  baseIndex,
  intervalName,
  marginText,
  measureName,
  onlyCounted,
  ordinarySteps,
  stepAnchor,
  stepLabel,
  variantName,
} from "../../data/page";
import { Heads, Select } from "../../shared/controls";
import { grouped } from "../../shared/group";
import { useNear } from "../../shared/near";
import { usePage, type View } from "../../shared/page";
import { hideTip, showTip } from "../../shared/tip";
import { Swatch } from "../../shared/variant";
import { VERDICTS, VerdictMark } from "../../shared/verdict";
import { change, count, duration, judgedRatio, NOTHING } from "../../text/format";
import { timeLost } from "./cost";
import { Axis, Mark } from "./mark";
import { type RatioScale, rangeOf, rangeText, ratioScale } from "./scale";

interface Entry {
  step: PageStep;
  relative: PageRelative;
}

type Order = "run" | "effect" | "cost";

/** Rows whose marks are drawn at once: as many as a tall window shows. Nobody sees those come. */
const FIRST_ROWS = 50;

function Comparison(props: {
  entry: Entry;
  scale: RatioScale;
  drawn: boolean;
  /** How many rows the step has, in the first of them. */
  span: number | null;
  /** Whether the tab key stops here before the reader has walked elsewhere. */
  stop: boolean;
  order: Order;
}) {
  const page = usePage();
  const { step, relative } = props.entry;
  const { ratio: value, low, variant, verdict } = relative;
  const name = variantName(page, variant);
  const text = relative.sentence || `${name}: ${judgedRatio(relative)} of the base`;
  const show = (event: Event): void => showTip(event.currentTarget as Element, text);
  const changed = value === null ? NOTHING : change(value);
  return (
    <tr
      class={props.span === null ? "" : "first"}
      tabIndex={props.stop ? 0 : -1}
      data-step={step.name}
      data-dop={step.dop}
      data-variant={name}
      data-verdict={verdict}
      data-compared={value === null ? undefined : ""}
      onMouseEnter={show}
      onFocus={show}
      onClick={show}
      onMouseLeave={hideTip}
      onBlur={hideTip}>
      {props.span !== null && (
        <th scope="rowgroup" rowSpan={props.span} class="step">
          <a href={`#${stepAnchor(page, step)}`}>{stepLabel(page, step)}</a>
        </th>
      )}
      <th scope="row" class="variant">
        <Swatch variant={variant} />
        <span class="name">{name}</span>
      </th>
      <td class="plot">
        <Mark relative={relative} scale={props.scale} drawn={props.drawn} />
      </td>
      {props.order === "cost" && (
        <td class="number lost">{longer(timeLost(step, relative, baseIndex(page)))}</td>
      )}
      <td class="number">{judgedRatio(relative)}</td>
      <td class="number change">{value !== null && low === null ? `(${changed})` : changed}</td>
      <td class="number range">
        <span class={low === null ? "minor" : ""}>{rangeText(relative)}</span>
      </td>
      <td class="mark">
        <VerdictMark verdict={verdict} />
        <span class="offscreen">{text}</span>
      </td>
    </tr>
  );
}

/** Rows that belong together: all of a step, or one. */
function Group(props: { entries: Entry[]; scale: RatioScale; before: number; order: Order }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const drawn = useNear(body, true, props.before < FIRST_ROWS);
  return (
    <tbody ref={body}>
      {props.entries.map((entry, index) => (
        <Comparison
          entry={entry}
          scale={props.scale}
          drawn={drawn}
          span={index === 0 ? props.entries.length : null}
          stop={props.before + index === 0}
          order={props.order}
        />
      ))}
    </tbody>
  );
}

/** One stop for the tab key; arrows walk from comparison to comparison. */
function walk(event: KeyboardEvent): void {
  const rows = [
    ...(event.currentTarget as Element).querySelectorAll<HTMLElement>("tr[data-verdict]"),
  ];
  const from = rows.indexOf(event.target as HTMLElement);
  const to: Record<string, number> = {
    ArrowDown: from + 1,
    ArrowUp: from - 1,
    Home: 0,
    End: rows.length - 1,
  };
  const row = rows[to[event.key] ?? -1];
  if (from < 0 || !row) return;
  event.preventDefault();
  for (const other of rows) other.tabIndex = other === row ? 0 : -1;
  row.focus();
}

/** `+1.2 ms`: how much longer an operation takes. */
function longer(us: number | null): string {
  if (us === null) return NOTHING;
  return us < 0 ? `−${duration(-us)}` : `+${duration(us)}`;
}

/** What is shown, in groups. */
function arranged(entries: Entry[], order: Order, base: number): Entry[][] {
  if (order === "run") return grouped(entries, ({ step }) => step).map(([, group]) => group);
  const gain = ({ step, relative }: Entry): number => {
    if (order === "cost") return -(timeLost(step, relative, base) ?? -Infinity);
    return step.better === "more" ? (relative.ratio ?? 0) : 1 / (relative.ratio ?? Infinity);
  };
  const sorted = [...entries].sort((a, b) => gain(a) - gain(b));
  return sorted.map((entry) => [entry]);
}

function Chart({ entries }: { entries: Entry[] }) {
  const page = usePage();
  const [hidden, setHidden] = useState<ReadonlySet<Verdict>>(new Set());
  const [order, setOrder] = useState<Order>("run");
  const scale = ratioScale(
    entries.map(({ relative }) => rangeOf(relative)),
    page.experiment.margin,
  );
  const shown = entries.filter(({ relative }) => !hidden.has(relative.verdict));
  const number = (verdict: Verdict): number =>
    entries.filter(({ relative }) => relative.verdict === verdict).length;
  const toggle = (verdict: Verdict): void => {
    const next = new Set(hidden);
    if (!next.delete(verdict)) next.add(verdict);
    setHidden(next);
  };
  const base = variantName(page, baseIndex(page));
  const unsure = entries.filter(({ relative }) => relative.ratio === null).length;
  const few = entries.some(({ relative }) => relative.ratio !== null && relative.low === null);
  const less = page.steps.filter(({ better }) => better === "less").map(({ name }) => name);
  const timed = entries.some(
    ({ step, relative }) => timeLost(step, relative, baseIndex(page)) !== null,
  );
  let before = 0;
  return (
    <>
      <div class="bar">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset looks like a form. */}
        <div class="chips" role="group" aria-label="Verdicts shown">
          {VERDICTS.filter(number).map((verdict) => (
            <button
              type="button"
              class="chip"
              data-filter={verdict}
              aria-pressed={!hidden.has(verdict)}
              onClick={() => toggle(verdict)}>
              <VerdictMark verdict={verdict} />
              <span class="minor">{number(verdict)}</span>
            </button>
          ))}
        </div>
        {entries.length > 3 && (
          <Select
            name="Order of the chart"
            control="relative-order"
            value={order}
            options={[
              ["run", "in order of the run"],
              ["effect", "largest loss first"],
              ...(timed ? [["cost", "most time lost first"] as [Order, string]] : []),
            ]}
            onChange={setOrder}
          />
        )}
      </div>
      <table class={order === "cost" ? "relative costs" : "relative"} onKeyDown={walk}>
        <caption class="offscreen">
          {measureName(page.steps)} relative to {base}
        </caption>
        <thead>
          <tr>
            <Heads
              of={[
                ["Step", "step"],
                ["Variant", "variant"],
              ]}
            />
            <th scope="col" class="plot">
              <span class="offscreen">Chart</span>
              <Axis scale={scale} />
            </th>
            <Heads
              of={[
                ...(order === "cost" ? [["Time lost", "number lost"] as [string, string]] : []),
                ["Ratio", "number"],
                ["Change", "number change"],
                [intervalName(entries.map(({ relative }) => relative)), "number range"],
                ["Verdict", "mark"],
              ]}
            />
          </tr>
        </thead>
        {arranged(shown, order, baseIndex(page)).map((group) => {
          before += group.length;
          const [{ step, relative }] = group as [Entry];
          const key = `${order} ${stepAnchor(page, step)} ${order === "run" || relative.variant}`;
          return (
            <Group
              key={key}
              entries={group}
              scale={scale}
              before={before - group.length}
              order={order}
            />
          );
        })}
      </table>
      {shown.length === 0 && (
        <p class="note">No comparison has one of the verdicts selected above.</p>
      )}
      <p class="note">
        {measureName(page.steps)} of the variant divided by that of {base}, on a logarithmic axis;
        right of 1 is more. Whiskers: the interval over blocks. Gray band: ±{marginText(page)}, the
        margin under which a difference counts as small.
        {few &&
          " A ring, and parentheses: a ratio of fewer than 6 blocks, without an interval and a " +
            "verdict; it may be chance. Small dots: its blocks."}
        {unsure > 0 &&
          ` Without a mark: ${count(unsure, "comparison")} that can’t be judged; ` +
            "the sentence of each says why."}
        {less.length > 0 && ` Less is better in ${less.join(", ")}.`}
        {order === "cost" &&
          ` Time lost: how much longer an operation takes than on ${base} (clients / throughput).`}
      </p>
    </>
  );
}

/** Where the comparisons are that the chart leaves out. */
function Elsewhere() {
  const { sweeps = [] } = usePage();
  const names = sweeps.filter(({ one_server }) => one_server).map(({ step }) => step);
  if (names.length === 0) return null;
  return (
    <p class="note">
      {names.join(", ")}: over the number of clients, in <a href="#sweep">Sweep</a>.
    </p>
  );
}

function Relative() {
  const page = usePage();
  const entries = ordinarySteps(page).flatMap((step) =>
    [...step.relative]
      .sort((a, b) => a.variant - b.variant)
      .map((relative) => ({ step, relative })),
  );
  if (entries.length > 0)
    return (
      <>
        <Chart entries={entries} />
        <Elsewhere />
      </>
    );
  if (page.steps.some(({ relative }) => relative.length > 0)) return <Elsewhere />;
  return (
    <p class="note">
      The base and another variant have no finished step in common, so there is nothing to compare.
    </p>
  );
}

export const relative: View = {
  id: "relative",
  name: "Relative",
  title: (page) => `${measureName(page.steps)} relative to the base`,
  applies: (page) => !onlyCounted(page) && page.variants.length > 1,
  Body: Relative,
};
