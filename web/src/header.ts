/** The head of the page: what was compared, when, where, how it came out, and what to be careful about. */

import { named, onlyCounted, variantName, type Context } from "./context";
import { stepAnchor, type Page, type Warning } from "./data";
import { h, type Child } from "./dom";
import { count, moment, ratio, NOTHING } from "./format";
import { tally, VERDICTS, SIGN, tallyWords, where, type Tally } from "./verdicts";

/** Host facts that tell a reader at a glance what kind of machine it was. */
const PLACE: [string, RegExp, RegExp][] = [
  ["CPU", /^(cpu|processor)/i, /^(model|model name|name)$/i],
  ["cores", /^(cpu|processor)/i, /^(cores|cpus)$/i],
  ["memory", /^mem/i, /^(total|size)$/i],
  ["kernel", /^(system|kernel|os)/i, /^(kernel|release|kernel release)$/i],
  ["filesystem", /^(storage|file ?system|disk)/i, /^(file ?system|type)$/i],
];

/** The facts of `PLACE` that the host tells, by group and name; what is unknown is left to the environment below. */
export function placeFacts(host: Page["host"]): { name: string; value: string }[] {
  return PLACE.flatMap(([name, group, pattern]) => {
    const fact = host.find((one) => group.test(one.group) && pattern.test(one.name));
    return fact && !fact.value.startsWith("unknown") ? [{ name, value: fact.value }] : [];
  });
}

function extreme(context: Context, which: Tally["worst"]): Child {
  if (!which) return NOTHING;
  return [ratio(which.ratio), " ", h("a", { href: `#${stepAnchor(context.page, which.step)}`, class: "minor" }, where(context, which.step))];
}

function summaryTable(context: Context): HTMLElement {
  const base = context.page.variants[context.base];
  const head = h(
    "tr",
    {},
    h("th", { scope: "col", class: "label" }, "Variant"),
    h("th", { scope: "col", class: "label" }, "Version"),
    VERDICTS.map((verdict) => h("th", { scope: "col", "data-verdict": verdict }, h("span", { "aria-hidden": "true", class: "sign" }, SIGN[verdict]), h("span", { class: "word" }, ` ${verdict}`))),
    h("th", { scope: "col", class: "label" }, "Lowest"),
    h("th", { scope: "col", class: "label" }, "Highest"),
  );
  const rows = tally(context).map((one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, named(context, one.variant)),
      h("td", { class: "label" }, version(context, one.variant)),
      VERDICTS.map((verdict) => h("td", { "data-verdict": verdict, class: one.counts[verdict] ? "" : "zero" }, one.counts[verdict])),
      h("td", { class: "label" }, extreme(context, one.worst)),
      h("td", { class: "label" }, extreme(context, one.best)),
    ),
  );
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Summary of verdicts" },
    h(
      "table",
      { class: "data summary" },
      h("caption", { class: "offscreen" }, "Steps by verdict for every variant, relative to the base"),
      h("thead", {}, head),
      h(
        "tbody",
        {},
        base &&
          h(
            "tr",
            { "data-kind": "base" },
            h("th", { scope: "row" }, named(context, context.base)),
            h("td", { class: "label" }, version(context, context.base)),
            h("td", { class: "label minor", colspan: 6 }, "base: all others are relative to it"),
          ),
        rows,
      ),
    ),
  );
}

function version(context: Context, variant: number): string {
  const one = context.page.variants[variant];
  return one ? `${one.dbms.replace(/@.*$/, "")} ${one.version}`.trim() : NOTHING;
}

/** What a single block leaves open; nothing where there are several. */
function oneBlock(page: Page): string {
  return page.experiment.blocks === 1 ? " One block is too few to compare: it says nothing about a difference." : "";
}

/** One sentence that a reader in a hurry can take along. */
export function verdictSentence(context: Context): string {
  const all = tally(context);
  const base = variantName(context, context.base);
  if (onlyCounted(context.page)) {
    const kinds = new Set(context.page.counts?.kinds.map(({ kind }) => kind));
    return `Exact instruction counts of ${count(kinds.size, "kind")} of statements; nothing was run.`;
  }
  if (all.length === 0 || context.page.steps.length === 0) return "There is nothing to compare yet.";
  if (all.length <= 2) {
    return all.map((one) => `${variantName(context, one.variant)} against ${base}: ${tallyWords(one.counts)}`).join("; ") + "." + oneBlock(context.page);
  }
  const total = { regression: 0, improvement: 0, equivalent: 0, inconclusive: 0 };
  for (const one of all) for (const verdict of VERDICTS) total[verdict] += one.counts[verdict];
  return `${count(all.length, "variant")} against ${base} over ${count(context.page.steps.length, "step")}: ${tallyWords(total)}.${oneBlock(context.page)}`;
}

function warningLine(context: Context, warning: Warning): HTMLElement {
  const places = [
    warning.step,
    warning.dop !== undefined && warning.step !== undefined && context.page.steps.some((step) => step.dop !== warning.dop) ? `dop ${warning.dop}` : undefined,
    warning.variant,
    warning.block !== undefined ? `block ${warning.block}` : undefined,
  ].filter((part): part is string => part !== undefined && part !== null);
  return h("li", {}, places.length > 0 && h("span", { class: "minor" }, places.join(" · "), ": "), warning.text);
}

function warnings(context: Context): HTMLElement | null {
  const all = context.page.warnings;
  if (all.length === 0) return null;
  const codes = new Map<string, Warning[]>();
  for (const warning of all) codes.set(warning.code, [...(codes.get(warning.code) ?? []), warning]);
  const kinds = [...codes.entries()].sort((a, b) => b[1].length - a[1].length);
  const box = h(
    "details",
    { class: "warnings", id: "warnings" },
    h("summary", {}, h("strong", {}, count(all.length, "warning")), h("span", { class: "kinds" }, kinds.map(([code, list]) => h("span", { class: "kind" }, code.replace(/[-_]/g, " "), list.length > 1 && ` ×${list.length}`)))),
    kinds.map(([code, list]) => [kinds.length > 1 && h("h3", {}, code.replace(/[-_]/g, " ")), h("ul", {}, list.map((warning) => warningLine(context, warning)))]),
  );
  window.addEventListener("beforeprint", () => (box.open = true));
  return box;
}

/** Title, facts, sentence, table, warnings. */
export function header(context: Context): HTMLElement {
  const { page } = context;
  const { experiment } = page;
  const place = placeFacts(page.host);
  const facts: [string, Child][] = [
    ["Workload", experiment.workload],
    ["Run", [moment(experiment.started), !experiment.finished && h("strong", { class: "unfinished" }, " · not finished")]],
    ["Evidence", onlyCounted(page) ? `counts of ${count(page.variants.length, "variant")}` : `${count(experiment.blocks, "block")} of ${count(page.variants.length, "variant")}, ${count(page.steps.length, "step")}`],
    ...place.map((fact): [string, Child] => [fact.name.charAt(0).toUpperCase() + fact.name.slice(1), fact.value]),
  ];
  return h(
    "header",
    { class: "head" },
    h("h1", {}, experiment.name),
    h("p", { class: "lead" }, verdictSentence(context)),
    h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    !onlyCounted(page) && summaryTable(context),
    warnings(context),
  );
}
