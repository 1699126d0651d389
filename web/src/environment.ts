/** The recorded environment: host, variants side by side, the plan as it was run. */

import { named, type Context } from "./context";
import type { Variant } from "./data";
import { breakable, copyButton, h } from "./dom";
import { count, NOTHING } from "./format";

/** One line of the side-by-side table: a value per variant, null where a variant does not have it. */
export interface SideRow {
  group: string;
  name: string;
  values: (string | null)[];
  fallback?: string;
  differs: boolean;
}

function row(group: string, name: string, values: (string | null)[], fallback?: string): SideRow {
  const result: SideRow = { group, name, values, differs: new Set(values).size > 1 };
  if (fallback !== undefined) result.fallback = fallback;
  return result;
}

function merged(group: string, variants: Variant[], pairs: (variant: Variant) => [string, string][]): SideRow[] {
  const names = [...new Set(variants.flatMap((variant) => pairs(variant).map(([name]) => name)))];
  return names.map((name) => row(group, name, variants.map((variant) => pairs(variant).find(([other]) => other === name)?.[1] ?? null)));
}

/**
 * Build, configuration and settings of all variants side by side. Of the settings those which stand off their
 * default in some variant or differ between variants; those that differ come first in their group.
 */
export function sideBySide(variants: Variant[]): SideRow[] {
  const settings = [...new Set(variants.flatMap((variant) => variant.settings.map((setting) => setting.name)))].flatMap((name) => {
    const found = variants.map((variant) => variant.settings.find((setting) => setting.name === name));
    const values = found.map((setting) => setting?.value ?? null);
    const changed = found.some((setting) => setting !== undefined && setting.value !== setting.default);
    const defaults = [...new Set(found.flatMap((setting) => (setting ? [setting.default] : [])))];
    const one = row("Settings", name, values, defaults.join(" / "));
    return changed || one.differs ? [one] : [];
  });
  settings.sort((a, b) => Number(b.differs) - Number(a.differs) || a.name.localeCompare(b.name));
  return [
    row("Identity", "dbms", variants.map((variant) => variant.dbms)),
    row("Identity", "source", variants.map((variant) => variant.source)),
    row("Identity", "version", variants.map((variant) => variant.version)),
    ...merged("Build", variants, (variant) => variant.build),
    ...merged("Configuration of the plan", variants, (variant) => variant.config),
    ...settings,
  ];
}

function variantsTable(context: Context): HTMLElement {
  const { variants } = context.page;
  const rows = sideBySide(variants);
  const groups = [...new Set(rows.map((one) => one.group))];
  const only = h("input", { type: "checkbox", id: "only-differences" });
  const table = h(
    "table",
    { class: "data side" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "label" }, "Name"), variants.map((_, index) => h("th", { scope: "col", class: "label" }, named(context, index))), h("th", { scope: "col", class: "label minor" }, "default"))),
    groups.map((group) =>
      h(
        "tbody",
        {},
        h("tr", { class: "group" }, h("th", { scope: "rowgroup", colspan: variants.length + 2 }, h("span", {}, group))),
        rows
          .filter((one) => one.group === group)
          .map((one) =>
            h(
              "tr",
              { "data-differs": one.differs },
              h("th", { scope: "row" }, one.differs && h("span", { class: "differs", title: "differs between variants" }, "≠", h("span", { class: "offscreen" }, " differs: ")), breakable(one.name)),
              one.values.map((value) => h("td", { class: "label" }, value ?? NOTHING)),
              h("td", { class: "label minor" }, one.fallback ?? ""),
            ),
          ),
      ),
    ),
  );
  only.addEventListener("change", () => table.classList.toggle("only-differences", only.checked));
  const differing = rows.filter((one) => one.differs).length;
  return h(
    "div",
    {},
    h("div", { class: "bar" }, h("h3", {}, "Variants"), variants.length > 1 && h("label", { class: "pick" }, only, ` only what differs (${count(differing, "line")})`)),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Variants side by side" }, table),
    h("p", { class: "note" }, "Of the settings of each server, those that are off their default or differ between variants. ", h("span", { class: "differs" }, "≠"), " differs between variants; – the variant does not have it."),
  );
}

/** Host, variants and plan. */
export function environment(context: Context): HTMLElement {
  const { page } = context;
  const groups = [...new Set(page.host.map((fact) => fact.group))];
  return h(
    "section",
    { id: "environment", "aria-labelledby": "environment-title" },
    h("h2", { id: "environment-title" }, "Environment"),
    groups.length > 0
      ? h("div", { class: "host" }, groups.map((group) => h("div", { class: "host-group" }, h("h3", {}, group), h("dl", {}, page.host.filter((fact) => fact.group === group).map((fact) => h("div", {}, h("dt", {}, breakable(fact.name)), h("dd", {}, fact.value)))))))
      : h("p", { class: "note" }, "Nothing was recorded about the host."),
    page.variants.length > 0 && variantsTable(context),
    page.experiment.plan !== "" && page.experiment.plan !== undefined && h("div", {}, h("div", { class: "bar" }, h("h3", {}, "Plan"), copyButton("copy", "Copy the plan", () => page.experiment.plan)), h("pre", { class: "plan", tabindex: 0, "aria-label": "The plan" }, page.experiment.plan)),
    h("p", { class: "note" }, `Seed ${page.experiment.seed}.`),
  );
}
