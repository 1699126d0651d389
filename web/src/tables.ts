/** The tables of `steelyard compare`, by section in tabs, each with its legend and buttons to copy it. */

import { named, type Context } from "./context";
import { copyButton, h, replace, type Child } from "./dom";
import { cellHeadings, isNumericColumn, labelHeading, toCsv, toMarkdown, toText } from "./export";
import { count } from "./format";
import type { RowKind, Section, Table } from "./data";

const SECTIONS: [Section, string][] = [
  ["absolute", "Absolute"],
  ["relative", "Relative"],
  ["rates", "Insert rates"],
  ["latency", "Response time"],
  ["hardware", "Per operation"],
  ["size", "Size"],
  ["counters", "Counters"],
  ["other", "Other"],
];

/** From this many tables on a section gets a chooser of steps. */
const MANY = 6;

const KIND_SIGN: Record<RowKind, string> = { base: "", regression: "▼", improvement: "▲", marked: "*" };
const KIND_WORD: Record<RowKind, string> = { base: "base", regression: "regression", improvement: "improvement", marked: "marked, see the note" };

function rowLabel(context: Context, row: Table["rows"][number]): Child {
  const sign = row.kind && KIND_SIGN[row.kind];
  const mark = row.kind && sign && [h("span", { class: "kind-sign", "aria-hidden": "true" }, sign), h("span", { class: "offscreen" }, ` (${KIND_WORD[row.kind]})`)];
  const variant = context.page.variants.findIndex((one) => one.name === row.label);
  return variant < 0 ? [row.label, mark] : named(context, variant, mark);
}

/** One table with its buttons and legend. */
export function tableView(context: Context, table: Table): HTMLElement {
  const headings = cellHeadings(table);
  const numeric = headings.map((_, column) => isNumericColumn(table, column));
  return h(
    "figure",
    { class: "table", "data-table": table.id, id: `table-${table.id}` },
    h(
      "figcaption",
      {},
      h("h3", {}, table.title),
      h("span", { class: "copy" }, "copy as ", copyButton("text", `Copy ${table.title} as text`, () => toText(table)), copyButton("Markdown", `Copy ${table.title} as Markdown`, () => toMarkdown(table)), copyButton("CSV", `Copy ${table.title} as CSV`, () => toCsv(table))),
    ),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": table.title },
      h(
        "table",
        { class: "data" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "label" }, labelHeading(table)), headings.map((heading, column) => h("th", { scope: "col", class: numeric[column] ? "" : "label" }, heading)))),
        h(
          "tbody",
          {},
          table.rows.map((row) =>
            h(
              "tr",
              { "data-kind": row.kind },
              h("th", { scope: "row" }, rowLabel(context, row)),
              headings.map((_, column) => h("td", { class: numeric[column] ? "" : "label" }, row.cells[column] ?? "")),
            ),
          ),
        ),
      ),
    ),
    (table.note?.length ?? 0) > 0 && h("ul", { class: "legend strong" }, table.note?.map((line) => h("li", {}, line))),
    table.legend.length > 0 && h("ul", { class: "legend" }, table.legend.map((line) => h("li", {}, line))),
  );
}

/** The tables of one section, with a chooser of steps where there are many. Returns what to do for the printer. */
function panel(context: Context, tables: Table[], box: HTMLElement): (printing: boolean) => void {
  const steps = [...new Set(tables.map((table) => table.step).filter((step): step is string => step !== undefined && step !== null))];
  if (tables.length <= MANY || steps.length < 2) {
    replace(box, tables.map((table) => tableView(context, table)));
    return () => undefined;
  }
  const list = h("div", {});
  const general = tables.some((table) => table.step === undefined || table.step === null);
  const choose = h("select", { "aria-label": "Step whose tables are shown" }, general && h("option", { value: "" }, "over all steps"), steps.map((step) => h("option", { value: `=${step}` }, step)), h("option", { value: "*" }, `all ${count(tables.length, "table")}`));
  const show = (): void => {
    const value = choose.value;
    const shown = tables.filter((table) => value === "*" || (value === "" ? (table.step ?? null) === null : table.step === value.slice(1)));
    replace(list, shown.map((table) => tableView(context, table)));
  };
  choose.addEventListener("change", show);
  show();
  replace(box, h("div", { class: "bar" }, h("label", { class: "pick" }, "step ", choose)), list);
  return (printing) => (printing ? replace(list, tables.map((table) => tableView(context, table))) : show());
}

/** The whole section: tabs that follow the usual keys, panels built when first shown. */
export function tablesSection(context: Context): HTMLElement {
  const section = h("section", { id: "tables", "aria-labelledby": "tables-title" }, h("h2", { id: "tables-title" }, "Tables"));
  const known = new Set(SECTIONS.map(([id]) => id));
  const groups = SECTIONS.map(([id, title]) => ({ id, title, tables: context.page.tables.filter((table) => (known.has(table.section) ? table.section : "other") === id) })).filter((group) => group.tables.length > 0);
  if (groups.length === 0) {
    section.append(h("p", { class: "note" }, "The report carries no tables."));
    return section;
  }
  const built = new Map<number, (printing: boolean) => void>();
  const tabs = groups.map((group, index) => h("button", { type: "button", role: "tab", id: `tab-${group.id}`, "aria-controls": `panel-${group.id}`, "aria-selected": "false", tabindex: index === 0 ? 0 : -1 }, group.title));
  const panels = groups.map((group) => h("div", { role: "tabpanel", id: `panel-${group.id}`, "aria-labelledby": `tab-${group.id}`, "data-section": group.id, hidden: true }));
  const build = (index: number): void => {
    const group = groups[index];
    const box = panels[index];
    if (!group || !box || built.has(index)) return;
    built.set(index, panel(context, group.tables, box));
  };
  const select = (index: number, focus: boolean): void => {
    build(index);
    tabs.forEach((tab, position) => {
      tab.setAttribute("aria-selected", String(position === index));
      tab.tabIndex = position === index ? 0 : -1;
    });
    panels.forEach((box, position) => (box.hidden = position !== index));
    if (focus) tabs[index]?.focus();
  };
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => select(index, false));
    tab.addEventListener("keydown", (event) => {
      const move: Record<string, number> = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 };
      const target = move[event.key];
      if (target === undefined) return;
      event.preventDefault();
      select((target + tabs.length) % tabs.length, true);
    });
  });
  window.addEventListener("beforeprint", () => {
    groups.forEach((_, index) => build(index));
    for (const print of built.values()) print(true);
  });
  window.addEventListener("afterprint", () => {
    for (const print of built.values()) print(false);
  });
  section.append(h("div", { class: "tabs", role: "tablist", "aria-label": "Kinds of tables" }, tabs), ...panels);
  select(0, false);
  return section;
}
