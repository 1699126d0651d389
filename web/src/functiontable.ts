/** The functions of a kind of statement, base beside variant: searchable, sortable by every column. */

import { copyButtons, plain, signedWork, work } from "./countformat";
import type { CountKind, Counts } from "./countdata";
import type { Table } from "./data";
import { breakable, h, replace, type Child } from "./dom";
import { count as counted, NOTHING } from "./format";
import { filtered, matched, moved, sorted, type Figure, type Matched, type SortKey } from "./functions";

/** So many rows at first: more would take a while to lay out, and few read them. */
const ROWS = 25;

const FIGURES: [Figure, string][] = [
  ["own", "own instructions"],
  ["inclusive", "with what it calls"],
  ["calls", "calls"],
];

/** The kind that moved most for certain, the first where none did. */
function movedMost(counts: Counts): { kind: number; variant: number } {
  let best = { kind: 0, variant: firstVariant(counts, counts.kinds[0]), size: 0 };
  counts.kinds.forEach((kind, index) => {
    for (const count of kind.counts) {
      const size = count.relative !== null && count.verdict !== "same" ? Math.abs(Math.log(count.relative)) : 0;
      if (size > best.size) best = { kind: index, variant: count.variant, size };
    }
  });
  return best;
}

/** The first variant that can be held against the base; the first at all where none can. */
function firstVariant(counts: Counts, kind: CountKind | undefined): number {
  const first = kind?.counts.find((count) => count.variant !== counts.base) ?? kind?.counts[0];
  return first?.variant ?? 0;
}

/** The table with its controls. */
export function functionTable(counts: Counts): HTMLElement | null {
  if (counts.kinds.every((kind) => kind.counts.every((count) => count.functions.id.length === 0))) return null;
  const groups = new Set(counts.kinds.map((kind) => `${kind.protocol} ${kind.place}`)).size;
  const places = new Set(counts.kinds.map((kind) => kind.place)).size;
  const kindName = (kind: CountKind): string => [kind.kind, groups > 1 && kind.protocol, groups > 1 && places > 1 && kind.place].filter((part) => part !== false).join(" · ");
  const start = movedMost(counts);
  const state: { key: SortKey; descending: boolean; all: boolean } = { key: "moved.own", descending: true, all: false };

  const kinds = h("select", { "aria-label": "Kind of statement", "data-control": "functions-kind" }, counts.kinds.map((kind, index) => h("option", { value: index, selected: index === start.kind }, kindName(kind))));
  const variants = h("select", { "aria-label": "Version", "data-control": "functions-variant" });
  const search = h("input", { type: "search", placeholder: "name or library", "aria-label": "Search functions", "data-control": "functions-search", autocomplete: "off", spellcheck: "false" });
  const box = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Functions" });
  const foot = h("p", { class: "note", "aria-live": "polite" });

  let rows: Matched[] = [];
  let compared = true;
  const name = (variant: number): string => counts.variants[variant] ?? "?";
  const chosen = (): { kind: CountKind | undefined; variant: number } => ({ kind: counts.kinds[Number(kinds.value)], variant: Number(variants.value) });

  const offer = (): void => {
    const { kind, variant } = chosen();
    const before = variants.value === "" ? start.variant : variant;
    const offered = kind?.counts.map((count) => count.variant) ?? [];
    const beside = offered.includes(counts.base);
    replace(variants, offered.map((place) => h("option", { value: place }, beside && place !== counts.base ? `${name(place)} beside ${name(counts.base)}` : `${name(place)} alone`)));
    variants.value = String(offered.includes(before) ? before : firstVariant(counts, kind));
  };

  const load = (): void => {
    const { kind, variant } = chosen();
    const found = kind?.counts.find((count) => count.variant === variant);
    const base = variant === counts.base ? null : (kind?.counts.find((count) => count.variant === counts.base) ?? null);
    compared = base !== null;
    rows = found ? matched(counts, base, found) : [];
  };

  /** What is sorted by: a variant alone has neither a base nor differences. */
  const key = (): SortKey => (compared || state.key === "name" ? state.key : (`variant.${state.key.slice(state.key.indexOf(".") + 1)}` as SortKey));

  const sort = (by: SortKey): void => {
    state.descending = key() === by ? !state.descending : by !== "name";
    state.key = by;
    show();
    box.querySelector<HTMLElement>(`button[data-sort="${by}"]`)?.focus();
  };

  const heading = (by: SortKey, label: Child, aria: string, style: string): HTMLElement => {
    const active = key() === by;
    const button = h("button", { type: "button", class: "sort", "data-sort": by, "aria-label": `Sort by ${aria}` }, label, h("span", { class: "arrow", "aria-hidden": "true" }, active ? (state.descending ? "\u00a0↓" : "\u00a0↑") : ""));
    button.addEventListener("click", () => sort(by));
    return h("th", { scope: "col", "aria-sort": active ? (state.descending ? "descending" : "ascending") : "none", class: style }, button);
  };

  const columns = (figure: Figure): SortKey[] => (compared ? [`base.${figure}`, `variant.${figure}`, `moved.${figure}`] : [`variant.${figure}`]);
  const wanted = (): Matched[] => sorted(filtered(rows, search.value), key(), state.descending);

  const cell = (one: Matched, by: SortKey): HTMLElement => {
    const [side, figure] = by.split(".") as ["base" | "variant" | "moved", Figure];
    if (side !== "moved") return h("td", {}, one[side] ? work(one[side][figure]) : NOTHING);
    const value = moved(one, figure);
    const text = signedWork(value);
    return h("td", { class: figure === "calls" || text === "0" ? "moved" : value > 0 ? "moved more" : "moved fewer" }, text);
  };

  const show = (): void => {
    const { kind, variant } = chosen();
    const base = name(counts.base);
    const all = wanted();
    const limited = state.all ? all : all.slice(0, ROWS);
    const side = (by: SortKey): [string, string] => (by.startsWith("base.") ? [base, base] : by.startsWith("variant.") ? [name(variant), name(variant)] : ["+/−", "difference"]);
    replace(
      box,
      h(
        "table",
        { class: "data functions" },
        h("colgroup", {}, h("col", {})),
        FIGURES.map(([figure]) => h("colgroup", { span: columns(figure).length, class: "figure" })),
        h(
          "thead",
          {},
          h("tr", {}, h("td", {}), FIGURES.map(([, title]) => h("th", { scope: "colgroup", colspan: compared ? 3 : 1, class: "figure" }, title))),
          h(
            "tr",
            {},
            heading("name", "function", "name", "label"),
            FIGURES.map(([figure, title]) =>
              columns(figure).map((by, index) => {
                const [label, aria] = side(by);
                return heading(by, label, `${title}, ${aria}`, index === 0 ? "first" : "");
              }),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          limited.map((one) => {
            const only = compared && !one.base ? `only in ${name(variant)}` : compared && !one.variant ? `only in ${base}` : null;
            return h(
              "tr",
              { "data-only": only ? (one.base ? "base" : "variant") : null },
              h("th", { scope: "row" }, h("code", {}, breakable(one.name)), h("span", { class: "minor small" }, ` ${one.object}`), only && h("span", { class: "only" }, ` ${only}`)),
              FIGURES.flatMap(([figure]) =>
                columns(figure).map((by, index) => {
                  const made = cell(one, by);
                  if (index === 0) made.classList.add("first");
                  return made;
                }),
              ),
            );
          }),
        ),
      ),
    );
    const hidden = all.length - limited.length;
    const more = h("button", { type: "button", class: "quiet", "data-control": "functions-all" }, `show all ${all.length}`);
    more.addEventListener("click", () => {
      state.all = true;
      show();
    });
    const left = kind?.left_out ?? 0;
    replace(
      foot,
      all.length === 0 ? "No function of this name." : counted(all.length, "function"),
      search.value.trim() !== "" && ` of ${rows.length}`,
      hidden > 0 && [`, the first ${limited.length} are shown: `, more],
      left > 0 && `. ${counted(left, "function")} under 0.001% of the statement, with all they call, ${left === 1 ? "is" : "are"} left out.`,
    );
  };

  const change = (): void => {
    state.all = false;
    load();
    show();
  };
  kinds.addEventListener("change", () => {
    offer();
    change();
  });
  variants.addEventListener("change", change);
  search.addEventListener("input", show);
  offer();
  change();

  const asTable = (): Table => {
    const { kind, variant } = chosen();
    const side = (by: SortKey): string => (by.startsWith("base.") ? name(counts.base) : by.startsWith("variant.") ? name(variant) : "+/-");
    const keys = FIGURES.flatMap(([figure]) => columns(figure).map((by) => ({ figure, by })));
    return {
      id: "functions",
      title: `Functions of ${kind ? kindName(kind) : ""}, ${name(variant)}${compared ? ` beside ${name(counts.base)}` : ""}`,
      section: "other",
      legend: ["per statement; own: instructions in the function itself, inclusive: and in all that it called"],
      columns: ["function", "object", ...keys.map(({ figure, by }) => `${figure} ${side(by)}`)],
      rows: wanted().map((one) => ({
        label: one.name,
        cells: [
          one.object,
          ...keys.map(({ figure, by }) => {
            if (by.startsWith("moved.")) return plain(moved(one, figure));
            const found = by.startsWith("base.") ? one.base : one.variant;
            return found ? plain(found[figure]) : NOTHING;
          }),
        ],
      })),
    };
  };
  return h(
    "div",
    { class: "functions-part", "data-part": "functions" },
    h("h3", {}, "Functions", h("span", { class: "minor" }, " per statement")),
    h("div", { class: "bar" }, h("label", { class: "pick" }, "statement ", kinds), h("label", { class: "pick" }, "version ", variants), h("label", { class: "pick" }, "search ", search), copyButtons("the functions", asTable)),
    box,
    foot,
  );
}
