/** Opens the page: reads the data, builds the parts from top to bottom. */

import "uplot/dist/uPlot.min.css";
import "./style/base.css";
import "./style/tables.css";
import "./style/plots.css";
import "./style/profiles.css";
import { contextOf, onlyCounted } from "./context";
import { countsSection } from "./counts";
import { readPage, type Page } from "./data";
import { append, h, replace } from "./dom";
import { embeddedText } from "./embedded";
import { environment } from "./environment";
import { moment } from "./format";
import { glossary } from "./glossary";
import { header } from "./header";
import { historySection, type HistoryInspection } from "./history";
import { profilesSection } from "./profiles";
import { relativeChart } from "./relative";
import { stepsSection, type StepInspection } from "./steps";
import { tablesSection } from "./tables";
import { chooseTheme, startTheme, themeChoice, type ThemeChoice } from "./theme";

declare global {
  interface Window {
    /** What the page shows, for tests and for the console. */
    steelyard?: { page: Page | null; readonly plots: StepInspection[]; readonly history: HistoryInspection[] };
  }
}

const PARTS: [string, string][] = [
  ["relative", "Relative"],
  ["tables", "Tables"],
  ["steps", "Steps"],
  ["profiles", "Profiles"],
  ["counts", "Instruction counts"],
  ["history", "History"],
  ["environment", "Environment"],
  ["glossary", "Glossary"],
];

function themeButton(): HTMLElement {
  const next: Record<ThemeChoice, ThemeChoice> = { auto: "light", light: "dark", dark: "auto" };
  const button = h("button", { type: "button", class: "quiet", "data-control": "theme" });
  const label = (): void => {
    button.textContent = `theme: ${themeChoice()}`;
    button.setAttribute("aria-label", `Theme: ${themeChoice()}. Change to ${next[themeChoice()]}`);
  };
  button.addEventListener("click", () => {
    chooseTheme(next[themeChoice()]);
    label();
  });
  label();
  return button;
}

function open(main: HTMLElement, page: Page): void {
  document.title = `${page.experiment.name} · steelyard`;
  const context = contextOf(page);
  const steps = stepsSection(context);
  const history = historySection(context);
  const profiles = profilesSection(context);
  const counts = countsSection(context);
  const ran = !onlyCounted(page);
  const absent = new Set([...(ran ? [] : ["relative", "tables", "steps"]), history.element === null && "history", profiles === null && "profiles", counts === null && "counts"]);
  const parts = PARTS.filter(([id]) => !absent.has(id));
  replace(
    main,
    h("nav", { class: "top", "aria-label": "Parts of the report" }, h("a", { href: "#page", class: "home" }, "steelyard"), h("span", { class: "links" }, parts.map(([id, name]) => h("a", { href: `#${id}` }, name))), themeButton()),
  );
  append(main, [
    header(context),
    ran && relativeChart(context),
    ran && tablesSection(context),
    ran && steps.element,
    profiles,
    counts,
    history.element,
    environment(context),
    glossary(page),
    h("footer", {}, `Written ${moment(page.generated)} by steelyard ${page.steelyard}.`),
  ]);
  window.steelyard = {
    page,
    get plots() {
      return steps.inspect();
    },
    get history() {
      return history.inspect();
    },
  };
  const follow = (): void => {
    if (window.location.hash.startsWith("#step-")) steps.openAnchor(window.location.hash.slice(1));
  };
  window.addEventListener("hashchange", follow);
  follow();
}

function start(): void {
  startTheme();
  const main = document.getElementById("page");
  if (!main) return;
  const read = readPage(embeddedText(document.getElementById("data")));
  if ("page" in read) {
    open(main, read.page);
    return;
  }
  window.steelyard = { page: null, plots: [], history: [] };
  replace(main, h("div", { class: "problem", role: "alert" }, h("h1", {}, "No results to show"), h("p", {}, read.problem)));
}

start();
