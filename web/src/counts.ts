/** Exact instruction counts: a bar of phases for every kind of statement and variant, and the functions behind them. */

import "./style/counts.css";
import { swatch, type Context } from "./context";
import type { Count, CountKind, Counts, CountVerdict } from "./countdata";
import { copyButtons, exactChange, plain, repeatability, signedWork, work } from "./countformat";
import { breakable, h, replace, type Child } from "./dom";
import { count as counted, moment, NOTHING } from "./format";
import { functionTable } from "./functiontable";
import { hideTip, showTip } from "./tip";
import type { Table } from "./data";

/** Names of kinds that are longer than this may break. */
const LONG = 24;

const WORDS: Record<CountVerdict, [string, string]> = {
  regression: ["▼", "regression"],
  improvement: ["▲", "improvement"],
  equivalent: ["=", "equivalent"],
  same: ["", "same"],
};

/** Names of the phases of some kinds, in order. */
function phaseNames(kinds: CountKind[]): string[] {
  return [...new Set(kinds.flatMap((kind) => kind.counts.flatMap((count) => count.phases.map(([name]) => name))))];
}

/** How the style sheet colours a phase: those it knows by name, others in turn. */
function phaseLook(name: string, position: number): string {
  const known = ["parse", "analyze", "plan", "execute", "other"];
  return known.includes(name) ? name : (known[position % known.length] ?? "other");
}

/** What the process that was counted is called. */
function placeWords(place: string): string {
  return place === "single-user" ? "in single-user mode" : place === "backend" ? "in the backend" : `in ${place}`;
}

/** The swatch of a count's variant: that of the run's variant of this name. */
export function countedName(context: Context, counts: Counts, variant: number): HTMLElement {
  const name = counts.variants[variant] ?? `variant ${variant + 1}`;
  const known = context.page.variants.findIndex((one) => one.name === name);
  return h("span", { class: "row-label" }, known >= 0 && swatch(context, known), h("span", { class: "text" }, name));
}

/** The bar of a count: its phases one after the other, on a scale of `most` instructions per statement. */
function bar(kind: CountKind, count: Count, base: Count | undefined, most: number, names: string[]): HTMLElement {
  const all = count.instructions / count.statements;
  const phases: [string, number][] = count.phases.length > 0 ? count.phases : [["other", count.instructions]];
  const element = h(
    "div",
    { class: "phases", style: `width:${((all / most) * 100).toFixed(3)}%`, role: "img", "aria-label": `${kind.kind}: ${phases.map(([name, value]) => `${name} ${((value / Math.max(1, count.instructions)) * 100).toFixed(0)}%`).join(", ")}` },
    phases.map(([name, value]) => h("span", { "data-phase": phaseLook(name, names.indexOf(name)), style: `flex-grow:${value}` })),
  );
  const tip = (): Child => {
    const before = (name: string): number | undefined => {
      const found = base?.phases.find(([other]) => other === name);
      return base && found ? found[1] / base.statements : undefined;
    };
    return [
      h("div", { class: "tip-title" }, kind.kind, h("span", { class: "minor" }, " · per statement")),
      h(
        "table",
        { class: "spaced" },
        h(
          "tbody",
          {},
          phases.map(([name, value]) => {
            const each = value / count.statements;
            const old = before(name);
            return h("tr", {}, h("th", { scope: "row" }, h("i", { class: "phase-key", "data-phase": phaseLook(name, names.indexOf(name)) }), name), h("td", {}, work(each)), h("td", {}, `${((value / Math.max(1, count.instructions)) * 100).toFixed(1)}%`), base && base !== count && h("td", {}, old === undefined ? NOTHING : signedWork(each - old)));
          }),
        ),
      ),
    ];
  };
  element.addEventListener("pointerenter", () => showTip(element, tip()));
  element.addEventListener("pointerleave", hideTip);
  return element;
}

/** The kinds of one protocol and place: a row for each variant of each. */
function barTable(context: Context, counts: Counts, kinds: CountKind[]): HTMLElement {
  const names = phaseNames(kinds);
  const rows = kinds.some((kind) => kind.counts.some((count) => count.rows > 0));
  const several = counts.variants.length > 1;
  const body = kinds.map((kind) => {
    const base = kind.counts.find((count) => count.variant === counts.base);
    const most = Math.max(...kind.counts.map((count) => count.instructions / count.statements));
    return h(
      "tbody",
      { "data-kind-of": kind.kind },
      kind.counts.map((count, index) => {
        const [sign, word] = count.verdict ? WORDS[count.verdict] : ["", ""];
        const change = count.relative === null ? (count.variant === counts.base ? "base" : NOTHING) : count.verdict === "same" ? "same" : exactChange(count.relative);
        return h(
          "tr",
          { "data-verdict": count.verdict },
          index === 0 && h("th", { class: kind.kind.length > LONG ? "kind long" : "kind", scope: "rowgroup", rowspan: kind.counts.length }, kind.kind.length > LONG ? breakable(kind.kind) : kind.kind),
          h("th", { class: "variant", scope: "row" }, countedName(context, counts, count.variant)),
          h("td", { class: "bar-cell" }, bar(kind, count, base, most, names)),
          h("td", {}, work(count.instructions / count.statements)),
          rows && h("td", { class: "roomy" }, count.rows > 0 ? work(count.instructions / count.rows) : NOTHING),
          several && h("td", {}, count.relative === null ? (count.variant === counts.base ? "" : NOTHING) : count.relative.toFixed(4)),
          several && h("td", { class: "change", title: word === "" ? null : word }, change, sign !== "" && h("span", { class: "sign", "aria-hidden": "true" }, ` ${sign}`)),
          h("td", { class: "roomy minor" }, repeatability(count)),
        );
      }),
    );
  });
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Instructions per statement" },
    h(
      "table",
      { class: "counts" },
      h("thead", {}, h("tr", {}, h("th", { class: "kind", scope: "col" }, "kind"), h("th", { class: "variant", scope: "col" }, "version"), h("th", { class: "bar-cell", scope: "col" }, phaseLegend(names)), h("th", { scope: "col" }, "per statement"), rows && h("th", { scope: "col", class: "roomy" }, "per row"), several && h("th", { scope: "col" }, "relative"), several && h("th", { scope: "col" }, "difference"), h("th", { scope: "col", class: "roomy" }, "repeats to"))),
      body,
    ),
  );
}

function phaseLegend(names: string[]): Child {
  if (names.length === 0) return "instructions per statement";
  return h("span", { class: "phase-legend" }, names.map((name, position) => h("span", {}, h("i", { class: "phase-key", "data-phase": phaseLook(name, position) }), name)));
}

/** What the bars show, as a table to copy. */
function asTable(counts: Counts, kinds: CountKind[], title: string): Table {
  const names = phaseNames(kinds);
  return {
    id: "counts",
    title,
    section: "other",
    legend: ["instructions per statement, in all and in each phase; relative to the base; repeatability: ± of the mean of all counts, 95%"],
    columns: ["kind", "version", "instructions", "per row", "relative", "repeatability", ...names],
    rows: kinds.flatMap((kind) =>
      kind.counts.map((count) => ({
        label: kind.kind,
        cells: [
          counts.variants[count.variant] ?? "",
          plain(count.instructions / count.statements),
          count.rows > 0 ? plain(count.instructions / count.rows) : NOTHING,
          count.relative === null ? NOTHING : count.relative.toFixed(4),
          repeatability(count),
          ...names.map((name) => {
            const phase = count.phases.find(([other]) => other === name);
            return phase ? plain(phase[1] / count.statements) : NOTHING;
          }),
        ],
      })),
    ),
  };
}

/** The section, or nothing where the report has no counts. */
export function countsSection(context: Context): HTMLElement | null {
  const { counts } = context.page;
  if (!counts || counts.kinds.length === 0) return null;
  const groups = new Map<string, CountKind[]>();
  for (const kind of counts.kinds) {
    const key = `${kind.protocol} protocol, ${placeWords(kind.place)}`;
    groups.set(key, [...(groups.get(key) ?? []), kind]);
  }
  const keys = [...groups.keys()];
  const box = h("div", { class: "counts-box" });
  const choose = h("select", { "aria-label": "Protocol whose counts are shown", "data-control": "counts-protocol" }, keys.map((key) => h("option", { value: key }, key)));
  const shown = (): CountKind[] => groups.get(choose.value) ?? counts.kinds;
  const title = (): string => `Instructions per statement, ${choose.value}`;
  const show = (): void => replace(box, barTable(context, counts, shown()));
  choose.addEventListener("change", show);
  show();
  const variants = counts.sentences.map(({ variant, sentence }) => {
    const place = counts.variants.indexOf(variant);
    const rest = sentence.startsWith(variant) ? sentence.slice(variant.length).trimStart() : sentence;
    return h("li", {}, h("strong", {}, countedName(context, counts, place)), " ", rest, ".");
  });
  return h(
    "section",
    { id: "counts", "aria-labelledby": "counts-title" },
    h("h2", { id: "counts-title" }, "Instruction counts"),
    h("p", { class: "note" }, `Exact: instructions executed by the server’s process, counted under Callgrind at least twice. Of ${counts.experiment}, ${moment(counts.started)}${counts.finished ? "" : ", not finished"}. A difference is one when it exceeds the repeatability of both sides together, and 0.01%. Bars of one kind share a scale.`),
    counts.warnings.length > 0 && h("ul", { class: "legend strong counts-warnings" }, counts.warnings.map((warning) => h("li", {}, h("span", { class: "minor" }, `${warning.code.replace(/[-_]/g, " ")}: `), warning.text))),
    variants.length > 0 && h("ul", { class: "counts-words" }, variants),
    h("div", { class: "bar" }, keys.length > 1 ? h("label", { class: "pick" }, "protocol ", choose) : h("span", { class: "pick" }, keys[0]), h("span", { class: "minor small" }, counted(counts.kinds.length, "count"), " of ", counted(counts.variants.length, "variant")), copyButtons("the counts", () => asTable(counts, shown(), title()))),
    box,
    functionTable(counts),
  );
}
